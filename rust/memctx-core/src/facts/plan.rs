//! Plan: the changes to known facts that new statements require.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::language::{Comparison, Relation, Statement};
use crate::{Error, Result};

/// Effect of a candidate fact on the known facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It becomes a fact of its own.
    Add,
    /// It takes the place of a fact's words.
    Update,
    /// It becomes a fact, and another one no longer holds.
    Supersede,
    /// It changes nothing.
    Nothing,
    /// A fact no longer holds.
    Delete,
}

impl Action {
    /// Return the action of that name.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "add" => Ok(Self::Add),
            "update" => Ok(Self::Update),
            "supersede" => Ok(Self::Supersede),
            "none" => Ok(Self::Nothing),
            "delete" => Ok(Self::Delete),
            _ => Err(Error::argument(
                "action",
                "\"add\", \"update\", \"supersede\", \"none\" or \"delete\"",
                format!("{name:?}"),
            )),
        }
    }

    /// Return the name that [`Action::parse`] takes.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Update => "update",
            Self::Supersede => "supersede",
            Self::Nothing => "none",
            Self::Delete => "delete",
        }
    }
}

/// A statement that may become a fact.
#[derive(Clone, Copy, Debug)]
pub struct Draft<'a> {
    /// The id it will have as a fact of its own.
    pub id: &'a str,
    /// Content of the candidate.
    pub content: &'a str,
    /// Action that the extractor proposed.
    pub action: Option<Action>,
    /// The fact that the action is about.
    pub target: Option<&'a str>,
}

/// A fact that holds.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// Its id.
    pub id: &'a str,
    /// Content of the fact.
    pub content: &'a str,
}

/// Step of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Op {
    /// Action to take.
    pub action: Action,
    /// The fact that it is done to, or that says the same already.
    pub target: Option<String>,
    /// Reason for it.
    pub reason: Cow<'static, str>,
    /// Reason why the extractor's proposal was overruled; `None` if it was followed, or if there was none.
    pub degraded: Option<Cow<'static, str>>,
}

/// Plan the step for each candidate, given the known facts; a later candidate sees the effect of the earlier ones.
///
/// ```
/// use memctx_core::facts::{Action, Draft, Known, plan};
///
/// let known = [Known { id: "a", content: "The port is 3000" }];
/// let draft = Draft { id: "b", content: "The port is 8080", action: None, target: None };
/// let ops = plan(&[draft], &known, false);
/// assert_eq!((ops[0].action, ops[0].target.as_deref()), (Action::Supersede, Some("a")));
/// ```
#[must_use]
pub fn plan(drafts: &[Draft<'_>], known: &[Known<'_>], allow_delete: bool) -> Vec<Op> {
    let mut facts = Facts::new(known);
    drafts
        .iter()
        .map(|draft| {
            let statement = Statement::read(draft.content);
            let op = decide(draft, &statement, &facts, allow_delete);
            facts.apply(&op, draft.id, statement);
            op
        })
        .collect()
}

/// The facts that hold, as far as the drafts have been seen.
struct Facts {
    list: Vec<Option<(String, Statement)>>,
    indices: FxHashMap<String, usize>,
    /// Successor of each superseded fact, by id.
    heirs: FxHashMap<String, String>,
}

/// Verdict of the rules, without the extractor's proposal.
struct Verdict {
    action: Action,
    target: Option<usize>,
    reason: &'static str,
}

const ADDED: Verdict = Verdict { action: Action::Add, target: None, reason: "no stored fact is about it" };

impl Facts {
    fn new(known: &[Known<'_>]) -> Self {
        let mut facts = Self { list: Vec::new(), indices: FxHashMap::default(), heirs: FxHashMap::default() };
        for fact in known {
            facts.put(fact.id, Statement::read(fact.content));
        }
        facts
    }

    fn put(&mut self, id: &str, statement: Statement) {
        if let Some(former) = self.indices.insert(id.to_owned(), self.list.len()) {
            self.list[former] = None;
        }
        self.list.push(Some((id.to_owned(), statement)));
    }

    fn apply(&mut self, op: &Op, id: &str, statement: Statement) {
        let Some(target) = op.target.as_deref() else {
            if op.action == Action::Add {
                self.put(id, statement);
            }
            return;
        };
        match op.action {
            Action::Nothing | Action::Add => {}
            Action::Update => {
                if let Some(index) = self.find(target)
                    && let Some((_, known)) = &mut self.list[index]
                {
                    *known = statement;
                    // The draft never becomes a fact of its own; references to it refer to the fact it was merged into.
                    self.heirs.insert(id.to_owned(), target.to_owned());
                }
            }
            Action::Supersede | Action::Delete => {
                if let Some(index) = self.indices.remove(target) {
                    self.list[index] = None;
                }
                if op.action == Action::Supersede {
                    self.put(id, statement);
                    self.heirs.insert(target.to_owned(), id.to_owned());
                }
            }
        }
    }

    /// Return the index of the fact of that id, or of its successor.
    fn find(&self, id: &str) -> Option<usize> {
        // No chain is longer than there are heirs.
        let ids = std::iter::successors(Some(id), |id| self.heirs.get(*id).map(String::as_str));
        ids.take(self.heirs.len() + 1).find_map(|id| self.indices.get(id).copied())
    }

    fn id(&self, index: usize) -> Option<&str> {
        self.list[index].as_ref().map(|(id, _)| &**id)
    }

    fn compare<'s>(&'s self, index: usize, new: &'s Statement) -> Option<Comparison<'s>> {
        self.list[index].as_ref().map(|(_, old)| Comparison::new(old, new))
    }

    /// Return the verdict of the rules: the nearest of the facts that are the same, contradicted or refined.
    fn verdict(&self, new: &Statement) -> Verdict {
        let mut best: Option<(u8, f64, usize, bool)> = None;
        let mut is_tie = false;
        for index in 0..self.list.len() {
            let Some(comparison) = self.compare(index, new) else { continue };
            let rank = match comparison.relation() {
                Relation::Same => 3,
                Relation::Changed => 2,
                Relation::Refined => 1,
                Relation::Apart => continue,
            };
            let overlap = comparison.overlap();
            let vague = rank == 2 && comparison.is_less_specific();
            match best {
                Some((other, least, _, was_vague)) if (other, least) == (rank, overlap) => {
                    is_tie |= vague && was_vague;
                    // The newer of two that are as near.
                    best = Some((rank, overlap, index, vague));
                }
                Some((other, least, ..)) if (other, least) > (rank, overlap) => {}
                _ => {
                    best = Some((rank, overlap, index, vague));
                    is_tie = false;
                }
            }
        }
        match best {
            Some((2, ..)) if is_tie => Verdict { reason: "it may contradict several stored facts; ambiguous", ..ADDED },
            Some((3, _, index, _)) => {
                Verdict { action: Action::Nothing, target: Some(index), reason: "already stored" }
            }
            Some((2, _, index, _)) => {
                Verdict { action: Action::Supersede, target: Some(index), reason: "contradicts the stored value" }
            }
            Some((_, _, index, _)) => {
                Verdict { action: Action::Update, target: Some(index), reason: "adds detail to the stored fact" }
            }
            None => ADDED,
        }
    }
}

const SAYS_SO: &str = "requested by the extractor";

fn decide(draft: &Draft<'_>, new: &Statement, facts: &Facts, allow_delete: bool) -> Op {
    if draft.content.trim().is_empty() {
        let degraded = draft.action.filter(|&action| action != Action::Nothing).map(|_| "the content is empty".into());
        return Op { action: Action::Nothing, target: None, reason: "the content is empty".into(), degraded };
    }
    let op = |verdict: Verdict, degraded: Option<Cow<'static, str>>| Op {
        action: verdict.action,
        target: verdict.target.and_then(|index| facts.id(index)).map(str::to_owned),
        reason: verdict.reason.into(),
        degraded,
    };
    let Some(action) = draft.action else { return op(facts.verdict(new), None) };
    let local = |why: Cow<'static, str>| op(facts.verdict(new), Some(why));
    if action == Action::Add {
        let verdict = facts.verdict(new);
        return match verdict.action {
            Action::Nothing => op(verdict, Some("add: already stored".into())),
            Action::Supersede => op(verdict, Some("add: contradicts a stored fact".into())),
            _ => op(Verdict { reason: SAYS_SO, ..ADDED }, None),
        };
    }
    let Some(target) = draft.target else { return without_target(action, facts.verdict(new), op) };
    let Some(index) = facts.find(target) else {
        return local(format!("{}: no fact has the id {target:?}", action.name()).into());
    };
    let Some(comparison) = facts.compare(index, new) else { return op(ADDED, None) };
    let relation = comparison.relation();
    let follow = |reason: &'static str| op(Verdict { action, target: Some(index), reason }, None);
    let instead = |action: Action, reason: &'static str, why: &'static str| {
        op(Verdict { action, target: Some(index), reason }, Some(why.into()))
    };
    match action {
        Action::Delete if !allow_delete => local("delete: not allowed".into()),
        _ if !comparison.is_related() => local(format!("{}: unrelated to {target:?}", action.name()).into()),
        Action::Delete => follow(SAYS_SO),
        Action::Nothing if relation == Relation::Same => follow("already stored"),
        Action::Nothing if relation == Relation::Changed => {
            instead(Action::Supersede, "contradicts the stored value", "none: a value or a negation differs")
        }
        Action::Nothing if comparison.keeps_new_values() => follow(SAYS_SO),
        Action::Nothing => local("none: it has a value that the stored fact lacks".into()),
        _ if relation == Relation::Same => {
            let why: Cow<'static, str> = format!("{}: already stored", action.name()).into();
            op(Verdict { action: Action::Nothing, target: Some(index), reason: "already stored" }, Some(why))
        }
        Action::Update if relation == Relation::Changed => {
            instead(Action::Supersede, "contradicts the stored value", "update: a value or a negation differs")
        }
        Action::Update if comparison.loses_value() => local("update: a value of the stored fact would be lost".into()),
        _ => follow(SAYS_SO),
    }
}

/// Decide an action that needs a target and names none: it is followed as far as the rules agree.
fn without_target(action: Action, verdict: Verdict, op: impl Fn(Verdict, Option<Cow<'static, str>>) -> Op) -> Op {
    let degraded = (verdict.action != action).then(|| format!("{}: no target is named", action.name()).into());
    op(verdict, degraded)
}
