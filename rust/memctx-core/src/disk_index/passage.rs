//! Fixed-size records of a passage.

use crate::ingest::built_in_topics;
use crate::store::Segment;

/// Conditions that a search tests of a passage, and where its segment is; held in memory. Names are kept as hashes and times in
/// seconds, so a test may let too much pass: the segment's line is read before anything is shown.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct Passage {
    /// Offset of the segment's line in the log.
    pub(super) line: u64,
    /// Length of the line without its end.
    pub(super) bytes: u32,
    pub(super) session: u32,
    pub(super) seconds: u32,
    /// One of the lower 24 bits for each topic; above them the role.
    pub(super) marks: u32,
}

/// Bits of the marks that stand for topics.
const TOPICS: u32 = 24;

impl Passage {
    /// Return the role's hash.
    pub(super) fn role(&self) -> u32 {
        self.marks >> TOPICS
    }
}

/// The rest of it, which is read once a passage has been found.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct Piece {
    /// The segment's id within its session.
    pub(super) key: u64,
    /// Offset of the vector's entry in `vectors.bin`, or 0.
    pub(super) vector: u64,
    /// The piece of the content, in bytes.
    pub(super) start: u32,
    pub(super) end: u32,
    /// Index of the piece within its segment.
    pub(super) number: u32,
    pub(super) unused: u32,
}

/// Return the hash of a name.
pub(super) fn name(text: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(text.as_bytes())
}

/// Return the hash of a segment: its id within its session.
pub(super) fn key(session: &str, id: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64_with_seed(id.as_bytes(), name(session))
}

/// Return the hash of a session.
pub(super) fn session(text: &str) -> u32 {
    name(text) as u32
}

/// Return the bit of a topic: one of its own if it is built in, else one that it may share with others.
pub(super) fn topic(text: &str) -> u32 {
    let (text, built_in) = (text.to_lowercase(), built_in_topics().len() as u32);
    let own = (0..).zip(built_in_topics()).find(|&(_, known)| known == text).map(|(bit, _)| bit);
    1 << own.unwrap_or_else(|| built_in + (name(&text) % u64::from(TOPICS - built_in)) as u32)
}

/// Return the hash of a role, which fits above the topics.
pub(super) fn role(text: &str) -> u32 {
    (name(text) >> 56) as u32
}

/// Return the marks of a segment.
pub(super) fn marks(segment: &Segment) -> u32 {
    let topics = segment.topics().iter().fold(0, |all, text| all | topic(text));
    topics | role(&segment.role) << TOPICS
}

/// Return a time in seconds, rounded down, of one in milliseconds since 1970.
#[allow(clippy::cast_sign_loss)] // not negative any more
pub(super) fn seconds(milliseconds: f64) -> u32 {
    // What is before 1970 counts as then.
    (milliseconds / 1000.0).max(0.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_topics_are_told_apart() {
        let all = built_in_topics().fold(0, |all, name| all | topic(name));
        assert_eq!(all.count_ones() as usize, built_in_topics().len());
        assert_eq!(topic("Travel"), topic("travel"));
        assert!(topic("deploy") & all == 0 && topic("deploy") < 1 << TOPICS);
    }

    #[test]
    fn roles_that_occur_are_told_apart() {
        let mut roles: Vec<u32> =
            ["user", "assistant", "tool", "system", "developer", "toolResult", "function", "model"].map(role).to_vec();
        let count = roles.len();
        roles.sort_unstable();
        roles.dedup();
        assert!(roles.len() == count && roles.iter().all(|role| *role < 256));
    }
}
