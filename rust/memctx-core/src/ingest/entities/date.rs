//! Dates.

use std::ops::Range;

use super::mark::Mark;
use super::run::{is_digit, run_after, run_before};

const YEAR_DIGITS: usize = 4;
const MOST_DAY_DIGITS: usize = 2;

/// `2026-02-15` and `2026/2/15`: the last four digits of a run, then one or two digits, twice.
pub(super) fn plain(text: &str, digits: &[Range<usize>]) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let joined = |left: &Range<usize>, right: &Range<usize>| {
        right.start == left.end + 1 && matches!(bytes[left.end], b'-' | b'/')
    };
    let mut done = 0;
    digits.windows(3).filter_map(move |runs| {
        let [year, month, day] = runs else { return None };
        // The day before may have left digits of its run behind.
        let has_year = year.end - year.start.max(done).min(year.end) >= YEAR_DIGITS;
        if !has_year || month.len() > MOST_DAY_DIGITS || !joined(year, month) || !joined(month, day) {
            return None;
        }
        done = day.end.min(day.start + MOST_DAY_DIGITS);
        Some(year.end - YEAR_DIGITS..done)
    })
}

/// `2026年2月15日`, with 号 for 日.
pub(super) fn chinese(text: &str, marks: &[Mark]) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    marks.iter().filter(|mark| mark.sign == '年').filter_map(move |year| {
        let start = run_before(bytes, year.at, year.at.saturating_sub(YEAR_DIGITS), is_digit);
        let month = short_number(bytes, year.at + "年".len())?;
        if start == year.at || !text[month..].starts_with('月') {
            return None;
        }
        let day = short_number(bytes, month + "月".len())?;
        text[day..].starts_with(['日', '号']).then_some(start..day + "日".len())
    })
}

/// 今天, 上周 and their like.
pub(super) fn relative(text: &str, marks: &[Mark]) -> impl Iterator<Item = Range<usize>> {
    marks.iter().filter_map(|&Mark { at, sign }| {
        let starts: &[&str] = match sign {
            '天' => &["今", "昨", "明", "前", "后"],
            '周' => &["上", "下"],
            '月' => &["上个", "下个"],
            _ => return None,
        };
        let start = starts.iter().find(|start| text[..at].ends_with(*start))?;
        Some(at - start.len()..at + sign.len_utf8())
    })
}

/// Return the end of a run of one or two digits.
fn short_number(bytes: &[u8], start: usize) -> Option<usize> {
    let end = run_after(bytes, start, is_digit);
    (1..=MOST_DAY_DIGITS).contains(&(end - start)).then_some(end)
}
