//! Batch of changes for one append: each sees those before it, and memory sees none of them yet.

use std::collections::HashMap;

use super::change::{Change, Outcome};
use super::index::{Index, digest};
use super::kind::Kind;
use crate::store::Fact;
use crate::{Error, Result};

/// New states of facts.
#[derive(Debug)]
pub(super) struct Batch<'a> {
    index: &'a Index,
    session: &'a str,
    /// The states, in the order they will be written.
    pub(super) states: Vec<Fact>,
    /// Index into the states of each changed fact.
    changed: HashMap<String, usize>,
    /// Facts of this batch by the digest of what they said when they came.
    said: HashMap<u64, String>,
}

/// Content of a fact: masked, trimmed and dated.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    pub(super) content: String,
    pub(super) context: Option<String>,
    pub(super) sources: Vec<String>,
    pub(super) timestamp: f64,
}

/// Outcome of a change, with the fact that it now refers to.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) outcome: Outcome,
    pub(super) id: Option<String>,
}

impl Made {
    fn of(outcome: Outcome, id: impl Into<String>) -> Self {
        Self { outcome, id: Some(id.into()) }
    }

    fn missing() -> Self {
        Self { outcome: Outcome::Missing, id: None }
    }
}

impl<'a> Batch<'a> {
    pub(super) fn new(index: &'a Index, session: &'a str) -> Self {
        Self { index, session, states: Vec::new(), changed: HashMap::new(), said: HashMap::new() }
    }

    /// Make a change as far as what is known allows it.
    pub(super) fn make(&mut self, change: &Change<'_>, said: Said) -> Result<Made> {
        match *change {
            Change::Add { id, kind, .. } => self.add(id, kind.name(), said, Outcome::Done),
            Change::Update { target, .. } => self.update(target, said),
            Change::Supersede { target, id, kind, .. } => self.supersede(target, id, kind, said),
            Change::Delete { target } => Ok(self.delete(target)),
        }
    }

    /// Refuse a change of a fact that does not hold.
    pub(super) fn check(&self, target: &str) -> Result<()> {
        let fate = match self.current(target) {
            None => "which is not known here".to_owned(),
            Some(Fact { is_deleted: true, .. }) => "which was forgotten".to_owned(),
            Some(Fact { superseded_by: Some(by), .. }) => format!("which was superseded by {by:?}"),
            Some(_) => return Ok(()),
        };
        Err(Error::argument("id", "that of an active fact of this session", format!("{target:?}, {fate}")))
    }

    /// State something in this session, unless any fact that is seen says it.
    fn add(&mut self, id: Option<&str>, kind: &str, said: Said, outcome: Outcome) -> Result<Made> {
        match self.duplicate(digest(&said.content), |_| true) {
            Some(duplicate) => Ok(Made::of(Outcome::Duplicate, duplicate)),
            None => self.state(id, kind, said, Some(self.session.to_owned())).map(|id| Made::of(outcome, id)),
        }
    }

    /// Write a new fact. Gives its id.
    fn state(&mut self, id: Option<&str>, kind: &str, said: Said, session: Option<String>) -> Result<String> {
        let digest = digest(&said.content);
        let id = self.new_id(id)?;
        self.said.insert(digest, id.clone());
        self.write(Fact {
            id: id.clone(),
            kind: kind.to_owned(),
            content: said.content,
            context: said.context,
            timestamp: Some(said.timestamp),
            superseded_by: None,
            is_deleted: false,
            session,
            sources: said.sources,
            revision: 0,
        });
        Ok(id)
    }

    fn update(&mut self, target: &str, said: Said) -> Result<Made> {
        let Some(known) = self.current(target) else { return Ok(Made::missing()) };
        if !known.is_active() {
            let kind = known.kind.clone();
            return self.add(None, &kind, said, Outcome::Added);
        }
        let mut fact = known.clone();
        fact.content = said.content;
        fact.context = said.context.or(fact.context);
        for source in said.sources {
            if !fact.sources.contains(&source) {
                fact.sources.push(source);
            }
        }
        if fact == *known {
            return Ok(Made::of(Outcome::Duplicate, target));
        }
        fact.timestamp = Some(said.timestamp);
        self.said.insert(digest(&fact.content), fact.id.clone());
        self.write(fact);
        Ok(Made::of(Outcome::Done, target))
    }

    fn supersede(&mut self, target: &str, id: Option<&str>, kind: Kind, said: Said) -> Result<Made> {
        let Some(old) = self.current(target).filter(|fact| fact.is_active()).cloned() else {
            return self.add(id, kind.name(), said, Outcome::Added);
        };
        // A fact is replaced where it is: a session that saw the old one sees the new one.
        let session = old.session.clone();
        let new = match self.duplicate(digest(&said.content), |duplicate| duplicate.session == session) {
            Some(duplicate) if duplicate == target => return Ok(Made::of(Outcome::Duplicate, duplicate)),
            // It is known; then that fact takes the place of this one.
            Some(duplicate) => duplicate,
            None => self.state(id, kind.name(), said, session)?,
        };
        self.write(Fact { superseded_by: Some(new.clone()), ..old });
        Ok(Made::of(Outcome::Done, new))
    }

    fn delete(&mut self, target: &str) -> Made {
        match self.current(target).filter(|fact| fact.is_active()).cloned() {
            Some(fact) => {
                self.write(Fact { is_deleted: true, ..fact });
                Made::of(Outcome::Done, target)
            }
            None => Made::missing(),
        }
    }

    fn write(&mut self, fact: Fact) {
        self.changed.insert(fact.id.clone(), self.states.len());
        self.states.push(fact);
    }

    /// Return a fact as it will be after what came before.
    fn current(&self, id: &str) -> Option<&Fact> {
        let changed = self.changed.get(id).map(|&position| &self.states[position]);
        changed.or_else(|| self.index.find(id).map(|number| self.index.fact(number)))
    }

    /// Return an active fact with the same content, if it can be used.
    fn duplicate(&self, wanted: u64, will_do: impl Fn(&Fact) -> bool) -> Option<String> {
        let fresh = self.said.get(&wanted).and_then(|id| self.current(id));
        let fresh = fresh.filter(|fact| fact.is_active() && digest(&fact.content) == wanted && will_do(fact));
        let known = || self.index.duplicates(wanted).find(|fact| !self.changed.contains_key(&fact.id) && will_do(fact));
        fresh.or_else(known).map(|fact| fact.id.clone())
    }

    fn new_id(&self, id: Option<&str>) -> Result<String> {
        let Some(id) = id else { return Ok(uuid::Uuid::new_v4().to_string()) };
        if id.trim().is_empty() || self.changed.contains_key(id) || self.index.has_id(id) {
            return Err(Error::argument("id", "one that no fact has, and not blank", format!("{id:?}")));
        }
        Ok(id.to_owned())
    }
}
