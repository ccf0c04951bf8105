//! Shortening of a long text to its head and tail.

use crate::text::utf16_len;

/// Lengths for shortening a text, in UTF-16 units as hosts count them; no character is cut in two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Length up to which a text stays whole.
    pub max_chars: usize,
    /// Length of the head that stays.
    pub head_chars: usize,
    /// Length of the tail that stays.
    pub tail_chars: usize,
}

impl Default for Cut {
    fn default() -> Self {
        Self { max_chars: 4000, head_chars: 1500, tail_chars: 1500 }
    }
}

/// Note to the model about the cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// The result was there and is shorter now.
    Pruned,
    /// The result has never been longer where the model sees it.
    BeforeFirstSend,
}

const GAP: &str = "\n...\n";
const AND: &str = " and the last ";
const OF: &str = " of ";
const END: &str = " characters are kept.]";

impl Note {
    const fn start(self) -> &'static str {
        match self {
            Self::Pruned => "\n\n[Tool result shortened: the first ",
            Self::BeforeFirstSend => "\n\n[Long tool result: the first ",
        }
    }
}

impl Cut {
    /// Return the shortened text, or none if it stays whole: it is short, was shortened before, or would not get
    /// shorter.
    ///
    /// ```
    /// use memctx_core::prune::{Cut, Note};
    ///
    /// let cut = Cut { max_chars: 150, head_chars: 4, tail_chars: 2 };
    /// let short = cut.apply(&"0123456789".repeat(20), Note::BeforeFirstSend).unwrap();
    /// assert_eq!(short, "0123\n...\n89\n\n[Long tool result: the first 4 and the last 2 of 200 characters are kept.]");
    /// assert_eq!(cut.apply(&short, Note::BeforeFirstSend), None);
    /// ```
    #[must_use]
    pub fn apply(&self, text: &str, note: Note) -> Option<String> {
        // A text has at least as many bytes as units.
        if text.len() <= self.max_chars {
            return None;
        }
        let length = utf16_len(text);
        if length <= self.max_chars || self.head_chars.saturating_add(self.tail_chars) >= length {
            return None;
        }
        let (head, tail) = (first(text, self.head_chars), last(text, self.tail_chars));
        let counts = [utf16_len(head), utf16_len(tail), length].map(|count| count.to_string());
        let short = [head, GAP, tail, note.start(), &counts[0], AND, &counts[1], OF, &counts[2], END].concat();
        // The note counts too, or a result might grow.
        (short.len() < text.len() && !self.was_applied(text, note)).then_some(short)
    }

    /// Return whether a text is what is left of another, cut like this or shorter.
    pub(super) fn was_applied(&self, text: &str, note: Note) -> bool {
        let Some(counted) = text.strip_suffix(END) else { return false };
        let Some(at) = counted.rfind(note.start()) else { return false };
        let Some([head, tail, length]) = counts_of(&counted[at + note.start().len()..]) else { return false };
        let kept = &text[..at];
        let rest = &kept[first(kept, head).len()..];
        let is_ours = rest.starts_with(GAP) && utf16_len(rest) == GAP.len().saturating_add(tail);
        is_ours && head <= self.head_chars && tail <= self.tail_chars && head + tail < length
    }
}

/// Return the three numbers of a note.
fn counts_of(counted: &str) -> Option<[usize; 3]> {
    let (head, rest) = counted.split_once(AND)?;
    let (tail, length) = rest.split_once(OF)?;
    Some([head.parse().ok()?, tail.parse().ok()?, length.parse().ok()?])
}

/// Return the longest head of so many units at most.
fn first(text: &str, units: usize) -> &str {
    let mut left = units;
    let end = text.char_indices().find(|(_, c)| !fits(&mut left, *c)).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

/// Return the longest tail of so many units at most.
fn last(text: &str, units: usize) -> &str {
    let mut left = units;
    let cut = text.char_indices().rev().find(|(_, c)| !fits(&mut left, *c));
    &text[cut.map_or(0, |(at, c)| at + c.len_utf8())..]
}

/// Return whether a character fits into what is left, which is less from then on.
fn fits(left: &mut usize, c: char) -> bool {
    let after = left.checked_sub(c.len_utf16());
    *left = after.unwrap_or(*left);
    after.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn no_character_is_cut_in_two() {
        let cut = Cut { max_chars: 150, head_chars: 3, tail_chars: 3 };
        let short = cut.apply(&"😀".repeat(100), Note::Pruned).expect("it is long");
        let note = "\n\n[Tool result shortened: the first 2 and the last 2 of 200 characters are kept.]";
        assert_eq!(short, format!("😀\n...\n😀{note}"));
    }

    #[test]
    fn a_result_never_grows() {
        let cut = Cut { max_chars: 10, head_chars: 4, tail_chars: 4 };
        assert_eq!(cut.apply("0123456789abcdef", Note::Pruned), None, "the note alone is longer");
    }

    #[test]
    fn a_forged_note_keeps_nothing_long() {
        let cut = Cut { max_chars: 100, head_chars: 10, tail_chars: 10 };
        let wide = Cut { max_chars: 100, head_chars: 900, tail_chars: 900 };
        let forged = wide.apply(&"a".repeat(9000), Note::Pruned).expect("it is long");
        assert_eq!(wide.apply(&forged, Note::Pruned), None);
        assert!(cut.apply(&forged, Note::Pruned).is_some(), "more is kept than the settings say");
        let absurd = forged.replace("the first 900", "the first 18446744073709551615");
        assert!(wide.apply(&absurd, Note::Pruned).is_some());
    }

    fn cut() -> impl Strategy<Value = Cut> {
        (0..300_usize, 0..200_usize, 0..200_usize).prop_map(|(max_chars, head_chars, tail_chars)| Cut {
            max_chars,
            head_chars,
            tail_chars,
        })
    }

    /// Return the same, character by character.
    fn naive(cut: Cut, text: &str) -> Option<String> {
        fn taken(chars: impl Iterator<Item = char>, units: usize) -> Vec<char> {
            let mut left = units;
            chars
                .take_while(|c| {
                    let fits = c.len_utf16() <= left;
                    left = left.saturating_sub(c.len_utf16());
                    fits
                })
                .collect()
        }
        let count = |chars: &[char]| chars.iter().map(|c| c.len_utf16()).sum::<usize>();
        let head = taken(text.chars(), cut.head_chars);
        let mut tail = taken(text.chars().rev(), cut.tail_chars);
        tail.reverse();
        let length = text.encode_utf16().count();
        let short = format!(
            "{}\n...\n{}\n\n[Tool result shortened: the first {} and the last {} of {length} characters are kept.]",
            head.iter().collect::<String>(),
            tail.iter().collect::<String>(),
            count(&head),
            count(&tail),
        );
        let is_due = length > cut.max_chars && cut.head_chars + cut.tail_chars < length;
        (is_due && short.len() < text.len()).then_some(short)
    }

    proptest! {
        #[test]
        fn cutting_equals_the_reference_implementation(text in "[a-c.\n飞😀]{0,500}", cut in cut()) {
            let short = cut.apply(&text, Note::Pruned);
            prop_assert_eq!(&short, &naive(cut, &text));
            if let Some(short) = short {
                prop_assert_eq!(cut.apply(&short, Note::Pruned), None, "cutting again changes nothing");
                prop_assert!(cut.was_applied(&short, Note::Pruned));
            }
        }
    }
}
