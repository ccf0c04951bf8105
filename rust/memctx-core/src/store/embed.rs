//! Vectors for what is stored and for what is asked.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::log::vectors::Saved;
use super::model::Model;
use super::warm::entry::Standing;
use super::warm::passage::passages;
use super::warm::search::Request;
use super::warm::tier::Draft;
use crate::embed::PieceQuestion;
use crate::vector::check_finite;
use crate::{Error, Result};

/// Drafts that take longer than starting a thread.
const WORTH_A_THREAD: usize = 32;

/// Give drafts the vectors of their passages: from disk where they are there, else made now, else none yet.
pub(super) fn embed(drafts: &mut [Draft], model: &Model, saved: &Saved) {
    if drafts.len() < WORTH_A_THREAD || !model.is_instant() {
        return embed_each(drafts, model, saved);
    }
    let (left, right) = drafts.split_at_mut(drafts.len() / 2);
    let right = Mutex::new(right);
    let embed_right = || embed_each(&mut right.lock().unwrap_or_else(PoisonError::into_inner), model, saved);
    thread::scope(|scope| {
        let other = thread::Builder::new().spawn_scoped(scope, embed_right);
        embed_each(left, model, saved);
        if other.is_err() {
            embed_right();
        }
    });
}

fn embed_each(drafts: &mut [Draft], model: &Model, saved: &Saved) {
    for draft in drafts {
        let content = &draft.segment.content;
        let pieces = passages(content);
        if let Some(vectors) = saved.of(&draft.segment.id, pieces.len()) {
            (draft.vectors, draft.standing) = (vectors, Standing::SAVED);
            continue;
        }
        draft.standing = if model.is_instant() { Standing::UNSAVED } else { Standing::LACKING };
        draft.vectors = vec![0.0; pieces.len() * model.dim()];
        for (piece, vector) in pieces.into_iter().zip(draft.vectors.chunks_exact_mut(model.dim())) {
            model.embed(&content[piece], vector);
        }
    }
}

/// The vector of a query.
#[derive(Debug)]
pub(super) struct QueryVector<'a> {
    pub(super) values: Cow<'a, [f32]>,
    /// Compares it with texts, where the model can.
    pub(super) question: Option<PieceQuestion<'a>>,
}

/// The vector of a request: the one it brings, or one that is made now; none if nothing in it counts.
pub(super) fn query<'a>(request: &Request<'a>, model: &'a Model) -> Result<Option<QueryVector<'a>>> {
    let vector = match request.vector {
        Some(vector) if vector.len() != model.dim() => {
            return Err(Error::Dimension { expected: model.dim(), found: vector.len() });
        }
        Some(vector) => {
            check_finite(vector, model.dim())?;
            Some(QueryVector { values: Cow::Borrowed(vector), question: None })
        }
        None => {
            let made = model.query_vector(request.query);
            made.map(|values| QueryVector { values: Cow::Owned(values), question: model.question(request.query) })
        }
    };
    Ok(vector.filter(|vector| vector.values.iter().any(|value| *value != 0.0)))
}
