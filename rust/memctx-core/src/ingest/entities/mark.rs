//! The characters that the rules for Chinese hang on, found in one pass.

use crate::text::{ascii_run, is_js_space};

/// The Han characters among them: signs of money, of dates, and the first ones of words that a name follows.
const HAN: [char; 19] =
    ['元', '块', '年', '天', '周', '月', '找', '问', '跟', '给', '叫', '是', '让', '请', '联', '通', '告', '转', '抄'];
const FIRST_HAN: u32 = 0x4E00;
const BITS: u32 = u64::BITS;

/// One bit for each character from U+4E00 to U+9FFF.
static IS_MARK: [u64; (0xA000 - FIRST_HAN).div_ceil(BITS) as usize] = {
    let mut bits = [0; (0xA000 - FIRST_HAN).div_ceil(BITS) as usize];
    let mut number = 0;
    while number < HAN.len() {
        let bit = HAN[number] as u32 - FIRST_HAN;
        bits[(bit / BITS) as usize] |= 1 << (bit % BITS);
        number += 1;
    }
    bits
};

/// A character that a rule hangs on.
pub(super) struct Mark {
    /// Where it is, in bytes.
    pub(super) at: usize,
    /// The character: `¥`, one of the Han characters above, or, when one of those of a name may follow, the `@` or the
    /// first of `cc` before it.
    pub(super) sign: char,
}

/// All marks, in order.
pub(super) fn marks(text: &str) -> Vec<Mark> {
    let bytes = text.as_bytes();
    let mut marks = Vec::new();
    let mut at = 0;
    while let Some(&first) = bytes.get(at) {
        match first {
            0..0x80 => at += ascii_run(&bytes[at..]).max(1),
            0xC2 if bytes.get(at + 1) == Some(&0xA5) => {
                marks.push(Mark { at, sign: '¥' });
                at += 2;
            }
            0xE4..=0xE9 => {
                marks.extend(cue_before(&text[..at]));
                at = add_run(&mut marks, bytes, at);
            }
            // The number of leading ones is the number of bytes.
            _ => at += first.leading_ones() as usize,
        }
    }
    marks
}

/// Add the marks of the run of Han characters that begins at `at`; gives its end.
fn add_run(marks: &mut Vec<Mark>, bytes: &[u8], mut at: usize) -> usize {
    for character in bytes[at..].chunks_exact(3) {
        let &[first @ 0xE4..=0xE9, second, third] = character else { break };
        let code = u32::from(first & 0xF) << 12 | u32::from(second & 0x3F) << 6 | u32::from(third & 0x3F);
        let bit = code.wrapping_sub(FIRST_HAN);
        let is_mark = IS_MARK.get((bit / BITS) as usize).is_some_and(|bits| bits >> (bit % BITS) & 1 != 0);
        if is_mark && let Some(sign) = char::from_u32(code) {
            marks.push(Mark { at, sign });
        }
        at += character.len();
    }
    at
}

/// The `@` or `cc` that a text ends with, but for white space.
fn cue_before(text: &str) -> Option<Mark> {
    // Mostly a glance at the last byte is enough.
    if text.as_bytes().last().is_none_or(|last| last.is_ascii_graphic() && !matches!(last, b'@' | b'c')) {
        return None;
    }
    let text = text.trim_end_matches(is_js_space);
    let mark = |cue: &str, sign| text.ends_with(cue).then(|| Mark { at: text.len() - cue.len(), sign });
    mark("@", '@').or_else(|| mark("cc", 'c'))
}
