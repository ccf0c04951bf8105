//! Selection of query terms for a collection that is too large to scan.

use rustc_hash::FxHashSet;

use super::background::Background;
use super::query::{FORM_SHARE, Word, all_words, words};
use super::score::Statistics;
use crate::text::{Mode, Term, aboutness, for_each_form};

/// Words of a question that are counted.
const COUNTED: usize = 256;
/// The most telling of them are looked for.
const ASKED: usize = 24;

/// The words to look for, with what a match counts for, and what the collection knows of them.
#[derive(Debug)]
pub(crate) struct Wording {
    pub(crate) words: Vec<(String, f64)>,
    pub(crate) background: Background,
}

impl Wording {
    /// Select the terms of a question as [`super::Query`] reads it; `count` returns the document frequency of a
    /// word.
    pub(crate) fn of_question(text: &str, statistics: Statistics, count: impl Fn(&str) -> usize) -> Self {
        Self::new(words(Mode::Memctx, text), true, statistics, count)
    }

    /// Select the terms of a query as written.
    pub(crate) fn of_query(text: &str, statistics: Statistics, count: impl Fn(&str) -> usize) -> Self {
        Self::new(all_words(Mode::Memctx, text), false, statistics, count)
    }

    fn new(words: Vec<Word>, with_forms: bool, statistics: Statistics, count: impl Fn(&str) -> usize) -> Self {
        let mut background = Background::new(statistics);
        let mut used: FxHashSet<Term> = words.iter().map(|word| word.term).collect();
        let mut counted: Vec<(f64, Word)> = Vec::with_capacity(words.len().min(COUNTED));
        for word in words.into_iter().take(COUNTED) {
            let texts = count(&word.token);
            background.note(&word.token, texts);
            counted.push((aboutness(&word.token) * statistics.idf(texts), word));
        }
        counted.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut asked = Vec::new();
        for (_, Word { token, repeats, .. }) in counted.into_iter().take(ASKED) {
            let repeats = f64::from(repeats);
            if with_forms {
                for_each_form(&token, |form| {
                    let texts = if used.insert(Term::new(form)) { count(form) } else { 0 };
                    if texts > 0 {
                        background.note(form, texts);
                        asked.push((form.to_owned(), FORM_SHARE * repeats));
                    }
                });
            }
            asked.push((token, repeats));
        }
        Self { words: asked, background }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_telling_words_and_their_forms_are_looked_for() {
        let count = |token: &str| match token {
            "deploy" => 3,
            "deploys" => 2,
            "port" => 40,
            _ => 0,
        };
        let statistics = Statistics { documents: 100, average_length: 20.0 };
        let asked = Wording::of_question("which port did the deploy use?", statistics, count);
        let words: Vec<(&str, f64)> = asked.words.iter().map(|(word, share)| (&**word, *share)).collect();
        assert!(words.contains(&("deploy", 1.0)) && words.contains(&("deploys", FORM_SHARE)), "{words:?}");
        assert!(words.contains(&("port", 1.0)) && !words.iter().any(|(word, _)| *word == "which"), "{words:?}");
        let asked = Wording::of_query("which port", statistics, count);
        assert_eq!(asked.words.len(), 2, "a query is taken by its word");
    }
}
