//! Spans of secrets, and their replacement by masks.

/// Prefix of every mask; text with it is never masked again.
pub(super) const MARK: &str = "[REDACTED:";

/// Confidence of a rule in its kind; the highest one names overlapping spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// The user said so.
    Given,
    /// The value names itself.
    Token,
    /// The place names the value.
    Structure,
    /// A word nearby names the value.
    Context,
}

/// Bytes `start..end` are a secret of a kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span<'k> {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: &'k str,
    pub(super) rank: Rank,
}

/// Spans in order, overlapping ones made one.
pub(super) fn merge(mut spans: Vec<Span<'_>>) -> Vec<Span<'_>> {
    spans.sort_unstable_by_key(|span| (span.start, span.rank, std::cmp::Reverse(span.end)));
    let mut merged: Vec<Span<'_>> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.start < last.end => {
                if span.rank < last.rank {
                    (last.rank, last.kind) = (span.rank, span.kind);
                }
                last.end = last.end.max(span.end);
            }
            _ => merged.push(span),
        }
    }
    merged
}

/// Return the pieces of a masked text between its masks, those of OpenClaw's rules too; at least one.
pub(crate) fn split_at_masks(text: &str) -> Vec<&str> {
    const OPENING: &str = "[REDACTED";
    const LONGEST: usize = 64;
    let mut pieces = Vec::new();
    let (mut start, mut from) = (0, 0);
    while let Some(at) = text[from..].find(OPENING).map(|at| from + at) {
        let kind = &text.as_bytes()[at + OPENING.len()..];
        let length = kind.iter().take(LONGEST).position(|&byte| byte == b']');
        let is_mask = kind.first().is_some_and(|byte| matches!(byte, b':' | b'_' | b']'));
        from = at + OPENING.len();
        if let Some(length) = length.filter(|_| is_mask) {
            pieces.push(&text[start..at]);
            from += length + 1;
            start = from;
        }
    }
    pieces.push(&text[start..]);
    pieces
}

/// Return the text with a mask for each span; they must be in order and apart.
pub(super) fn write(text: &str, spans: &[Span<'_>]) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut at = 0;
    for span in spans {
        masked.push_str(&text[at..span.start]);
        masked.push_str(MARK);
        masked.push_str(span.kind);
        masked.push(']');
        at = span.end;
    }
    masked.push_str(&text[at..]);
    masked
}
