//! Parsed statement.

use std::hash::Hasher as _;

use rustc_hash::FxHasher;
use unicode_normalization::UnicodeNormalization as _;

use super::lexicon::{Entry, Lexicon, class, flag};
use super::reader::Reader;
use super::stem::stem;
use super::{claim, polarity};
use crate::text::{Term, is_cjk};

/// Part of a clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Before the verb: what it is about.
    Subject,
    /// Behind the verb, or anywhere if there is none.
    Object,
    /// Behind a word such as "for": which of several is meant.
    Qualifier,
}

/// A word that says something.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    /// The same for all forms of the word.
    pub(super) key: Term,
    /// Its classes of values; 0 for a plain word.
    pub(super) class: u64,
    /// Its functions, see [`flag`].
    pub(super) flags: u32,
    /// Its part of the clause.
    pub(super) side: Side,
    /// True if it is negated.
    pub(super) is_negated: bool,
    /// True if it is part of a reason.
    pub(super) is_aside: bool,
}

impl Token {
    /// Return whether it is an answer rather than what the question is about.
    pub(super) fn is_value(&self) -> bool {
        self.class & class::ALWAYS != 0 || self.class != 0 && self.side == Side::Object
    }
}

/// Parsed statement.
#[derive(Clone, Debug)]
pub(in crate::facts) struct Statement {
    /// The words that say something, in order.
    pub(super) tokens: Vec<Token>,
    /// The places of the tokens, ordered by key.
    pub(super) by_key: Vec<u32>,
    /// The verbs that end subjects, all together.
    pub(super) verbs: u32,
    /// True if it is still to be done.
    pub(super) is_pending: bool,
    /// Number of negating words.
    pub(super) negations: usize,
    /// Words that say nothing by themselves but may not be exchanged, ordered.
    pub(super) counting: Vec<Term>,
    /// The place of the token before which a verb stands whose sides may not be exchanged.
    pub(super) directed_at: Option<usize>,
    /// The first verb that is more than "is".
    pub(super) verb: Option<Term>,
    /// The functions of all its words.
    flags: u32,
    /// True if it only says what something was changed to: "we switched to pnpm".
    pub(super) is_switch: bool,
    /// A hash of the text but for case, white space and the marks at its end.
    pub(in crate::facts) fingerprint: u64,
    /// The statement without the reason behind it, if it has one.
    pub(super) claim: Option<Box<Self>>,
}

/// A word on its way to become a token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) entry: Entry,
    pub(super) side: Side,
    pub(super) is_negated: bool,
    pub(super) is_aside: bool,
    /// The letters of a plain word that opens a sentence may be those of a name.
    pub(super) may_be_name: bool,
}

impl Piece {
    pub(super) fn has(&self, flags: u32) -> bool {
        self.entry.flags & flags != 0
    }

    /// Return whether it says something, rather than hold the others together.
    pub(super) fn is_content(&self) -> bool {
        const SILENT: u32 = flag::FILLER
            | flag::LIGHT
            | flag::BREAK
            | flag::FROM
            | flag::TO
            | flag::QUALIFY
            | flag::REASON
            | flag::INSTEAD
            | flag::NOT_BEFORE
            | flag::FROM_BEFORE
            | flag::WITHOUT;
        self.entry.class != 0
            || !self.has(SILENT)
                && (!self.has(flag::NEGATES) || self.has(flag::PIVOT) || self.names_state())
                && (!self.has(flag::PENDING) || self.has(flag::PIVOT))
    }

    /// "disabled" turns the clause and is about "enabled".
    fn names_state(&self) -> bool {
        self.has(flag::NEGATES) && polarity::is_state(self.entry.key)
    }
}

impl Statement {
    /// Read a text.
    pub(in crate::facts) fn read(text: &str) -> Self {
        let folded;
        let text = if unicode_normalization::is_nfkc_quick(text.chars()) == unicode_normalization::IsNormalized::Yes {
            text
        } else {
            folded = text.nfkc().collect::<String>();
            &folded
        };
        let mut pieces = Reader::new(text).read();
        polarity::mark(&mut pieces);
        let fingerprint = fingerprint(text);
        let mut statement = Self::from_pieces(&pieces, fingerprint);
        if let Some(end) = claim::end_of(&pieces) {
            pieces.truncate(end);
            pieces.retain(|piece| !piece.is_aside);
            // No text has this fingerprint but by chance: a claim is compared by its words.
            statement.claim = Some(Box::new(Self::from_pieces(&pieces, !fingerprint)));
        }
        statement
    }

    fn from_pieces(pieces: &[Piece], fingerprint: u64) -> Self {
        let (mut tokens, mut verbs, mut directed_at) = (Vec::with_capacity(pieces.len()), 0, None);
        for piece in pieces {
            if piece.has(flag::DIRECTED) && directed_at.is_none() {
                directed_at = Some(tokens.len());
            }
            // "Support" in "support tickets go to sales" is no verb.
            let is_noun = piece.side == Side::Subject && piece.has(flag::MANY);
            if piece.has(flag::PIVOT) && !piece.is_aside && !is_noun {
                verbs |= piece.entry.flags;
            }
            if piece.is_content() {
                let Piece { entry: Entry { key, flags, class }, side, is_negated, is_aside, .. } = *piece;
                tokens.push(Token { key, class, flags, side, is_negated, is_aside });
            }
        }
        let mut by_key: Vec<u32> = (0..).take(tokens.len()).collect();
        by_key.sort_by_key(|&at| tokens[at as usize].key);
        let is_pending = pieces.iter().any(|piece| piece.has(flag::PENDING) && !piece.is_aside);
        let negations = pieces.iter().filter(|piece| piece.has(flag::NEGATES | flag::WITHOUT)).count();
        Self {
            verb: pieces
                .iter()
                .find(|piece| piece.has(flag::PIVOT) && !piece.has(flag::FILLER))
                .map(|piece| piece.entry.key),
            flags: pieces.iter().fold(0, |flags, piece| flags | piece.entry.flags),
            is_switch: claim::is_switch(pieces),
            tokens,
            by_key,
            verbs,
            is_pending,
            negations,
            counting: counting(pieces),
            directed_at,
            fingerprint,
            claim: None,
        }
    }

    /// Return the words that say something.
    pub(in crate::facts) fn words(&self) -> impl Iterator<Item = Term> {
        self.tokens.iter().map(|token| token.key)
    }

    /// Return the words that say what it is about.
    pub(in crate::facts) fn topics(&self) -> impl Iterator<Item = Term> {
        self.tokens.iter().filter(|token| !token.is_value() && !token.is_aside).map(|token| token.key)
    }

    /// Return whether it has values and does not name what they are values of, its reason aside.
    pub(in crate::facts) fn is_bare(&self) -> bool {
        let claim = self.claim.as_deref().unwrap_or(self);
        !claim.tokens.is_empty() && claim.tokens.iter().all(|token| token.is_value() || token.is_aside)
    }

    /// Return whether it has a verb that tells what something is or becomes, or what a person wants.
    pub(in crate::facts) fn is_assertion(&self) -> bool {
        self.verbs & flag::PIVOT != 0 || self.flags & flag::LIGHT != 0 || self.announces()
    }

    /// Return whether it says that something changes or holds from now on.
    pub(in crate::facts) fn announces(&self) -> bool {
        self.flags & (flag::CHANGE | flag::NOW) != 0
    }

    /// Return whether it says that something holds from now on.
    pub(in crate::facts) fn is_now(&self) -> bool {
        self.flags & flag::NOW != 0
    }

    /// Return the tokens of the subject.
    pub(super) fn subject(&self) -> impl Iterator<Item = &Token> {
        self.tokens.iter().filter(|token| token.side == Side::Subject && !token.is_value())
    }
}

/// Return the words that may not be exchanged; the "to" of "to use" is none.
fn counting(pieces: &[Piece]) -> Vec<Term> {
    const LOOSE: [&str; 4] = ["may", "might", "can", "could"];
    let verb_follows =
        |at: usize| pieces.get(at + 1).is_some_and(|next| next.has(flag::LIGHT | flag::PIVOT | flag::PENDING));
    let counts = |&(at, piece): &(usize, &Piece)| {
        piece.has(flag::COUNTS) && !piece.is_content() && !(piece.has(flag::TO) && verb_follows(at))
    };
    let key = |(_, piece): (usize, &Piece)| match piece.entry.key {
        key if LOOSE.map(Term::new).contains(&key) => Term::new("may"),
        _ if piece.has(flag::AUXILIARY) => Term::new("must"),
        key => key,
    };
    let mut keys: Vec<Term> = pieces.iter().enumerate().filter(counts).map(key).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Return a hash of the text but for case, white space and the marks at its end.
fn fingerprint(text: &str) -> u64 {
    let mut hasher = FxHasher::default();
    let text = text.trim().trim_end_matches(['.', '。', '!', '！', ' ', ';']);
    let mut is_behind_space = false;
    // Case matters in paths and in code.
    let has_code = text.contains(['/', '\\', '`']);
    for c in text.chars() {
        if c.is_whitespace() {
            is_behind_space = true;
            continue;
        }
        if std::mem::take(&mut is_behind_space) {
            hasher.write_u32(u32::from(' '));
        }
        if has_code {
            hasher.write_u32(u32::from(c));
        } else {
            c.to_lowercase().for_each(|c| hasher.write_u32(u32::from(c)));
        }
    }
    hasher.finish()
}

/// Return the key of an English word.
pub(super) fn key_of(word: &str) -> Term {
    Term::new(&stem(word))
}

/// Call `see` with the key of every word of a text that may be one of a statement's words, faster than it is parsed.
pub(in crate::facts) fn for_each_word(text: &str, mut see: impl FnMut(Term)) {
    const SILENT: u32 = flag::FILLER | flag::LIGHT;
    if text.contains(is_cjk) {
        return Statement::read(text).words().for_each(see);
    }
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let small = word.to_lowercase();
        match Lexicon::get().word(&small) {
            Some(entry) if entry.class == 0 && entry.flags & SILENT != 0 => {}
            Some(entry) => see(entry.key),
            None => see(Term::new(&stem(&small))),
        }
    }
}
