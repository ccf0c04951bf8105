//! Chains: one number for a message and all that was sent before it.

use xxhash_rust::xxh3::xxh3_64;

/// Replacement for the key of a message whose thinking is removed.
const STRIPPED: u64 = 0x7374_7269_7070_6564;

/// Return the next link of a chain.
#[must_use]
pub fn link(previous: u64, key: u64) -> u64 {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&previous.to_le_bytes());
    bytes[8..].copy_from_slice(&key.to_le_bytes());
    xxh3_64(&bytes)
}

/// Return a link for each message, from the keys of what is sent.
pub fn chain(start: u64, keys: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let next = |last: &mut u64, key| {
        *last = link(*last, key);
        Some(*last)
    };
    keys.into_iter().scan(start, next).collect()
}

/// Return the chain of what is sent, and the messages with signed thinking that do not stand behind the link they were
/// written behind. `signed` gives each with that link, in order. If such thinking is taken out, the message reads
/// otherwise, and so the chain from there on is another.
#[must_use]
pub fn bind(keys: &[u64], signed: &[(u32, u64)], strip: bool) -> (Vec<u64>, Vec<u32>) {
    let mut signed = signed.iter().peekable();
    let mut links = Vec::with_capacity(keys.len());
    let mut stale = Vec::new();
    let mut last = 0;
    for (index, &key) in (0_u32..).zip(keys) {
        let mut key = key;
        if let Some((_, written_behind)) = signed.next_if(|(signed, _)| *signed == index)
            && *written_behind != last
        {
            stale.push(index);
            key = if strip { link(key, STRIPPED) } else { key };
        }
        last = link(last, key);
        links.push(last);
    }
    (links, stale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinking_is_stale_behind_anything_but_what_it_was_written_behind() {
        let links = chain(0, [1, 2, 3]);
        assert_eq!(bind(&[1, 2, 3], &[(1, links[0]), (2, links[1])], true), (links.clone(), vec![]));
        let (other, stale) = bind(&[9, 2, 3], &[(1, links[0]), (2, links[1])], true);
        assert_eq!(stale, [1, 2]);
        assert_ne!(other[1], chain(0, [9, 2, 3])[1], "a message without its thinking reads otherwise");
        let (_, stale) = bind(&[9, 2, 3], &[(1, links[0]), (2, other[1])], true);
        assert_eq!(stale, [1], "what was written behind the message without its thinking stays");
    }

    #[test]
    fn a_chain_goes_on_where_it_was_left() {
        let whole = chain(0, [1, 2, 3, 4]);
        assert_eq!(chain(whole[1], [3, 4]), whole[2..]);
    }
}
