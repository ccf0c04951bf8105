//! Words of facts by the family they belong to.

use rustc_hash::FxHashMap;

use crate::text::{Mode, Term, for_each_family, for_each_token};

/// The words that facts have or had, by the keys of their families.
#[derive(Debug, Default)]
pub(super) struct Families {
    terms: FxHashMap<Term, Vec<Term>>,
}

impl Families {
    /// Add the words of a text.
    pub(super) fn add(&mut self, text: &str, mode: Mode) {
        for_each_token(text, mode, |token| {
            for_each_family(token, |key| {
                let (terms, term) = (self.terms.entry(Term::new(key)).or_default(), Term::new(token));
                if !terms.contains(&term) {
                    terms.push(term);
                }
            });
        });
    }

    /// Call `see` with every word of a word's family.
    pub(super) fn for_each(&self, word: &str, mut see: impl FnMut(Term)) {
        for_each_family(word, |key| self.terms.get(&Term::new(key)).into_iter().flatten().copied().for_each(&mut see));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_leads_to_those_of_its_family() {
        let mut families = Families::default();
        families.add("Deployments go to eu-west-1, deployed by Ann", Mode::Memctx);
        let mut found = Vec::new();
        families.for_each("deploy", |term| found.push(term));
        assert_eq!(found, ["deployments", "deployed"].map(Term::new));
    }
}
