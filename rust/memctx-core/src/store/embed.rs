//! Vectors for what is stored and for what is asked.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

use super::passage::passages;
use super::vectors::{Saved, Stamp};
use super::warm::Draft;
use crate::vector::HashEmbedder;

/// Length of the vectors.
pub(crate) const DIM: usize = 384;
/// Characters of a query that its vector is made of.
const QUERY: usize = 2000;
/// Drafts that take longer than starting a thread.
const WORTH_A_THREAD: usize = 32;

/// Who makes the vectors.
pub(super) fn stamp() -> Stamp {
    Stamp { model: HashEmbedder::NAME.to_owned(), revision: 1, dim: DIM }
}

/// Give drafts the vectors of their passages, from disk where they are there.
pub(super) fn embed(drafts: &mut [Draft], saved: &Saved) {
    if drafts.len() < WORTH_A_THREAD {
        return embed_each(drafts, saved);
    }
    let (left, right) = drafts.split_at_mut(drafts.len() / 2);
    let right = Mutex::new(right);
    let embed_right = || embed_each(&mut right.lock().unwrap_or_else(PoisonError::into_inner), saved);
    thread::scope(|scope| {
        let other = thread::Builder::new().spawn_scoped(scope, embed_right);
        embed_each(left, saved);
        if other.is_err() {
            embed_right();
        }
    });
}

fn embed_each(drafts: &mut [Draft], saved: &Saved) {
    for draft in drafts {
        let pieces = passages(&draft.segment.content);
        if let Some(vectors) = saved.of(&draft.segment.id, pieces.len()) {
            (draft.vectors, draft.is_saved) = (vectors, true);
            continue;
        }
        draft.vectors = vec![0.0; pieces.len() * DIM];
        for (piece, vector) in pieces.into_iter().zip(draft.vectors.chunks_exact_mut(DIM)) {
            embedder().embed(&draft.segment.content[piece], vector);
        }
    }
}

/// The vector of a text.
#[cfg(feature = "cold")]
pub(crate) fn text(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0; DIM];
    embedder().embed(text, &mut vector);
    vector
}

/// The vector of a query; none if nothing in it counts.
pub(super) fn query(text: &str) -> Option<[f32; DIM]> {
    let mut vector = [0.0; DIM];
    let text = text.char_indices().nth(QUERY).map_or(text, |(end, _)| &text[..end]);
    embedder().embed(text, &mut vector);
    vector.iter().any(|value| *value != 0.0).then_some(vector)
}

/// One for the process: it remembers what it has seen.
fn embedder() -> &'static HashEmbedder {
    static EMBEDDER: OnceLock<HashEmbedder> = OnceLock::new();
    EMBEDDER.get_or_init(|| HashEmbedder::new(DIM).expect("a length that is allowed"))
}
