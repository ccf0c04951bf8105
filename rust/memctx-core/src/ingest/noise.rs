//! Detection of messages that are not worth storing.

use crate::text::{trim_js, utf16_len};

/// A text of so many UTF-16 units, or fewer, says nothing.
const SHORT: usize = 6;

/// Return whether a text is not worth keeping: it has six UTF-16 units or fewer, or is one of the messages that agents
/// and their hosts exchange to keep in step.
///
/// ```
/// use memctx_core::ingest::is_noise;
///
/// assert!(is_noise(" ok ") && is_noise("HEARTBEAT_OK"));
/// assert!(!is_noise("use port 8443"));
/// ```
#[must_use]
pub fn is_noise(text: &str) -> bool {
    let text = trim_js(text);
    // A unit takes three bytes at most.
    (text.len() <= 3 * SHORT && utf16_len(text) <= SHORT)
        || matches!(text, "NO_REPLY" | "HEARTBEAT_OK")
        || text.starts_with("[Queued messages]")
        || (text.starts_with("[Audio]") && contains(text, "file_key"))
        || contains(text, "HEARTBEAT.md")
}

fn contains(text: &str, part: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), part.as_bytes()).is_some()
}
