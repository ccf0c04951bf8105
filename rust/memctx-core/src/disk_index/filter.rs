//! Filter over passages.

use rustc_hash::FxHashSet;

use super::passage::{Passage, role, seconds, session, topic};
use crate::store::{SearchFilter, Segment};

/// A request's conditions, as hashes. It admits too much where two names share one, never too little: what was read is
/// tested again, by its names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    pub(super) session: Option<u32>,
    pub(super) roles: Option<Vec<u32>>,
    /// In milliseconds since 1970, both included.
    pub(super) since: Option<f64>,
    pub(super) until: Option<f64>,
    /// One bit for each topic that will do.
    pub(super) topics: Option<u32>,
    /// Rows that are not wanted.
    pub(super) hidden: FxHashSet<u32>,
    /// The session in words.
    exact: Option<String>,
}

impl Filter {
    /// Hash the conditions of a filter; `own` is the only session that may be read, if there is such a one.
    pub(crate) fn new(filter: &SearchFilter, own: Option<&str>) -> Self {
        let exact = own.or(filter.session.as_deref()).map(str::to_owned);
        let roles = filter.roles.as_ref();
        let topics = filter.topics.as_ref();
        Self {
            session: exact.as_deref().map(session),
            roles: roles.map(|roles| roles.iter().map(|text| role(text)).collect()),
            since: filter.since,
            until: filter.until,
            topics: topics.map(|topics| topics.iter().fold(0, |all, text| all | topic(text))),
            hidden: FxHashSet::default(),
            exact,
        }
    }

    /// Leave out some rows.
    pub(crate) fn hide(&mut self, rows: impl IntoIterator<Item = u32>) {
        self.hidden.extend(rows);
    }

    /// Return whether it admits everything.
    pub(super) fn is_open(&self) -> bool {
        let Self { session, roles, since, until, topics, hidden, .. } = self;
        let is_any = session.is_none() && roles.is_none() && since.is_none() && until.is_none() && topics.is_none();
        is_any && hidden.is_empty()
    }

    /// Return whether the passage of a row may be one that is wanted.
    pub(super) fn admits(&self, row: u32, passage: &Passage) -> bool {
        !self.hidden.contains(&row)
            && self.session.is_none_or(|session| session == passage.session)
            && self.roles.as_ref().is_none_or(|roles| roles.contains(&passage.role()))
            && self.topics.is_none_or(|topics| topics & passage.marks != 0)
            && self.since.is_none_or(|since| passage.seconds >= seconds(since))
            && self.until.is_none_or(|until| passage.seconds <= seconds(until))
    }

    /// Return whether a segment is of a session that may be read.
    pub(crate) fn admits_session(&self, segment: &Segment) -> bool {
        self.exact.as_ref().is_none_or(|session| *session == segment.session)
    }
}
