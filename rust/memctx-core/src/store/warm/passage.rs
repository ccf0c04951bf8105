//! The pieces in which a long text is indexed.

use std::ops::Range;

/// A text up to this many characters is one piece.
const MOST: usize = 2048;
/// A piece that is not the last has at least this many.
const LEAST: usize = 1024;
/// Pieces of one text that are indexed, so that one message of a hundred megabytes cannot take all the memory.
pub(crate) const PIECES: usize = 256;

/// The pieces of a text as byte ranges, in order and without gaps: cut between paragraphs where one ends in time, else
/// between lines, sentences or words.
pub(crate) fn passages(text: &str) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    while pieces.len() < PIECES {
        let rest = &text[start..];
        let Some((most, _)) = rest.char_indices().nth(MOST) else {
            if !rest.is_empty() || pieces.is_empty() {
                pieces.push(start..text.len());
            }
            break;
        };
        let least = rest.char_indices().nth(LEAST).map_or(most, |(at, _)| at);
        let end = start + least + cut(&rest[least..most]);
        pieces.push(start..end);
        start = end;
    }
    pieces
}

/// Return where to cut a stretch of text: behind its last good border, else at its end.
fn cut(stretch: &str) -> usize {
    const BORDERS: [&[&str]; 4] = [&["\n\n"], &["\n"], &[". ", "。", "! ", "? ", "！", "？"], &[" "]];
    let behind_last = |border: &&str| stretch.rfind(border).map(|at| at + border.len());
    BORDERS.iter().find_map(|borders| borders.iter().filter_map(behind_last).max()).unwrap_or(stretch.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paragraphs_stay_whole() {
        let text = format!("{}\n\n{}", "word ".repeat(300).trim_end(), "other ".repeat(300));
        let pieces = passages(&text);
        assert_eq!(pieces.len(), 2);
        assert!(text[pieces[1].clone()].starts_with("other"));
    }

    proptest! {
        #[test]
        fn pieces_are_the_text(text in "[ab飞😀\n .]{0,9000}") {
            let pieces = passages(&text);
            prop_assert_eq!(pieces.iter().map(|piece| &text[piece.clone()]).collect::<String>(), &text[..]);
            for (at, piece) in pieces.iter().enumerate() {
                let length = text[piece.clone()].chars().count();
                prop_assert!(length <= MOST && (length >= LEAST || at + 1 == pieces.len()));
            }
        }
    }
}
