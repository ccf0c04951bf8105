//! Progress of the disk index.

/// Activity of the disk index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// There is nothing yet.
    #[default]
    Absent,
    /// It answers, and no thread of this process works on it.
    Ready,
    /// It is being filled by this process.
    Indexing,
    /// Its files are damaged; searches go on without it until it has been rebuilt.
    Unavailable,
}

impl State {
    /// Return its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Ready => "ready",
            Self::Indexing => "indexing",
            Self::Unavailable => "unavailable",
        }
    }
}

/// Progress of the disk index.
#[derive(Clone, Debug, Default)]
pub struct IndexStatus {
    /// Current activity.
    pub state: State,
    /// Segments it holds.
    pub segments: u64,
    /// Pieces they are indexed in.
    pub passages: u64,
    /// Bytes of the log that it has taken in.
    pub indexed_bytes: u64,
    /// Bytes that the log has.
    pub log_bytes: u64,
    /// Bytes it takes on disk.
    pub disk_bytes: u64,
    /// Last error, if any.
    pub fault: Option<String>,
}
