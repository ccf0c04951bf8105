//! Replacement of an earlier sentence by a later one.

use super::lexicon::{class, flag};
use super::relation::{Comparison, Relation};
use super::statement::{Side, Statement, Token};
use crate::text::Term;

/// Confidence that a sentence replaces another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::facts) enum Sureness {
    /// It says another thing of the same, and does not say that this has changed.
    Likely,
    /// It says that it corrects something, of the same subject and with another answer.
    Certain,
}

/// Share of what the old one is about that the new one must name.
const SAME_SUBJECT: f64 = 0.5;
/// As [`SAME_SUBJECT`], where nothing parts the subject from what is said of it.
const SAME_WORDS: f64 = 0.8;
/// Words that both must have in common where nothing else shows that they are about the same.
const FEWEST_COMMON: usize = 2;
/// Words of the old one that the new one leaves out, of one that it replaces completely.
const MOST_LOST: usize = 4;
/// Words that the new one adds; a longer sentence tells of something else.
const MOST_GAINED: usize = 10;

/// Return how surely the new statement replaces the old one; `corrects` if it says that it corrects something.
pub(in crate::facts) fn replaces(old: &Statement, new: &Statement, corrects: bool) -> Option<Sureness> {
    let sides = Sides::new(old, new);
    let share = sides.shared_subject();
    if share <= 0.0 || sides.are_about_two_things() {
        return None;
    }
    let sureness = if sides.lost() <= MOST_LOST { Sureness::Certain } else { Sureness::Likely };
    let needed = if sides.has_subject { SAME_SUBJECT } else { SAME_WORDS };
    if corrects && share >= needed && sides.are_of_one_thing() && sides.has_other_answer() {
        return Some(sureness);
    }
    let holds = new.is_assertion() && old.is_assertion() && !new.is_pending;
    if !holds || share < 1.0 && !corrects || sides.common() < FEWEST_COMMON {
        return None;
    }
    let is_changed = Comparison::new(old, new).relation() == Relation::Changed;
    is_changed.then_some(if corrects { sureness } else { Sureness::Likely })
}

/// Two statements, as far as they hold or are denied.
struct Sides<'s> {
    old: Vec<&'s Token>,
    new: Vec<&'s Token>,
    /// The verb of the old one parts its subject from its answer.
    has_subject: bool,
}

impl<'s> Sides<'s> {
    fn new(old: &'s Statement, new: &'s Statement) -> Self {
        let said = |statement: &'s Statement| statement.tokens.iter().filter(|token| !token.is_aside);
        let old: Vec<&Token> = said(old).collect();
        let has_subject = old.iter().any(|token| token.side == Side::Subject);
        Self { old, new: said(new).collect(), has_subject }
    }

    fn is_in(tokens: &[&Token], key: Term) -> bool {
        tokens.iter().any(|token| token.key == key)
    }

    fn lost(&self) -> usize {
        self.old.iter().filter(|token| !token.is_negated && !Self::is_in(&self.new, token.key)).count()
    }

    /// Return whether both name two words of what the old one is about, or the new one names or matches its answer.
    fn are_of_one_thing(&self) -> bool {
        let is_shared = |token: &&&Token| Self::is_in(&self.new, token.key) && !is_change(token);
        let subject = self.old.iter().filter(|token| self.is_subject(token)).filter(is_shared).count();
        let gained = || self.new.iter().filter(|token| !Self::is_in(&self.old, token.key));
        let matches = |old: &Token| {
            let is_denied = self.new.iter().any(|new| new.key == old.key && (new.is_negated || old.class != 0));
            is_denied || gained().any(|new| old.class & new.class & class::ALWAYS != 0)
        };
        let mut answers = self.old.iter().filter(|token| !self.is_subject(token));
        gained().count() <= MOST_GAINED && (subject >= FEWEST_COMMON || answers.any(|token| matches(token)))
    }

    fn common(&self) -> usize {
        self.old.iter().filter(|token| Self::is_in(&self.new, token.key)).count()
    }

    /// Return whether a token of the old one says what it is about, rather than what is said of that.
    fn is_subject(&self, token: &Token) -> bool {
        if self.has_subject { token.side != Side::Object } else { !token.is_value() }
    }

    /// Return the share of what the old one is about that the new one names.
    fn shared_subject(&self) -> f64 {
        let subject: Vec<Term> = self
            .old
            .iter()
            .filter(|token| self.is_subject(token) && !is_change(token))
            .map(|token| token.key)
            .collect();
        let shared = subject.iter().filter(|&&key| Self::is_in(&self.new, key)).count();
        if subject.is_empty() { 0.0 } else { shared as f64 / subject.len() as f64 }
    }

    /// "The projector in Lisbon", "the projector in Porto": each names what the other does not.
    fn are_about_two_things(&self) -> bool {
        let names_one = |own: &[&Token], other: &[&Token]| {
            let distinguishes = |token: &&&Token| {
                let is_named = token.class & (class::NAME | class::NUMBER | class::PLACE) != 0
                    || token.flags & flag::PLACE_OF_MANY != 0
                    || token.side == Side::Subject;
                token.side != Side::Object && is_named && !is_change(token)
            };
            own.iter().filter(distinguishes).any(|token| !Self::is_in(other, token.key))
        };
        names_one(&self.old, &self.new) && names_one(&self.new, &self.old)
    }

    /// Return whether the new one denies or leaves out an answer of the old one and has another.
    fn has_other_answer(&self) -> bool {
        let answers: Vec<&&Token> =
            self.old.iter().filter(|token| !token.is_negated && !self.is_subject(token)).collect();
        let is_denied = |token: &Token| self.new.iter().any(|new| new.key == token.key && new.is_negated);
        let is_gone = |token: &Token| !Self::is_in(&self.new, token.key);
        let gained = || self.new.iter().filter(|token| !token.is_negated && !Self::is_in(&self.old, token.key));
        // "No es un Alpha 15 sino un Alpha 25": both are named, whatever denies the first.
        let is_beside = |old: &Token| gained().any(|new| old.class & new.class & class::ALWAYS != 0);
        let is_replaced = answers.iter().any(|token| is_denied(token) || is_gone(token) || is_beside(token));
        let is_answer = |token: &&Token| token.class != 0 || token.side == Side::Object;
        is_replaced && gained().any(|token| is_answer(token) && !is_change(token))
    }
}

fn is_change(token: &Token) -> bool {
    token.flags & (flag::CHANGE | flag::SWAP | flag::NOW) != 0
}
