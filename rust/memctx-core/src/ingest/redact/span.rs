//! A stretch of text that must go, and writing the text without it.

/// What every mask begins with; what begins so is never masked again.
pub(super) const MARK: &str = "[REDACTED:";

/// How sure a rule is of the kind it names; where spans overlap, the surer one names the whole.
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

/// The text with a mask for each span; they must be in order and apart.
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
