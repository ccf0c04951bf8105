//! Index of all visible facts and their earlier states, in memory.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::BuildHasher as _;

use rustc_hash::{FxHashMap, FxHashSet};
use sha2::{Digest as _, Sha256};

use super::families::Families;
use super::kind::Kind;
use super::settings::Settings;
use crate::Result;
use crate::bm25::Texts;
use crate::store::Fact;
use crate::text::trim_js;

/// Texts that hold no more are kept in the index until they are this many more than those that do.
const SLACK: usize = 1024;

/// The facts of one session or of all.
#[derive(Debug)]
pub(super) struct Index {
    /// The only session that is seen, unless all are.
    session: Option<String>,
    /// Every state of every fact, in the order of the log; one that came again is here as often.
    states: Vec<Fact>,
    entries: Vec<Entry>,
    ids: HashMap<Box<str>, u32>,
    /// Hashes of the ids of facts that are not seen, so that none is given out twice.
    foreign: FxHashSet<u64>,
    /// The active facts by the digest of what they say.
    duplicates: FxHashMap<u64, Vec<u32>>,
    /// Text index of the active facts.
    texts: Texts,
    families: Families,
    /// The facts that texts belong to, by the number of the text.
    owners: Vec<Owner>,
}

/// Fact of a text, with the fields that a search reads, in the order of the texts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner {
    /// The fact.
    pub(super) number: u32,
    kind: Option<Kind>,
    /// Tie-breaker among facts of the same score.
    pub(super) age: Age,
    /// True if the fact still has this text.
    is_live: bool,
}

impl Owner {
    /// Return whether it may be found where only some kinds are asked for.
    pub(super) fn is_of(&self, kinds: Option<&[Kind]>) -> bool {
        kinds.is_none_or(|kinds| self.kind.is_some_and(|kind| kinds.contains(&kind)))
    }
}

/// Age of a fact; newer is greater.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Age {
    timestamp: f64,
    /// Number of the state among all states.
    pub(super) state: u32,
}

impl Age {
    fn of(fact: &Fact, state: u32) -> Self {
        // Who does not say when is taken for old.
        Self { timestamp: fact.timestamp.unwrap_or(f64::NEG_INFINITY), state }
    }
}

impl Eq for Age {}

impl Ord for Age {
    fn cmp(&self, other: &Self) -> Ordering {
        self.timestamp.total_cmp(&other.timestamp).then(self.state.cmp(&other.state))
    }
}

impl PartialOrd for Age {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A fact.
#[derive(Debug, Default)]
struct Entry {
    /// Its states, oldest first; never empty once it is in the index.
    states: Vec<u32>,
    /// The text that is searched while the fact is active, and its digest.
    text: Option<(u32, u64)>,
}

/// Return the first eight bytes of the SHA-256 of a content in lower case, by which OpenClaw detects duplicates.
pub(super) fn digest(content: &str) -> u64 {
    let whole = Sha256::digest(trim_js(content).to_lowercase().as_bytes());
    whole.first_chunk().map_or(0, |half| u64::from_be_bytes(*half))
}

impl Index {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            session: (!settings.cross_session).then(|| settings.session.clone()),
            states: Vec::new(),
            entries: Vec::new(),
            ids: HashMap::new(),
            foreign: FxHashSet::default(),
            duplicates: FxHashMap::default(),
            texts: Texts::default(),
            families: Families::default(),
            owners: Vec::new(),
        }
    }

    /// Take in the next state of a fact, if it may be seen. An earlier state that comes again is no further state: it
    /// becomes the newest.
    pub(super) fn take(&mut self, mut fact: Fact) -> Result<()> {
        let known = self.ids.get(&*fact.id).copied();
        if fact.session.is_none() {
            // The program that wrote this has no sessions: the fact stays where it is.
            fact.session = known.and_then(|number| self.fact(number).session.clone());
        }
        if self.session.is_some() && self.session != fact.session {
            self.foreign.insert(self.ids.hasher().hash_one(&*fact.id));
            return Ok(());
        }
        if let Some(number) = known
            && let Some(at) = self.earlier(number, &fact)
        {
            if at + 1 == self.entries[number as usize].states.len() {
                return Ok(());
            }
            // Its number stays behind: the age of the newest state is that of its last line.
            self.entries[number as usize].states.remove(at);
        }
        // Of a state that came again, too, this is a number that the fact has not had.
        fact.revision = known.map_or(0, |number| self.fact(number).revision + 1);
        let text = if fact.is_active() {
            let words = words_of(&fact);
            self.families.add(&words, self.texts.mode());
            Some((self.texts.push(&words)?, digest(&fact.content)))
        } else {
            None
        };
        let number = known.unwrap_or(self.entries.len() as u32);
        if known.is_none() {
            self.entries.push(Entry::default());
            self.ids.insert(fact.id.as_str().into(), number);
        }
        let state = self.states.len() as u32;
        let entry = &mut self.entries[number as usize];
        entry.states.push(state);
        if let Some((old, digest)) = std::mem::replace(&mut entry.text, text) {
            self.texts.remove(old);
            self.owners[old as usize].is_live = false;
            self.part(digest, number);
        }
        if let Some((_, digest)) = text {
            let (kind, age) = (Kind::parse(&fact.kind).ok(), Age::of(&fact, state));
            self.owners.push(Owner { number, kind, age, is_live: true });
            self.duplicates.entry(digest).or_default().push(number);
        }
        self.states.push(fact);
        self.tidy();
        Ok(())
    }

    /// Return the index of a state among those of a fact, if it has been that before.
    fn earlier(&self, number: u32, fact: &Fact) -> Option<usize> {
        self.states(number).position(|state| {
            state.timestamp == fact.timestamp && Fact { revision: fact.revision, ..state.clone() } == *fact
        })
    }

    fn part(&mut self, digest: u64, number: u32) {
        if let Some(duplicates) = self.duplicates.get_mut(&digest) {
            duplicates.retain(|&duplicate| duplicate != number);
            if duplicates.is_empty() {
                self.duplicates.remove(&digest);
            }
        }
    }

    /// Drop texts that hold no more once they are many.
    fn tidy(&mut self) {
        let live = self.active();
        if self.texts.span() <= 2 * live + SLACK {
            return;
        }
        let mut numbers = vec![None; self.texts.span()];
        let mut owners = Vec::with_capacity(live);
        let kept = self.owners.iter().zip(&mut numbers).filter(|(owner, _)| owner.is_live);
        for ((&owner, number), next) in kept.zip(0..) {
            if let Some((text, _)) = &mut self.entries[owner.number as usize].text {
                *text = next;
            }
            *number = Some(next);
            owners.push(owner);
        }
        self.texts = self.texts.renumbered(&numbers);
        self.owners = owners;
    }

    /// Return the number of the fact of an id.
    pub(super) fn find(&self, id: &str) -> Option<u32> {
        self.ids.get(id).copied()
    }

    /// Return whether an id stands for a fact already, one that may be seen or not.
    pub(super) fn has_id(&self, id: &str) -> bool {
        self.ids.contains_key(id) || self.foreign.contains(&self.ids.hasher().hash_one(id))
    }

    /// Return a fact as it is now.
    pub(super) fn fact(&self, number: u32) -> &Fact {
        let states = &self.entries[number as usize].states;
        &self.states[states[states.len() - 1] as usize]
    }

    /// Return a fact as it was and is, oldest first.
    pub(super) fn states(&self, number: u32) -> impl Iterator<Item = &Fact> {
        self.entries[number as usize].states.iter().map(|&state| &self.states[state as usize])
    }

    /// Return the active facts with this content.
    pub(super) fn duplicates(&self, digest: u64) -> impl Iterator<Item = &Fact> {
        self.duplicates.get(&digest).into_iter().flatten().map(|&number| self.fact(number))
    }

    /// Return the numbers of all facts.
    pub(super) fn numbers(&self) -> std::ops::Range<u32> {
        0..self.entries.len() as u32
    }

    /// Return the age of a fact. A supersession does not make it newer.
    pub(super) fn age_of(&self, number: u32) -> Age {
        let (now, states) = (self.fact(number), &self.entries[number as usize].states);
        let is_same = |fact: &Fact| fact.timestamp == now.timestamp && fact.content == now.content;
        let since = states.iter().copied().rev().take_while(|&state| is_same(&self.states[state as usize])).last();
        Age::of(now, since.unwrap_or_default())
    }

    /// Return the text index of the active facts, which has its own numbers.
    pub(super) fn texts(&self) -> &Texts {
        &self.texts
    }

    /// Return the words of all facts by their families.
    pub(super) fn families(&self) -> &Families {
        &self.families
    }

    /// Return the fact that a text belongs to, if it still says that.
    pub(super) fn owner(&self, text: u32) -> Option<&Owner> {
        self.owners.get(text as usize).filter(|owner| owner.is_live)
    }

    /// Facts that hold.
    pub(super) fn active(&self) -> usize {
        self.texts.statistics().documents
    }

    /// States of facts.
    pub(super) fn span(&self) -> usize {
        self.entries.iter().map(|entry| entry.states.len()).sum()
    }
}

/// Return the text of a fact that is searched.
fn words_of(fact: &Fact) -> String {
    match &fact.context {
        Some(context) => format!("{}\n{context}", fact.content),
        None => fact.content.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_equals_openclaw_s() {
        // sha256 of "use redis", of nothing, and of "端口 é".
        assert_eq!(digest("\u{FEFF} Use Redis\n"), 0x486D_7C79_80AC_098C);
        assert_eq!(digest(" "), 0xE3B0_C442_98FC_1C14);
        assert_eq!(digest("端口 É"), 0x47CF_F9F0_530E_67ED);
    }
}
