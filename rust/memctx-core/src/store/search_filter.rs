//! The filter of a search, or of a scan of the log.

use super::log::segment::Segment;

/// Conditions that every segment found must meet; the default admits all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchFilter {
    /// Only segments of this session.
    pub session: Option<String>,
    /// Only segments of one of these roles.
    pub roles: Option<Vec<String>>,
    /// Only segments not older than this, in milliseconds since 1970.
    pub since: Option<f64>,
    /// Only segments not newer than this.
    pub until: Option<f64>,
    /// Only segments about one of these topics, in any case.
    pub topics: Option<Vec<String>>,
}

impl SearchFilter {
    /// Return whether a segment meets all conditions.
    pub(crate) fn admits(&self, segment: &Segment) -> bool {
        self.session.as_ref().is_none_or(|session| *session == segment.session)
            && self.roles.as_ref().is_none_or(|roles| roles.contains(&segment.role))
            && self.since.is_none_or(|since| segment.timestamp >= since)
            && self.until.is_none_or(|until| segment.timestamp <= until)
            && self.topics.as_ref().is_none_or(|topics| is_about(segment, topics))
    }
}

fn is_about(segment: &Segment, topics: &[String]) -> bool {
    let own = segment.topics();
    topics.iter().any(|topic| own.iter().any(|own| own.to_lowercase() == topic.to_lowercase()))
}
