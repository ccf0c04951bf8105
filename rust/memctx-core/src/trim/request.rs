//! What a trim is asked to do.

/// What a trim is asked to do.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// What the conversation is about now; below three characters only age counts.
    pub query: &'a str,
    /// Nothing leaves at this many tokens or fewer.
    pub limit: u64,
    /// Where it stops.
    pub target: u64,
    /// While tools are at work it waits, unless there are more tokens than this. Without it it never waits.
    pub ceiling: Option<u64>,
    /// How many of the last messages of the person and the model stay.
    pub protected_recent: usize,
    /// Whether the first message of the person stays.
    pub protects_task: bool,
    /// Whether what a person said in few words leaves only when nothing else can.
    pub spares_people: bool,
    /// Places of messages that the host wants to stay.
    pub pinned: &'a [u32],
    /// Keys of units that were trimmed before. They leave first, whatever there are of tokens, unless they are
    /// protected now.
    pub sticky: &'a [u64],
    /// What each message costs, where the host counts otherwise than the scanner.
    pub costs: Option<&'a [u32]>,
}

impl<'a> Request<'a> {
    /// A trim down to a limit, which protects what the original's does and the task.
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
