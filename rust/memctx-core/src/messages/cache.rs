//! Cache of texts that were read before.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

use super::text::{Text, key_of};

/// Texts by their content, so that what an earlier turn found out about one is not found out again.
///
/// It is bounded: texts that no scan has seen for longest leave first. Who holds one may keep it.
#[derive(Debug)]
pub struct Cache {
    capacity: usize,
    kept: Mutex<Kept>,
}

/// Hash of a text, so that keeping one that was not found need not compute it again.
#[derive(Clone, Copy, Debug)]
pub struct Key(u64);

impl Key {
    pub(super) fn of(text: &str) -> Self {
        Self(key_of(text))
    }

    pub(super) const fn hash(self) -> u64 {
        self.0
    }
}

#[derive(Debug, Default)]
struct Kept {
    texts: FxHashMap<u64, Entry>,
    weight: usize,
    scans: u64,
}

#[derive(Debug)]
struct Entry {
    text: Arc<Text>,
    /// The scan that saw it last.
    seen: u64,
}

impl Cache {
    /// Create a cache that takes about so many bytes.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { capacity, kept: Mutex::default() }
    }

    /// Return the texts of one scan, or for those that are not known what is to be used to keep them and what `price`
    /// says of them, which is asked while they are at hand.
    pub fn look(&self, texts: &[&str], price: impl Fn(&str) -> u32) -> Vec<Result<Arc<Text>, (Key, u32)>> {
        let mut kept = self.kept();
        kept.scans += 1;
        let scan = kept.scans;
        let mut find = |text: &&str| {
            let key = Key::of(text);
            let Some(entry) = kept.texts.get_mut(&key.hash()).filter(|entry| entry.text.body() == *text) else {
                return Err((key, price(text)));
            };
            entry.seen = scan;
            Ok(Arc::clone(&entry.text))
        };
        texts.iter().map(&mut find).collect()
    }

    /// Keep texts, and let go of others if that is too much. Those to be used are given back.
    pub fn keep(&self, texts: Vec<Arc<Text>>) -> Vec<Arc<Text>> {
        let mut kept = self.kept();
        kept.texts.reserve(texts.len());
        let kept_texts = texts.into_iter().map(|text| kept.keep(text)).collect();
        if kept.weight > self.capacity {
            kept.shrink(self.capacity / 8 * 7);
        }
        kept_texts
    }

    /// Return the number of texts.
    pub fn len(&self) -> usize {
        self.kept().texts.len()
    }

    /// Return whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// Return the text to be used: the one that is there already if another thread or the same scan brought it.
    fn keep(&mut self, text: Arc<Text>) -> Arc<Text> {
        let weight = weight(&text);
        let seen = self.scans;
        match self.texts.get_mut(&text.hash()) {
            Some(entry) if entry.text.body() == text.body() => {
                entry.seen = seen;
                Arc::clone(&entry.text)
            }
            // Two texts of one hash: the newer takes the place.
            Some(entry) => {
                self.weight = self.weight + weight - self::weight(&entry.text);
                *entry = Entry { text: Arc::clone(&text), seen };
                text
            }
            None => {
                self.weight += weight;
                self.texts.insert(text.hash(), Entry { text: Arc::clone(&text), seen });
                text
            }
        }
    }

    /// Let go of the texts that were not seen for longest, until the rest weighs no more than that.
    fn shrink(&mut self, most: usize) {
        let mut oldest: Vec<(u64, u64)> = self.texts.iter().map(|(&hash, entry)| (entry.seen, hash)).collect();
        oldest.sort_unstable();
        for (_, hash) in oldest {
            if self.weight <= most {
                break;
            }
            if let Some(entry) = self.texts.remove(&hash) {
                self.weight -= weight(&entry.text);
            }
        }
    }
}

/// Return the memory of a text: itself, one and a half times as much for its terms, and overhead. Terms of texts that
/// were read together are freed with the last of these texts, which is not counted.
fn weight(text: &Text) -> usize {
    text.body().len() / 2 * 5 + 128
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn look(cache: &Cache, texts: &[&str]) -> Vec<Option<Arc<Text>>> {
        cache.look(texts, |_| 1).into_iter().map(Result::ok).collect()
    }

    fn keep(cache: &Cache, texts: &[(&str, u32)]) -> Vec<Arc<Text>> {
        cache.keep(texts.iter().map(|&(text, tokens)| -> Arc<Text> { Arc::new(Text::new(text, tokens)) }).collect())
    }

    #[test]
    fn a_text_is_found_again_and_is_the_same() {
        let cache = Cache::new(1 << 20);
        assert_eq!(cache.look(&["a"], |text| text.len() as u32)[0].as_ref().err().map(|&(_, price)| price), Some(1));
        let kept = keep(&cache, &[("a", 1), ("a", 1), ("b", 2)]);
        assert!(Arc::ptr_eq(&kept[0], &kept[1]));
        let found = look(&cache, &["b", "a"]);
        assert!(found[0].as_ref().is_some_and(|text| Arc::ptr_eq(text, &kept[2])));
        assert_eq!(found[0].as_ref().map(|text| text.tokens()), Some(2));
        assert_eq!(cache.len(), 2);
    }

    #[test]
    fn the_least_recently_used_text_is_evicted_first() {
        let texts: Vec<String> = (0..20).map(|number| format!("{number:0>100}")).collect();
        let cache = Cache::new(20 * (250 + 128));
        for text in &texts {
            look(&cache, &[text]);
            keep(&cache, &[(text, 1)]);
        }
        assert_eq!(cache.len(), 20);
        look(&cache, &[&texts[0]]);
        keep(&cache, &[("one more", 1)]);
        let known: Vec<bool> =
            look(&cache, &texts.iter().map(String::as_str).collect::<Vec<_>>()).iter().map(Option::is_some).collect();
        assert_eq!(known[..4], [true, false, false, false], "the first was seen again");
        assert_eq!(known[4..], [true; 16]);
    }

    proptest! {
        #[test]
        fn the_cache_never_exceeds_its_capacity(sizes in prop::collection::vec(0..400_usize, 0..60), capacity in 0..4000_usize) {
            let cache = Cache::new(capacity);
            for (number, size) in sizes.into_iter().enumerate() {
                let text = format!("{number}{}", "x".repeat(size));
                let given = keep(&cache, &[(&text, 7)]);
                prop_assert_eq!(given[0].body(), &text);
                let kept = cache.kept();
                prop_assert!(kept.weight <= capacity);
                prop_assert_eq!(kept.weight, kept.texts.values().map(|entry| weight(&entry.text)).sum::<usize>());
            }
        }
    }
}
