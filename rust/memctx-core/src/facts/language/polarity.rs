//! Polarity: the parts of a statement that hold, and those that do not or no longer.

use std::sync::LazyLock;

use super::lexicon::{Entry, class, flag};
use super::statement::{Piece, Side, key_of};
use crate::text::Term;

/// The states that have an opposite, which is written as their negation.
static STATES: LazyLock<[Term; 8]> =
    LazyLock::new(|| ["enable", "public", "require", "sync", "allow", "include", "accept", "true"].map(key_of));

/// Return whether a word is a state that has an opposite.
pub(super) fn is_state(key: Term) -> bool {
    STATES.contains(&key)
}

/// Find out for each piece which part of its clause it stands in and whether it is said to hold.
pub(super) fn mark(pieces: &mut [Piece]) {
    for clause in pieces.split_inclusive_mut(|piece| piece.has(flag::BREAK)) {
        if let Some(start) = (0..clause.len()).find(|&at| begins_reason(clause, at)) {
            clause[start..].iter_mut().for_each(|piece| piece.is_aside = true);
        }
        mark_switched_on(clause);
        mark_sides(clause);
        mark_negations(clause);
    }
}

/// Return whether a piece begins a reason; "due" does so before "to" only.
fn begins_reason(clause: &[Piece], at: usize) -> bool {
    let is_due = clause[at].entry.key == Term::new("due");
    clause[at].has(flag::REASON) && (!is_due || clause.get(at + 1).is_some_and(|next| next.has(flag::TO)))
}

/// "It is on", "turn it on": elsewhere the word says nothing.
fn mark_switched_on(clause: &mut [Piece]) {
    let end = clause.iter().rposition(|piece| !piece.has(flag::BREAK)).map_or(0, |last| last + 1);
    let turns = clause.iter().any(|piece| piece.entry.key == Term::new("turn"));
    if let [.., before, on] = &mut clause[..end]
        && on.entry.key == Term::new("on")
        && (turns || before.has(flag::PIVOT) && before.has(flag::FILLER))
    {
        on.entry = Entry { key: key_of("enable"), flags: 0, class: 0 };
    }
}

fn mark_sides(clause: &mut [Piece]) {
    let pivot = pivot_of(clause);
    let has_subject = pivot.is_some_and(|at| clause[..at].iter().any(Piece::is_content));
    let inverts = pivot.is_some_and(|at| inverts(clause, at));
    let uses = clause.iter().any(|piece| piece.has(flag::USE));
    let mut side = if has_subject && !inverts { Side::Subject } else { Side::Object };
    for (at, piece) in clause.iter_mut().enumerate() {
        if Some(at) == pivot {
            side = if inverts { Side::Subject } else { Side::Object };
        } else if piece.has(flag::QUALIFY) || uses && at > 1 && piece.has(flag::TO) && !piece.has(flag::PIVOT) {
            side = Side::Qualifier;
        }
        piece.side = side;
    }
    if let Some(at) = pivot.filter(|_| inverts) {
        let mut names = clause[..at].iter_mut().filter(|piece| piece.is_content());
        if let (Some(name), None) = (names.next(), names.next())
            && name.entry.class == 0
            && name.may_be_name
        {
            name.entry.class = class::NAME;
        }
    }
}

/// Return the verb of a clause: "is" before "uses" before words that may be nouns as well.
fn pivot_of(clause: &[Piece]) -> Option<usize> {
    let index_of =
        |flags: u32| clause.iter().position(|piece| piece.has(flag::PIVOT) && piece.has(flags) && !piece.is_aside);
    let has_before = |&at: &usize| clause[..at].iter().any(Piece::is_content);
    index_of(flag::FILLER).or_else(|| index_of(flag::LIGHT)).or_else(|| index_of(flag::PIVOT).filter(has_before))
}

/// Return whether the subject is the answer: "Redis is used for caching", "main is the default branch", "Alice owns
/// it".
fn inverts(clause: &[Piece], pivot: usize) -> bool {
    let (before, after) = (&clause[..pivot], &clause[pivot + 1..]);
    let mut subject = before.iter().filter(|piece| piece.is_content());
    let (Some(first), None) = (subject.next(), subject.next()) else { return false };
    if clause[pivot].has(flag::INVERTS) || clause[pivot].entry.key == key_of("own") {
        return true;
    }
    let is_named = first.entry.class & !class::ALWAYS != 0;
    let (the, our, what, r#where) = (Term::new("the"), Term::new("our"), Term::new("what"), Term::new("where"));
    let next = after.first().map(|piece| (piece.entry.key, piece.entry.flags));
    (is_named || first.may_be_name && first.entry.class == 0)
        && clause[pivot].has(flag::FILLER)
        && next.is_some_and(|(key, flags)| [the, our, what, r#where].contains(&key) || flags & flag::USE != 0)
}

fn mark_negations(clause: &mut [Piece]) {
    let changes = clause.iter().any(|piece| piece.has(flag::CHANGE));
    let first = clause.iter().position(Piece::is_content).unwrap_or(clause.len());
    let last = clause.iter().rposition(Piece::is_content).unwrap_or(0);
    let (mut is_all_turned, mut is_rest_turned) = (false, false);
    for at in 0..clause.len() {
        clause[at].is_negated ^= is_rest_turned;
        let piece = clause[at];
        if piece.has(flag::NEGATES) && !is_only_next(clause, at) {
            let is_local = first < at && at < last && is_local(clause, at);
            is_rest_turned ^= is_local;
            is_all_turned ^= !is_local;
        }
        is_rest_turned ^= piece.has(flag::WITHOUT);
        if piece.has(flag::INSTEAD) || is_over(clause, at) {
            toggle_first_value(&mut clause[at + 1..]);
        }
        if piece.has(flag::NOT_BEFORE) || piece.has(flag::FROM_BEFORE) && changes {
            toggle_last(&mut clause[..at]);
        }
        if piece.has(flag::FROM) && changes {
            let end =
                clause[at + 1..].iter().position(|piece| piece.has(flag::TO)).map_or(clause.len(), |to| at + 1 + to);
            toggle(&mut clause[at + 1..end]);
        }
        if piece.has(flag::SWAP) {
            mark_swap(clause, at);
        }
    }
    if is_all_turned {
        toggle(clause);
    }
}

/// "replaced Kafka with NATS", "`getUser` was renamed to `fetchUser`".
fn mark_swap(clause: &mut [Piece], at: usize) {
    if clause[at + 1..].iter().any(|piece| piece.has(flag::FROM)) {
        return;
    }
    let (with, by) = (Term::new("with"), Term::new("by"));
    let end = clause[at + 1..].iter().position(|piece| piece.has(flag::TO) || piece.entry.key == with);
    let is_named = |piece: &Piece| piece.entry.class & !class::ALWAYS != 0;
    match end {
        Some(end) if clause[at + 1..at + 1 + end].iter().any(&is_named) => {
            toggle_first_value(&mut clause[at + 1..at + 1 + end]);
        }
        Some(_) => clause[..at].iter_mut().filter(|piece| is_named(piece)).for_each(flip),
        None if clause[at + 1..].first().is_some_and(|piece| piece.entry.key == by) => toggle(&mut clause[..at]),
        None => {}
    }
}

/// "prefer fetch over axios".
fn is_over(clause: &[Piece], at: usize) -> bool {
    let [over, prefer, choose] = ["over", "prefer", "choose"].map(key_of);
    let prefers = |piece: &Piece| [prefer, choose].contains(&piece.entry.key);
    (clause[at].entry.key == over || clause[at].entry.key == Term::new("above")) && clause[..at].iter().any(prefers)
}

/// "not only" does not negate.
fn is_only_next(clause: &[Piece], at: usize) -> bool {
    clause.get(at + 1).is_some_and(|next| next.entry.key == Term::new("only"))
}

/// Return whether a negation is about what follows only, the word before being none that it belongs to: "use pnpm not
/// npm".
fn is_local(clause: &[Piece], at: usize) -> bool {
    let is_bare = clause[at].entry.key == Term::new("not");
    is_bare && at > 0 && !clause[at - 1].has(flag::AUXILIARY | flag::PIVOT | flag::FILLER)
}

fn flip(piece: &mut Piece) {
    piece.is_negated = !piece.is_negated;
}

fn toggle(pieces: &mut [Piece]) {
    pieces.iter_mut().for_each(flip);
}

/// Negate up to the first name or value, or all if there is none.
fn toggle_first_value(pieces: &mut [Piece]) {
    let end = pieces.iter().position(|piece| piece.entry.class != 0).map_or(pieces.len(), |at| at + 1);
    toggle(&mut pieces[..end]);
}

/// Negate the last word that says something.
fn toggle_last(pieces: &mut [Piece]) {
    if let Some(piece) = pieces.iter_mut().rev().find(|piece| piece.is_content()) {
        flip(piece);
    }
}
