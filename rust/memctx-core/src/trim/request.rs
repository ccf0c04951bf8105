//! Request of a trim.

/// Request of a trim.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Topic of the conversation; below three characters only age counts.
    pub query: &'a str,
    /// Nothing leaves at this many tokens or fewer.
    pub limit: u64,
    /// Tokens at which the trim stops.
    pub target: u64,
    /// While tools are at work it waits, unless there are more tokens than this. Without it it never waits.
    pub ceiling: Option<u64>,
    /// Number of the last messages of the person and the model that stay.
    pub protected_recent: usize,
    /// True to protect the first message of the person.
    pub protects_task: bool,
    /// True to remove short messages of a person later than others of the same relevance, and new tool output later than
    /// old.
    pub spares_people: bool,
    /// Indices of messages that the host wants to stay.
    pub pinned: &'a [u32],
    /// Keys of units that were trimmed before. They leave first, whatever there are of tokens, unless they are
    /// protected now.
    pub sticky: &'a [u64],
    /// Tokens of each message, if the host counts them itself.
    pub costs: Option<&'a [u32]>,
}

impl<'a> Request<'a> {
    /// Create a request that trims to a limit and protects what OpenClaw's trim does, and the task.
    #[must_use]
    pub const fn new(query: &'a str, limit: u64) -> Self {
        Self {
            query,
            limit,
            target: limit,
            ceiling: None,
            protected_recent: 6,
            protects_task: true,
            spares_people: false,
            pinned: &[],
            sticky: &[],
            costs: None,
        }
    }
}
