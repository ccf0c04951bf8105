//! The terms of texts.

use std::ops::{Deref, Range};
use std::sync::Arc;

use crate::pages;
use crate::text::{Mode, Term, append_terms, terms_into};

/// What search sees in a text, in order and with repeats.
#[derive(Debug)]
pub(super) enum Terms {
    /// In just the space they take.
    Alone(Box<[Term]>),
    /// Side by side with those of the texts that were read with it: all stay for as long as one is held.
    Among(Arc<Vec<Term>>, Range<usize>),
}

impl Terms {
    /// Those of one text; `room` is what the last one was written to.
    pub(super) fn of(body: &str, room: &mut Vec<Term>) -> Self {
        terms_into(body, Mode::Memctx, room);
        Self::Alone(room.as_slice().into())
    }

    /// Those of many texts, in their order. To get a place for each would take half as long as to read them all.
    pub(super) fn of_all<'t>(bodies: impl Iterator<Item = &'t str> + Clone) -> impl Iterator<Item = Self> {
        /// Terms that there is room for from the beginning, in 32 megabytes at most; for more, room is made when it is needed.
        const MOST_AT_FIRST: usize = 1 << 22;
        // Hardly any text has more terms than bytes, and what is not written to is given back.
        let bytes: usize = bodies.clone().map(str::len).sum();
        let mut all = pages::with_room(bytes.min(MOST_AT_FIRST));
        let mut end = 0;
        let ranges: Vec<Range<usize>> = bodies
            .map(|body| {
                append_terms(body, Mode::Memctx, &mut all);
                let start = std::mem::replace(&mut end, all.len());
                start..end
            })
            .collect();
        all.shrink_to_fit();
        let all = Arc::new(all);
        ranges.into_iter().map(move |range| Self::Among(Arc::clone(&all), range))
    }
}

impl Deref for Terms {
    type Target = [Term];

    fn deref(&self) -> &[Term] {
        match self {
            Self::Alone(terms) => terms,
            Self::Among(all, range) => &all[range.clone()],
        }
    }
}
