//! How far the cold tier is.

/// What the tier is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// There is nothing yet.
    #[default]
    Absent,
    /// It answers, and nobody is at work on it here.
    Ready,
    /// It is being filled by this process.
    Indexing,
}

impl State {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Ready => "ready",
            Self::Indexing => "indexing",
        }
    }
}

/// How far the tier is.
#[derive(Clone, Debug, Default)]
pub struct ColdStatus {
    /// What it is doing.
    pub state: State,
    /// Segments it holds.
    pub segments: u64,
    /// Pieces they are indexed in.
    pub passages: u64,
    /// Those of them that a graph finds.
    pub graph_passages: u64,
    /// Bytes of the log that it has taken in.
    pub indexed_bytes: u64,
    /// Bytes that the log has.
    pub log_bytes: u64,
    /// Bytes it takes on disk.
    pub disk_bytes: u64,
    /// What went wrong last, if something did.
    pub fault: Option<String>,
}
