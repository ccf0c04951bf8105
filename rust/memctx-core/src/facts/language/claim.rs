//! Claim of a statement: what it says, without the reason that follows.

use super::lexicon::{class, flag};
use super::statement::Piece;
use crate::text::Term;

/// Return the number of pieces before the reason; none if no reason follows.
///
/// "The port is 9443, the proxy took the old one": the first clause that says something of something is the claim, and
/// the clauses behind it are the reason, unless they go on with a list or say where the claim holds.
pub(super) fn end_of(pieces: &[Piece]) -> Option<usize> {
    let mut end = 0;
    let mut clauses = pieces.split_inclusive(|piece| piece.has(flag::BREAK)).peekable();
    while let Some(clause) = clauses.next() {
        if let Some(reason) = reason_in(clause).filter(|&at| is_complete(&clause[..at])) {
            return Some(end + reason);
        }
        end += clause.len();
        if is_complete(&pieces[..end]) && clauses.peek().is_some_and(|next| !continues(next)) {
            return Some(end);
        }
    }
    None
}

/// Return whether a text only says what something was changed to, and not what: "we switched to pnpm".
pub(super) fn is_switch(pieces: &[Piece]) -> bool {
    let has = |flags: u32| pieces.iter().any(|piece| piece.has(flags));
    has(flag::CHANGE) && has(flag::TO) && contents(pieces).all(|piece| piece.entry.class != 0)
}

/// Return where the reason begins inside of a clause: "as 18 is out of support".
fn reason_in(clause: &[Piece]) -> Option<usize> {
    let r#as = Term::new("as");
    let begins = |at: usize| {
        let (before, after) = clause.split_at(at);
        // "Use Redis as the cache" says what for.
        let names_role = before.iter().any(|piece| piece.has(flag::USE));
        let says_more = after.iter().any(|piece| piece.has(flag::PIVOT)) || contents(after).nth(1).is_some();
        !names_role && says_more && before.iter().any(is_answer)
    };
    clause.iter().enumerate().position(|(at, piece)| piece.is_aside || piece.entry.key == r#as && begins(at))
}

fn is_answer(piece: &Piece) -> bool {
    piece.entry.class & !class::UNIT != 0
}

fn contents(pieces: &[Piece]) -> impl Iterator<Item = &Piece> {
    pieces.iter().filter(|piece| piece.is_content())
}

/// Return whether pieces say something of something: a verb and what stands on both sides of it, or a value and a word.
fn is_complete(pieces: &[Piece]) -> bool {
    let verb = pieces.iter().position(|piece| piece.has(flag::PIVOT | flag::CHANGE));
    let answer = verb.and_then(|at| contents(&pieces[at + 1..]).next());
    let is_short = contents(pieces).nth(1).is_none();
    let is_value = |piece: &Piece| piece.entry.class != 0;
    answer.is_some_and(|answer| !is_short || is_value(answer))
        || contents(pieces).any(is_answer) && (!is_short || is_switch(pieces))
}

/// Return whether a clause goes on with what was said: more of a list, an exception, a place where it holds.
fn continues(clause: &[Piece]) -> bool {
    let has_verb = clause.iter().any(|piece| piece.has(flag::PIVOT));
    let first = clause.iter().find(|piece| !piece.has(flag::FILLER));
    let is_list = contents(clause).all(|piece| piece.entry.class != 0);
    first.is_some_and(|piece| piece.has(flag::WITHOUT | flag::QUALIFY | flag::INSTEAD))
        || !has_verb && (is_list || clause.iter().any(|piece| piece.has(flag::PLACE_OF_MANY)))
}
