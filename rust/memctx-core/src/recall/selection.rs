//! Selection: the passages that add something to better ones.

use rustc_hash::{FxHashMap, FxHashSet};

use super::cues::{Wish, only_asks};
use crate::text::{Mode, Term, aboutness, for_each_family, for_each_token};

/// A passage with at least this share of the best score stands beside it. On the development sets that is 96 % of the
/// evidence that room alone would leave, and three fifths of the passages.
const NEAR: f64 = 0.05;
/// Below this share of the best score nothing is worth its room, whatever words it has.
const FAR: f64 = 0.02;
/// Share of the question's words, by what they tell, that a passage between the two must be the first to have.
const NEW_WORDS: f64 = 0.1;
/// Share of the words of a past question that today's may lack, for it to ask for the same.
const UNASKED: f64 = 0.25;
/// The cosine from which two questions ask for the same.
const SAME_QUESTION: f64 = 0.8;
/// Bytes of the longest text that is looked at as a question or as a repetition.
const LONGEST: usize = 4096;
/// Words that turn a sentence into its opposite.
const DENYING: [&str; 12] = ["not", "no", "never", "don", "doesn", "isn", "won", "can", "不", "没", "ない", "안"];
/// Share of the pairs of neighboring words that two long texts have in common if one repeats the other.
const SAME_PAIRS: f64 = 0.95;

/// A passage that was found.
#[derive(Clone, Debug)]
pub struct Passage<'a> {
    /// Role of the speaker.
    pub role: &'a str,
    /// All of the message.
    pub content: &'a str,
    /// The piece of it that matched.
    pub matched: &'a str,
    /// Higher is better.
    pub score: f64,
    /// The cosine of its vector and the question's; 0 where there is none.
    pub cosine: f64,
    /// Its replacement.
    pub replaced: Option<Replaced>,
    /// True if the model sees it anyway: others may repeat it or be replaced by it, and it takes no room.
    pub is_seen: bool,
}

/// Replacement of a passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// The passage, by its index; none if it is another message.
    pub by: Option<usize>,
    /// True if nothing that the passage says still holds.
    pub is_whole: bool,
}

/// Decision on a passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is shown.
    Shown,
    /// It is shown and marked as replaced.
    Marked,
    /// It says what another passage says.
    Duplicate(usize),
    /// Another passage replaced all that it says.
    Replaced(Option<usize>),
    /// It asks what is asked.
    Question,
    /// It adds little to those that are better.
    Little,
}

/// Return what becomes of each passage, which are given oldest first.
///
/// Left out are questions like this one, repetitions, what was replaced unless the question asks for history, and what
/// is far below the best and has no word of the question that the better ones lack.
#[must_use]
pub fn select(question: &str, passages: &[Passage<'_>]) -> Vec<Verdict> {
    let wish = Wish::of(question);
    let asked = Words::of(question);
    let words: Vec<Words> = passages.iter().map(|passage| Words::of(passage.matched)).collect();
    let mut verdicts = vec![Verdict::Shown; passages.len()];
    for (at, passage) in passages.iter().enumerate() {
        if asks_the_same(passage, question, &asked) {
            verdicts[at] = Verdict::Question;
        } else if let Some(replaced) = passage.replaced {
            let is_left_out = replaced.is_whole && !wish.history;
            verdicts[at] = if is_left_out { Verdict::Replaced(replaced.by) } else { Verdict::Marked };
        }
    }
    let mut scores: Vec<f64> = passages.iter().map(|passage| passage.score).collect();
    // What replaces a thing answers as much as that did.
    for (at, passage) in passages.iter().enumerate() {
        if let (Some(Replaced { by: Some(by), .. }), false) = (passage.replaced, verdicts[at] == Verdict::Question) {
            scores[by] = scores[by].max(scores[at]);
        }
    }
    fold_repetitions(passages, &words, wish, &mut verdicts, &mut scores);
    let to_show: Vec<usize> =
        (0..passages.len()).filter(|&at| !passages[at].is_seen && is_standing(verdicts[at])).collect();
    // A question answers nothing, so what is near it in score need not be near the answer.
    let best = |at: &usize| if is_question(&passages[*at]) { None } else { Some(scores[*at]) };
    let best = to_show.iter().filter_map(best).reduce(f64::max);
    cut(&asked, &words, wish, &scores, to_show, best, &mut verdicts);
    verdicts
}

fn is_standing(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Shown | Verdict::Marked)
}

/// Return whether a passage is a question that this one repeats.
fn asks_the_same(passage: &Passage<'_>, question: &str, asked: &Words) -> bool {
    if passage.role != "user" || passage.content.len() > LONGEST {
        return false;
    }
    let letters =
        |text: &str| text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    if passage.content.len() < 2 * question.len() && letters(passage.content) == letters(question) {
        return true;
    }
    if !only_asks(passage.content) {
        return false;
    }
    let own = Words::of(passage.content);
    let unasked: Vec<&Word> = own.topics().filter(|word| !asked.has(word.key)).collect();
    // A number or two may be what is asked for.
    let names_more = unasked.iter().any(|word| word.is_exact);
    let share = unasked.len() as f64 / own.topics().count().max(1) as f64;
    !names_more && (share <= UNASKED || passage.cosine >= SAME_QUESTION)
}

/// Let of texts that say the same the newest stand, or the oldest where history is asked for, with the best score.
fn fold_repetitions(
    passages: &[Passage<'_>],
    words: &[Words],
    wish: Wish,
    verdicts: &mut [Verdict],
    scores: &mut [f64],
) {
    for older in 0..passages.len() {
        for newer in older + 1..passages.len() {
            if !is_standing(verdicts[older]) || verdicts[newer] != verdicts[older] {
                continue;
            }
            // A person's words do not go for an answer that says them again.
            let may_go = |gone: usize, kept: usize| {
                passages[gone].role != "user" || passages[kept].role == "user" || words[gone].all == words[kept].all
            };
            let in_newer = may_go(older, newer) && words[newer].repeats(&words[older]);
            let in_older = may_go(newer, older) && words[older].repeats(&words[newer]);
            let (gone, kept) = match (in_newer, in_older) {
                _ if passages[newer].is_seen && passages[older].is_seen => continue,
                (true, _) if passages[newer].is_seen => (older, newer),
                (_, true) if passages[older].is_seen => (newer, older),
                _ if passages[newer].is_seen || passages[older].is_seen => continue,
                (false, false) => continue,
                (false, true) => (newer, older),
                (true, true) if wish.history => (newer, older),
                (true, _) => (older, newer),
            };
            verdicts[gone] = Verdict::Duplicate(kept);
            scores[kept] = scores[kept].max(scores[gone]);
        }
    }
}

/// Return whether a person asks something in a passage and says nothing.
fn is_question(passage: &Passage<'_>) -> bool {
    passage.role == "user" && passage.content.len() <= LONGEST && only_asks(passage.content)
}

/// Leave out what adds little beside the `best` score of an answer.
fn cut(
    asked: &Words,
    words: &[Words],
    wish: Wish,
    scores: &[f64],
    mut order: Vec<usize>,
    best: Option<f64>,
    verdicts: &mut [Verdict],
) {
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let Some(best) = best.or_else(|| order.first().map(|&at| scores[at])) else { return };
    let worth = asked.worth(words, &order);
    let all: f64 = worth.values().sum();
    let mut covered: FxHashSet<Term> = FxHashSet::default();
    for at in order {
        let fresh = || worth.iter().filter(|(key, _)| words[at].has(**key) && !covered.contains(*key));
        let is_shown = scores[at] >= NEAR * best
            || scores[at] >= FAR * best && fresh().map(|(_, worth)| worth).sum::<f64>() >= NEW_WORDS * all
            || wish.many && scores[at] >= FAR * best;
        if is_shown {
            let keys: Vec<Term> = fresh().map(|(key, _)| *key).collect();
            covered.extend(keys);
        } else {
            verdicts[at] = Verdict::Little;
        }
    }
}

/// A word of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Word {
    /// The same for the words of a family.
    key: Term,
    /// Its information, from 0 to 1.
    weight: f64,
    /// True if it has a digit.
    is_exact: bool,
}

/// The words of a text, in order.
#[derive(Debug)]
struct Words {
    all: Vec<Word>,
    keys: FxHashSet<Term>,
    /// Neighbors among the words that tell something.
    pairs: FxHashSet<(Term, Term)>,
    /// Number of words that turn a sentence into its opposite.
    denials: usize,
}

impl Words {
    fn of(text: &str) -> Self {
        let mut all = Vec::new();
        for_each_token(text, Mode::Memctx, |token| {
            let mut key = None;
            for_each_family(token, |family| key = key.or(Some(Term::new(family))));
            let key = key.unwrap_or_else(|| Term::new(token));
            let is_exact = token.bytes().any(|byte| byte.is_ascii_digit());
            all.push(Word { key, weight: aboutness(token), is_exact });
        });
        let keys = all.iter().map(|word| word.key).collect();
        let topics: Vec<Term> = all.iter().filter(|word| word.weight > 0.0).map(|word| word.key).collect();
        let pairs = topics.windows(2).map(|pair| (pair[0], pair[1])).collect();
        let denying = DENYING.map(Term::new);
        let denials = all.iter().filter(|word| denying.contains(&word.key)).count();
        Self { all, keys, pairs, denials }
    }

    fn has(&self, key: Term) -> bool {
        self.keys.contains(&key)
    }

    /// Return the words that tell something.
    fn topics(&self) -> impl Iterator<Item = &Word> {
        self.all.iter().filter(|word| word.weight > 0.0)
    }

    /// Return what each word of a question tells, rarer ones more; words that no passage has tell nothing.
    fn worth(&self, passages: &[Self], among: &[usize]) -> FxHashMap<Term, f64> {
        let count = among.len() as f64;
        let of = |word: &Word| {
            let having = among.iter().filter(|&&at| passages[at].has(word.key)).count() as f64;
            (having > 0.0).then(|| (word.key, word.weight * (1.0 + (count + 1.0) / (having + 0.5)).ln()))
        };
        self.topics().filter_map(of).collect()
    }

    /// Return whether the other text says again all that this one says, in the same order.
    ///
    /// A short one must be in it word for word, function words aside; of a long one a few words may differ, but no
    /// number.
    fn repeats(&self, text: &Self) -> bool {
        /// Fewer words than this may be said by chance.
        const FEWEST: usize = 3;
        let (own, other): (Vec<&Word>, Vec<&Word>) = (text.topics().collect(), self.topics().collect());
        if own.len() < FEWEST || own.len() > other.len() + other.len() / 16 {
            return own.len() == other.len() && !own.is_empty() && text.all == self.all;
        }
        if text.denials != self.denials || own.iter().any(|word| word.is_exact && !self.has(word.key)) {
            return false;
        }
        let common = own.windows(2).filter(|pair| self.pairs.contains(&(pair[0].key, pair[1].key))).count();
        common as f64 >= SAME_PAIRS * (own.len() - 1) as f64
    }
}
