//! Queries: content words in any form, rather than the exact wording.

use rustc_hash::FxHashSet;

use super::accumulator::Accumulator;
use super::score::Statistics;
use super::term_query::{Asked, TermQuery};
use super::texts::Texts;
use crate::text::{Mode, Term, aboutness, for_each_form, for_each_token, is_cjk, is_filler};
use crate::{Explanation, Scored};

/// Weight of another form of a word, relative to the word itself.
pub(super) const FORM_SHARE: f64 = 0.7;
/// Of fewer texts than this, hardly any word is known to be common: what it tells is estimated as if there were so many.
const FEWEST_TEXTS: usize = 500;

/// A question, with what the index knows of its words.
///
/// Words that only hold a sentence together are left out unless there are no others, and the other forms of an English
/// word are looked for, too.
#[derive(Debug)]
pub struct Query<'a> {
    text: &'a str,
    terms: TermQuery<'a>,
    words: Vec<Weighed>,
}

/// Weight of a word of the question.
#[derive(Clone, Copy, Debug)]
struct Weighed {
    weight: f64,
    is_cjk: bool,
}

/// Share of a question's weight that some texts cover.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cover {
    /// The share of what its words tell that the best of the texts has. A word that no text has counts as missing.
    pub share: f64,
    /// The sum of the weights of those words.
    pub weight: f64,
    /// The share of what its words tell that CJK characters tell.
    pub cjk: f64,
}

pub(super) struct Word {
    pub(super) token: String,
    pub(super) term: Term,
    pub(super) repeats: u32,
}

/// The other forms of all words of a question: most of them are in no text, so none is kept as a string of its own.
#[derive(Default)]
struct Forms {
    terms: Vec<Term>,
    /// End of the forms of each word.
    of_word: Vec<usize>,
    letters: String,
    /// End of each form.
    ends: Vec<usize>,
}

impl Forms {
    fn of(words: &[Word]) -> Self {
        let mut forms = Self::default();
        for word in words {
            for_each_form(&word.token, |form| {
                forms.terms.push(Term::new(form));
                forms.letters.push_str(form);
                forms.ends.push(forms.letters.len());
            });
            forms.of_word.push(forms.terms.len());
        }
        forms
    }

    fn spelled(&self, form: usize) -> &str {
        let start = form.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.letters[start..self.ends[form]]
    }
}

impl<'a> Query<'a> {
    pub(super) fn new(index: &'a Texts, text: &'a str) -> Self {
        let words = words(index.mode(), text);
        let mut used: FxHashSet<Term> = words.iter().map(|word| word.term).collect();
        let forms = Forms::of(&words);
        let all: Vec<Term> = words.iter().map(|word| word.term).chain(forms.terms.iter().copied()).collect();
        let counts = index.counts(&all);
        let (of_words, of_forms) = counts.split_at(words.len());
        let mut terms: Vec<(Term, Asked)> = Vec::with_capacity(words.len() * 2);
        let mut weighed = Vec::with_capacity(words.len());
        let statistics = index.statistics();
        let rarity = Statistics { documents: statistics.documents.max(FEWEST_TEXTS), ..statistics };
        let mut next = 0;
        for (word, position) in words.into_iter().zip(0..) {
            let Word { token, term, repeats } = word;
            let mut rarest = Some(of_words[position as usize]).filter(|&count| count > 0);
            terms.push((term, Asked { repeats, share: 1.0, word: position, form: None }));
            let end = forms.of_word[position as usize];
            let own = std::mem::replace(&mut next, end)..end;
            for (form, &count) in own.clone().zip(&of_forms[own]).filter(|(_, count)| **count > 0) {
                let other = forms.terms[form];
                if used.insert(other) {
                    let spelled = Some(forms.spelled(form).into());
                    terms.push((other, Asked { repeats, share: FORM_SHARE, word: position, form: spelled }));
                }
                rarest = rarest.or(Some(count));
            }
            let weight = aboutness(&token) * rarity.idf(rarest.unwrap_or(0));
            weighed.push(Weighed { weight, is_cjk: token.starts_with(is_cjk) });
        }
        Self { text, terms: TermQuery::of(index, terms.into_iter()), words: weighed }
    }

    /// Return the best `k` texts that share a word with the question, of those whose numbers pass the test; best first,
    /// older first among equals.
    #[must_use]
    pub fn best(&self, k: usize, admit: impl Fn(u32) -> bool) -> Vec<Scored> {
        self.terms.best(k, admit)
    }

    /// Return the scores of all texts.
    #[must_use]
    pub fn scores(&self) -> Accumulator {
        self.terms.scores()
    }

    /// Return a function that tells how much of the question a text covers.
    pub fn coverage(&self) -> impl FnMut(u32) -> Cover + '_ {
        let all: f64 = self.words.iter().map(|word| word.weight).sum();
        let cjk: f64 = self.words.iter().filter(|word| word.is_cjk).map(|word| word.weight).sum();
        let words = self.terms.words();
        // A text has hundreds of terms, and few of them are asked for: most are turned away by a bit.
        let mut asked = [0_u64; 64];
        let bit = |term: u32| (term as usize / 64 % 64, term % 64);
        for (word, bit) in words.keys().map(|&term| bit(term)) {
            asked[word] |= 1 << bit;
        }
        let mut is_met = vec![false; self.words.len()];
        move |text: u32| -> Cover {
            if all <= 0.0 {
                return Cover::default();
            }
            is_met.fill(false);
            for term in self.terms.terms_of(text) {
                let (word, bit) = bit(term);
                if asked[word] >> bit & 1 != 0
                    && let Some(word) = words.get(&term)
                {
                    is_met[*word as usize] = true;
                }
            }
            // A word in two forms is one word, and sums depend on their order.
            let met = self.words.iter().zip(&is_met).filter(|(_, is_met)| **is_met);
            let weight: f64 = met.map(|(word, _)| word.weight).sum();
            Cover { share: weight / all, weight, cjk: cjk / all }
        }
    }

    /// Return the cover of the text that covers most of the question.
    #[must_use]
    pub fn cover(&self, texts: &[Scored]) -> Cover {
        let mut coverage = self.coverage();
        let covers = texts.iter().map(|text| coverage(text.number));
        covers.fold(Cover::default(), |best, next| if next.share > best.share { next } else { best })
    }

    /// Return the score of a text, term by term.
    #[must_use]
    pub fn explain(&self, number: u32) -> Explanation {
        self.terms.explain(self.text, number)
    }
}

/// Return the words of a question, each once, those that say something if there are any.
pub(super) fn words(mode: Mode, text: &str) -> Vec<Word> {
    let mut words = all_words(mode, text);
    if words.iter().any(|word| !is_filler(&word.token)) {
        words.retain(|word| !is_filler(&word.token));
    }
    words
}

/// Call `see` with every term that a question looks up: its words and their other forms, some of them more than once.
pub(crate) fn for_each_lookup(mode: Mode, text: &str, mut see: impl FnMut(&str)) {
    for word in words(mode, text) {
        see(&word.token);
        for_each_form(&word.token, &mut see);
    }
}

/// Return the words of a text, each once.
pub(super) fn all_words(mode: Mode, text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    for_each_token(text, mode, |token| {
        words.push(Word { token: token.to_owned(), term: Term::new(token), repeats: 1 });
    });
    words.sort_by_key(|word| word.term);
    words.dedup_by(|same, first| {
        let is_same = same.term == first.term;
        first.repeats += u32::from(is_same) * same.repeats;
        is_same
    });
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(contents: &[&str]) -> Texts {
        let mut texts = Texts::new(Mode::Memctx);
        for content in contents {
            texts.push(content).expect("room");
        }
        texts
    }

    fn cover(texts: &Texts, question: &str) -> f64 {
        let question = texts.query(question);
        question.cover(&question.best(9, |_| true)).share
    }

    #[test]
    fn meaning_words_in_any_form_decide() {
        let texts = texts(&["what did you do to it and when", "the deploys failed", "nothing here"]);
        let question = texts.query("what did the deployed service do when it failed?");
        assert_eq!(question.best(1, |_| true)[0].number, 1);
        let explained = question.explain(1).to_string();
        assert!(explained.contains("another form of a word") && explained.contains("\"deploys\""), "{explained}");
        assert_eq!(texts.query("what and when").best(1, |_| true)[0].number, 0, "there are no other words");
    }

    proptest! {
        #[test]
        fn an_accumulator_has_the_scores_of_a_search(
            contents in prop::collection::vec("(deploy|deploys|port|飞书|x){1,2}( (deploy|port|alpha|beta|x)){0,6}", 1..40),
            question in "(deploy|ports|飞书)( (deployed|port|alpha|gamma|x)){0,6}",
        ) {
            let texts = texts(&contents.iter().map(String::as_str).collect::<Vec<_>>());
            let question = texts.query(&question);
            let (accumulator, all) = (question.scores(), question.best(contents.len(), |_| true));
            for number in 0..contents.len() as u32 {
                let score = all.iter().find(|hit| hit.number == number).map_or(0.0, |hit| hit.score);
                prop_assert_eq!(accumulator.of(number).to_bits(), score.to_bits());
            }
            prop_assert_eq!(accumulator.best(3, |number| number % 2 == 0), question.best(3, |number| number % 2 == 0));
            let least = all.get(all.len() / 2).map_or(1.0, |hit| hit.score);
            let mut above: Vec<Scored> = all.into_iter().filter(|hit| hit.score >= least).collect();
            above.sort_unstable_by_key(|hit| hit.number);
            prop_assert_eq!(accumulator.above(least, |_| true), above);
        }

        #[test]
        fn terms_are_counted_together_as_one_by_one(
            contents in prop::collection::vec("(deploy|port|飞书|x){1,2}( (deploy|port|alpha|beta|x)){0,6}", 1..40),
            asked in prop::collection::vec("deploy|ports?|飞书|alpha|[a-c]{1,2}", 0..600),
        ) {
            let texts = texts(&contents.iter().map(String::as_str).collect::<Vec<_>>());
            let terms: Vec<Term> = asked.iter().map(|token| Term::new(token)).collect();
            prop_assert_eq!(texts.counts(&terms), terms.iter().map(|&term| texts.count(term)).collect::<Vec<_>>());
        }

        #[test]
        fn the_cover_of_many_texts_is_the_best_of_each(
            contents in prop::collection::vec("(deploy|deploys|port|ports|飞书|x){1,2}( (deploy|deployed|port|alpha|beta|x)){0,6}", 1..40),
            question in "(deploy|ports|飞书)( (deployed|port|alpha|gamma|x)){0,6}",
        ) {
            let texts = texts(&contents.iter().map(String::as_str).collect::<Vec<_>>());
            let question = texts.query(&question);
            let hits = question.best(20, |_| true);
            let each = hits.iter().map(|hit| question.cover(std::slice::from_ref(hit)).share).fold(0.0, f64::max);
            prop_assert_eq!(question.cover(&hits).share.to_bits(), f64::to_bits(each));
        }
    }

    #[test]
    fn cover_is_the_share_of_the_question_that_is_known() {
        let texts = texts(&["staging postgres listens on port 5433", "飞书消息推送失败", "thanks, looks good to me"]);
        assert!((cover(&texts, "which port has the staging postgres?") - 1.0).abs() < 1e-12);
        assert!((0.3..0.7).contains(&cover(&texts, "which port has zookeeper?")));
        assert_eq!(cover(&texts, "who painted the sunflowers?").to_bits(), 0.0_f64.to_bits());
        assert_eq!(cover(&texts, "thanks, looks good").to_bits(), 0.0_f64.to_bits(), "words of courtesy tell nothing");
        assert!(cover(&texts, "飞书消息为什么失败") > 0.3);
        assert_eq!(cover(&texts, "").to_bits(), 0.0_f64.to_bits());
    }
}
