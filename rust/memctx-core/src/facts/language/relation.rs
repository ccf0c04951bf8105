//! Relation of a new statement to an old one.

use super::lexicon::{class, flag};
use super::statement::{Side, Statement, Token};
use crate::text::Term;

/// Relation of a new statement to an old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// It says nothing that the old one does not say.
    Same,
    /// It says all that the old one says, and more.
    Refined,
    /// It says another thing of the same: the old one no longer holds.
    Changed,
    /// It is about something else, or both hold side by side.
    Apart,
}

impl Relation {
    /// Return the name that Python sees.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Refined => "refined",
            Self::Changed => "changed",
            Self::Apart => "apart",
        }
    }
}

/// Return the relation of the new statement to the old one.
///
/// ```
/// use memctx_core::facts::{Relation, relate};
///
/// assert_eq!(relate("The port is 3000", "The port is 8080"), Relation::Changed);
/// assert_eq!(relate("The staging port is 3000", "The production port is 8080"), Relation::Apart);
/// ```
#[must_use]
pub fn relate(old: &str, new: &str) -> Relation {
    Comparison::new(&Statement::read(old), &Statement::read(new)).relation()
}

/// Two statements side by side.
pub(in crate::facts) struct Comparison<'s> {
    old: &'s Statement,
    new: &'s Statement,
    /// The places of tokens that both have, in the old one and in the new one.
    common: Vec<(usize, usize)>,
    /// Tokens that only the old one has.
    lost: Vec<usize>,
    /// Tokens that only the new one has.
    gained: Vec<usize>,
    relation: Relation,
}

/// So much of the new statement must have been in the old one for the new one to be a longer form of it.
const REFINED_SHARE: usize = 4;
/// Statements that differ in more values than that are not distinguished by these.
const MOST_PAIRED: usize = 64;
/// Longest answer, in words, that may replace another without a common word; a longer one is another statement.
const LONGEST_ANSWER: usize = 4;

impl<'s> Comparison<'s> {
    /// Compare two statements as they are or, if that shows no change, without the reasons they give.
    pub(in crate::facts) fn new(old: &'s Statement, new: &'s Statement) -> Self {
        let whole = Self::of(old, new);
        if matches!(whole.relation, Relation::Same | Relation::Changed) {
            return whole;
        }
        let claims = |old: &'s Statement| {
            let claims = Self::of(old, new.claim.as_deref().unwrap_or(new));
            (claims.relation == Relation::Changed).then_some(claims)
        };
        let old_claim = old.claim.as_deref();
        let of_new = new.claim.is_some().then(|| claims(old)).flatten();
        of_new.or_else(|| old_claim.filter(|claim| !drops_value(old, claim)).and_then(claims)).unwrap_or(whole)
    }

    fn of(old: &'s Statement, new: &'s Statement) -> Self {
        let relation = Relation::Apart;
        let mut comparison = Self { old, new, common: Vec::new(), lost: Vec::new(), gained: Vec::new(), relation };
        comparison.merge();
        comparison.relation = comparison.find_relation();
        comparison
    }

    /// Return the relation of the two.
    pub(in crate::facts) fn relation(&self) -> Relation {
        self.relation
    }

    /// Walk both in the order of their keys.
    fn merge(&mut self) {
        let (mut olds, mut news) = (&self.old.by_key[..], &self.new.by_key[..]);
        let key = |statement: &Statement, at: u32| statement.tokens[at as usize].key;
        while let (Some(&a), Some(&b)) = (olds.first(), news.first()) {
            let (old_key, new_key) = (key(self.old, a), key(self.new, b));
            let width =
                |statement, of: &[u32], wanted| of.iter().take_while(|&&at| key(statement, at) == wanted).count();
            let old_width = if old_key <= new_key { width(self.old, olds, old_key) } else { 0 };
            let new_width = if new_key <= old_key { width(self.new, news, new_key) } else { 0 };
            let (old_group, new_group) = (olds.split_at(old_width), news.split_at(new_width));
            (olds, news) = (old_group.1, new_group.1);
            self.pair(old_group.0, new_group.0);
        }
        self.lost.extend(olds.iter().map(|&at| at as usize));
        self.gained.extend(news.iter().map(|&at| at as usize));
        self.lost.sort_unstable();
        self.gained.sort_unstable();
    }

    /// Pair tokens of the same key, those of the same polarity first. What is said in a reason answers nothing.
    fn pair(&mut self, olds: &[u32], news: &[u32]) {
        let sort = |token: &Token| usize::from(token.is_negated) | usize::from(token.is_aside) << 1;
        let (mut old_sorts, mut new_sorts) = (<[Vec<usize>; 4]>::default(), <[Vec<usize>; 4]>::default());
        // In reverse, so that the first is taken first.
        for &at in olds.iter().rev() {
            old_sorts[sort(&self.old.tokens[at as usize])].push(at as usize);
        }
        for &at in news.iter().rev() {
            new_sorts[sort(&self.new.tokens[at as usize])].push(at as usize);
        }
        let before = self.common.len();
        // The same polarity, then the other one, then a reason for a word that is no value.
        for turn in 0..4 {
            for (sort, olds) in old_sorts.iter_mut().enumerate() {
                let news = &mut new_sorts[sort ^ turn];
                while let (Some(&old), Some(&new)) = (olds.last(), news.last()) {
                    if turn > 1 && (self.old.tokens[old].is_value() || self.new.tokens[new].is_value()) {
                        break;
                    }
                    self.common.push((old, new));
                    olds.pop();
                    news.pop();
                }
            }
        }
        // A word said twice is not said more.
        let is_common = self.common.len() > before;
        let counts = |token: &Token| token.is_value() || !is_common;
        self.lost.extend(old_sorts.into_iter().flatten().filter(|&at| counts(&self.old.tokens[at])));
        self.gained.extend(new_sorts.into_iter().flatten().filter(|&at| counts(&self.new.tokens[at])));
    }

    fn common(&self) -> impl Iterator<Item = (&'s Token, &'s Token)> {
        self.common.iter().map(|&(old, new)| (&self.old.tokens[old], &self.new.tokens[new]))
    }

    fn lost(&self) -> impl Iterator<Item = &'s Token> + Clone {
        self.lost.iter().map(|&at| &self.old.tokens[at]).filter(|token| !token.is_aside)
    }

    fn gained(&self) -> impl Iterator<Item = &'s Token> + Clone {
        self.gained.iter().map(|&at| &self.new.tokens[at]).filter(|token| !token.is_aside)
    }

    /// Return the overlap of the two, from 0 to 1.
    pub(in crate::facts) fn overlap(&self) -> f64 {
        let common = self.common.len();
        let all = common + self.lost.len() + self.gained.len();
        if all == 0 { 0.0 } else { common as f64 / all as f64 }
    }

    /// Return whether the two have any word, or a question that both answer, in common.
    pub(in crate::facts) fn is_related(&self) -> bool {
        let answers = |old: &Token| self.new.tokens.iter().any(|new| old.class & new.class & !class::NAME != 0);
        !self.common.is_empty() || self.old.tokens.iter().any(answers)
    }

    /// Return whether the new one leaves out words that say which one is meant.
    pub(in crate::facts) fn is_less_specific(&self) -> bool {
        self.lost().any(|token| !token.is_value()) && !self.gained().any(|token| !token.is_value())
    }

    /// Return whether every value of the new one, with its polarity, is in the old one.
    pub(in crate::facts) fn keeps_new_values(&self) -> bool {
        !self.gained.iter().any(|&at| self.new.tokens[at].class != 0)
            && !self.has_flips()
            && !self.is_status_change()
            && self.new.negations <= self.old.negations
    }

    /// Return whether the old one has a value that the new one has not.
    pub(in crate::facts) fn loses_value(&self) -> bool {
        self.lost().any(|token| token.class != 0)
    }

    /// Return whether the new one has all values of the old one beside a word that says what they are values of.
    pub(in crate::facts) fn restates(&self) -> bool {
        let values = self.old.tokens.iter().filter(|token| token.is_value() && !token.is_aside).count();
        let is_kept = |(old, new): &(&Token, &Token)| old.is_value() && old.is_negated == new.is_negated;
        values > 0 && self.common().filter(is_kept).count() == values && self.common().any(|(old, _)| !old.is_value())
    }

    fn has_flips(&self) -> bool {
        self.common().any(|(old, new)| old.is_negated != new.is_negated)
    }

    /// Return whether the new one denies something that the old one does not, whatever that is.
    fn has_other_negations(&self) -> bool {
        let (old, new) = (self.old.negations, self.new.negations);
        new > old || self.lost.is_empty() && old % 2 != new % 2
    }

    /// Return whether the new one links its words in another way: "to" for "from", "or" for "and", "may" for "must".
    fn has_other_links(&self) -> bool {
        let [or, must, may] = ["or", "must", "may"].map(Term::new);
        // What must not be may not be.
        let is_free = |key: Term| self.new.negations > 0 && [must, may].contains(&key);
        let (old, new) = (&self.old.counting, &self.new.counting);
        new.iter().any(|&key| !is_free(key) && !old.contains(&key))
            || self.lost.is_empty() && old.contains(&or) != new.contains(&or)
    }

    fn is_status_change(&self) -> bool {
        self.old.is_pending != self.new.is_pending && !self.common.is_empty()
    }

    fn find_relation(&self) -> Relation {
        if self.old.fingerprint == self.new.fingerprint {
            return Relation::Same;
        }
        if self.is_switched() {
            return Relation::Changed;
        }
        if self.common.is_empty() && !self.is_one_value_each() && !self.is_copy_with_other_value() {
            return Relation::Apart;
        }
        let loses_topic = self.lost().any(|token| !token.is_value());
        let gains_topic = self.gained().any(|token| !token.is_value());
        let is_subset = self.gained().next().is_none() || self.lost().next().is_none();
        if self.is_status_change() && is_subset {
            return Relation::Changed;
        }
        if self.is_copy_with_other_value() {
            return Relation::Changed;
        }
        if self.has_flips() {
            return self.flipped(loses_topic, gains_topic);
        }
        if self.is_changed_value(loses_topic, gains_topic) || self.is_other_answer() || self.is_turned_round() {
            return Relation::Changed;
        }
        if self.gained.is_empty() && !self.new.tokens.is_empty() {
            return if self.has_other_negations() || self.lost.is_empty() && self.has_other_links() {
                Relation::Changed
            } else if self.has_other_links() {
                Relation::Apart
            } else if self.keeps_neighbors() {
                Relation::Same
            } else if self.lost.is_empty() && self.has_words_in_order() {
                Relation::Changed
            } else {
                Relation::Apart
            };
        }
        if self.lost().next().is_none() && self.is_longer_form() {
            return Relation::Refined;
        }
        Relation::Apart
    }

    /// "The package manager is npm", "we switched to pnpm": the only value of its kind has changed.
    fn is_switched(&self) -> bool {
        const KIND: u64 = !(class::ALWAYS | class::PLACE | class::NAME);
        let is_like = |a: &Token, b: &Token| a.class & KIND != 0 && a.class & KIND == b.class & KIND && a.key != b.key;
        let [new] = &self.new.tokens[..] else { return false };
        let mut answers = self.old.tokens.iter().filter(|old| old.is_value() && !old.is_negated && !old.is_aside);
        self.new.is_switch
            && !new.is_negated
            && answers.next().is_some_and(|old| is_like(old, new))
            && answers.next().is_none()
    }

    /// "Use Kafka", "Use NATS"; "I live in Paris", "I live in Lyon".
    fn is_one_value_each(&self) -> bool {
        let only = |statement: &'s Statement| match &statement.tokens[..] {
            [token] if token.is_value() => Some(token),
            _ => None,
        };
        let verbs = self.old.verbs | self.new.verbs;
        let is_same_verb = self.old.verb.is_some() && self.old.verb == self.new.verb;
        let sorts = if is_same_verb && verbs & (flag::USE | flag::MANY) == 0 { u64::MAX } else { !class::NAME };
        let same_sort = |a: &Token, b: &Token| a.class & b.class & sorts != 0;
        only(self.old).zip(only(self.new)).is_some_and(|(old, new)| same_sort(old, new))
    }

    /// Return the relation of two statements that disagree on whether a common topic holds.
    fn flipped(&self, loses_topic: bool, gains_topic: bool) -> Relation {
        let narrows = self.gained().any(|token| !token.is_value() && token.side != Side::Object);
        let is_aligned = !gains_topic || !loses_topic && !narrows;
        let drops_value = || {
            let dropped = |(old, new): (&Token, &Token)| old.is_value() && !old.is_negated && new.is_negated;
            self.common().any(dropped) && self.gained().any(|token| token.class != 0 && !token.is_negated)
        };
        if is_aligned || self.overlap() >= 0.6 || drops_value() { Relation::Changed } else { Relation::Apart }
    }

    /// Return whether a value of the old one was replaced by another that answers the same question.
    fn is_changed_value(&self, loses_topic: bool, gains_topic: bool) -> bool {
        if self.names_others() || self.counts_subject() {
            return false;
        }
        let gained = || self.gained.iter().take(MOST_PAIRED);
        let mut pairs = self.lost.iter().take(MOST_PAIRED).flat_map(|&old| gained().map(move |&new| (old, new)));
        if !gains_topic {
            let names_place = self.lost().any(|token| token.flags & flag::PLACE_OF_MANY != 0);
            return !names_place && pairs.any(|(old, new)| self.is_answer(old, new));
        }
        let aims_elsewhere = |token: &Token| !token.is_value() && token.side != Side::Object;
        if self.gained().any(aims_elsewhere) || self.lost().any(aims_elsewhere) || loses_topic && !self.has_subject() {
            return false;
        }
        pairs.any(|(old, new)| self.is_answer(old, new) && self.has_same_neighbor(old, new))
    }

    /// Return whether two values, of which one was lost and one gained, answer the same question.
    fn is_answer(&self, old: usize, new: usize) -> bool {
        let (old, new) = (&self.old.tokens[old], &self.new.tokens[new]);
        if !old.is_value() || !new.is_value() || old.is_aside || new.is_aside || old.is_negated != new.is_negated {
            return false;
        }
        let shared = old.class & new.class;
        let verbs = self.old.verbs & self.new.verbs;
        if shared & class::ALWAYS != 0 {
            return true;
        }
        let has_purpose = || self.common().any(|(old, new)| old.side == Side::Qualifier && new.side == Side::Qualifier);
        if verbs & flag::MANY != 0 && !has_purpose() {
            return false;
        }
        if shared & !class::NAME != 0 {
            return true;
        }
        // Of two names it is not known what they are names of: that must be said.
        (verbs & flag::USE == 0 && shared != 0) || has_purpose()
    }

    /// "Server 1 has 4 cores", "server 2 has 8 cores": a number in the subject tells two things apart.
    fn counts_subject(&self) -> bool {
        let is_number = |token: &&Token| token.class & class::NUMBER != 0;
        let side = |wanted: Side| self.gained().filter(is_number).any(|token| token.side == wanted);
        side(Side::Subject) && side(Side::Object)
    }

    fn has_subject(&self) -> bool {
        self.common().any(|(old, new)| old.side == Side::Subject && new.side == Side::Subject)
    }

    /// Return whether the subject is the same, its predicate differs, and only one predicate can hold.
    fn is_other_answer(&self) -> bool {
        let (old, new) = (self.old, self.new);
        let verbs = old.verbs & new.verbs;
        if verbs & flag::PIVOT == 0 || (old.verbs | new.verbs) & (flag::MANY | flag::USE) != 0 {
            return false;
        }
        let (lost, gained) = (self.lost(), self.gained());
        // Another verb says another thing.
        let is_answer = |token: &Token| token.side == Side::Object && token.flags & flag::PIVOT == 0;
        let is_short = |count: usize| (1..=LONGEST_ANSWER).contains(&count);
        if !lost.clone().chain(gained.clone()).all(is_answer) || !is_short(lost.count()) || !is_short(gained.count()) {
            return false;
        }
        let subject: Vec<&Token> = new.subject().collect();
        let names_attribute = subject.iter().any(|token| token.flags & flag::ATTRIBUTE != 0);
        !subject.is_empty() && (verbs & flag::LIGHT != 0 || self.says_how() || subject.len() > 1 || names_attribute)
    }

    /// Return whether both say in the same words what the answers are to: "hashed with", "stored in".
    fn says_how(&self) -> bool {
        let leads = |statement: &Statement, gone: &[usize]| {
            let first = gone.first().copied().unwrap_or(0);
            statement.tokens[..first].iter().any(|token| token.side == Side::Object)
        };
        leads(self.old, &self.lost) && leads(self.new, &self.gained)
    }

    /// "2 spaces in YAML", "4 spaces in Python": a name on each side that nothing on the other answers to.
    fn names_others(&self) -> bool {
        let is_name = |token: &Token| token.is_value() && token.class & class::ALWAYS == 0 && !token.is_aside;
        let is_unanswered = |old: &usize| !self.gained.iter().take(MOST_PAIRED).any(|&new| self.is_answer(*old, new));
        let is_unasked = |new: &usize| !self.lost.iter().take(MOST_PAIRED).any(|&old| self.is_answer(old, *new));
        self.lost.iter().filter(|&&at| is_name(&self.old.tokens[at])).any(is_unanswered)
            && self.gained.iter().filter(|&&at| is_name(&self.new.tokens[at])).any(is_unasked)
    }

    /// Return whether the two are the same word for word but for one number, unit, day or state.
    fn is_copy_with_other_value(&self) -> bool {
        let ([old], [new]) = (&self.lost[..], &self.gained[..]) else { return false };
        let (old_token, new_token) = (&self.old.tokens[*old], &self.new.tokens[*new]);
        old == new && old_token.class & new_token.class & class::ALWAYS != 0
    }

    /// "A depends on B", "B depends on A".
    fn is_turned_round(&self) -> bool {
        let (Some(old_at), Some(new_at)) = (self.old.directed_at, self.new.directed_at) else { return false };
        let is_in = |tokens: &[Token], key: Term| tokens.iter().take(MOST_PAIRED).any(|token| token.key == key);
        let ((old_left, old_right), (new_left, new_right)) =
            (self.old.tokens.split_at(old_at), self.new.tokens.split_at(new_at));
        let crosses = |from: &[Token], to: &[Token], not: &[Token]| {
            from.iter().take(MOST_PAIRED).any(|token| is_in(to, token.key) && !is_in(not, token.key))
        };
        crosses(old_left, new_right, new_left) && crosses(old_right, new_left, new_right)
    }

    /// Return whether each value stands beside the words that it stands beside in the old one: 3 replicas and 5 shards
    /// are not 5 replicas and 3 shards.
    fn keeps_neighbors(&self) -> bool {
        // Where there is only one of its kind, there is nothing it could have changed places with.
        let (mut seen, mut several) = (0, 0);
        for token in &self.old.tokens {
            several |= seen & token.class;
            seen |= token.class;
        }
        self.common.iter().all(|&(_, new)| {
            let class = self.new.tokens[new].class;
            class & !class::UNIT == 0 || class & several == 0 || self.has_neighbors_of_old(new)
        })
    }

    fn has_neighbors_of_old(&self, new: usize) -> bool {
        let (before, after) = neighbors(self.new, new);
        let agrees = |a: Option<Term>, b: Option<Term>| a.is_none() || b.is_none() || a == b;
        let key = self.new.tokens[new].key;
        let start = self.old.by_key.partition_point(|&at| self.old.tokens[at as usize].key < key);
        let olds = self.old.by_key[start..].iter().map(|&at| at as usize).take(MOST_PAIRED);
        let mut olds = olds.take_while(|&at| self.old.tokens[at].key == key).map(|at| neighbors(self.old, at));
        olds.any(|old| agrees(old.0, before) && agrees(old.1, after))
    }

    fn has_same_neighbor(&self, old: usize, new: usize) -> bool {
        // "session cookies" takes the place of "JWT": its own words do not tell where it stands.
        let is_name = self.new.tokens[new].class & class::ALWAYS == 0;
        let is_stray = |gone: &[usize], at: usize| is_name && gone.binary_search(&at).is_ok();
        let before = |statement: &Statement, gone: &[usize], at: usize| {
            (0..at).rev().find(|&at| !is_stray(gone, at)).map(|at| statement.tokens[at].key)
        };
        let (old_before, new_before) = (before(self.old, &self.lost, old), before(self.new, &self.gained, new));
        let (old, new) = (neighbors(self.old, old).1, neighbors(self.new, new).1);
        old_before == new_before || old.is_some() && old == new
    }

    fn has_words_in_order(&self) -> bool {
        let words =
            |statement: &'s Statement| statement.tokens.iter().filter(|token| token.class == 0).map(|token| token.key);
        words(self.old).eq(words(self.new))
    }

    fn is_longer_form(&self) -> bool {
        let (old, new) = (self.old.tokens.len(), self.new.tokens.len());
        old > 0
            && old * REFINED_SHARE >= new
            && (old > 1 || self.old.verbs & self.new.verbs & flag::PIVOT != 0 || new <= 3)
    }
}

/// Return whether a statement has a number, a unit, a day or a state that its claim lacks, outside of a stated reason.
fn drops_value(whole: &Statement, claim: &Statement) -> bool {
    let count = |statement: &Statement| {
        statement.tokens.iter().filter(|token| !token.is_aside && token.class & class::ALWAYS != 0).count()
    };
    count(whole) > count(claim)
}

/// Return the words on both sides of a token.
fn neighbors(statement: &Statement, at: usize) -> (Option<Term>, Option<Term>) {
    let key = |at: Option<usize>| at.and_then(|at| statement.tokens.get(at)).map(|token| token.key);
    (key(at.checked_sub(1)), key(at.checked_add(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn another_answer_to_the_same_question_is_a_change() {
        for (old, new) in [
            ("Use Postgres", "Use MySQL"),
            ("The cache is enabled", "The cache is disabled"),
            ("3 replicas and 5 shards", "5 replicas and 3 shards"),
            ("The service depends on the worker", "The worker depends on the service"),
            ("端口从 3000 改为 8080", "端口是 3000"),
            ("ログを保存する", "ログを保存しない"),
            ("캐시를 사용한다", "캐시를 사용하지 않는다"),
        ] {
            assert_eq!(relate(old, new), Relation::Changed, "{old} | {new}");
        }
    }

    #[test]
    fn statements_about_other_subjects_are_unrelated() {
        for (old, new) in [
            ("The api service uses Redis", "The worker service uses Redis"),
            ("`MAX_RETRIES` is 3", "`MAX_WORKERS` is 8"),
            ("测试环境端口是 3000", "生产环境端口是 8080"),
        ] {
            assert_eq!(relate(old, new), Relation::Apart, "{old} | {new}");
        }
    }

    #[test]
    fn long_statements_take_no_longer_than_their_length() {
        let started = std::time::Instant::now();
        for word in ["1 ", "x ", "not ", "Redis ", "端口", "depends a b ", "` "] {
            let (old, new) = (word.repeat(5_000), format!("{}8080", word.repeat(5_000)));
            assert_ne!(relate(&old, &new), Relation::Same, "{word:?}");
        }
        assert!(started.elapsed().as_secs() < 20);
    }

    proptest! {
        #[test]
        fn a_statement_is_the_same_as_itself(text in ".{1,80}") {
            prop_assert_eq!(relate(&text, &text), Relation::Same);
        }

        #[test]
        fn another_number_in_a_copied_sentence_has_changed(
            before in "([a-z]{1,8} |[A-Z][a-z]{2,6} |[一-鿿]{1,3} |not |never |, ){0,6}",
            after in "( [a-z]{1,8}| [A-Z][a-z]{2,6}| [一-鿿]{1,3}| because|, ){0,6}",
            old in 2_u32..99_999,
            new in 2_u32..99_999,
        ) {
            prop_assume!(old != new);
            let (old, new) = (format!("{before}{old}{after}"), format!("{before}{new}{after}"));
            prop_assert_eq!(relate(&old, &new), Relation::Changed, "{} | {}", old, new);
        }

        #[test]
        fn no_input_panics(old in ".{0,60}", new in ".{0,60}") {
            let _ = relate(&old, &new);
        }
    }
}
