//! Classification of a run without spaces: number, version, path, identifier, name or word.

use std::borrow::Cow;

use super::lexicon::{Entry, Lexicon, class, flag};
use super::stem::stem;
use crate::text::Term;

/// Units and their spellings.
const UNITS: [(&str, &str); 17] = [
    ("ms", "ms msec millisecond milliseconds"),
    ("s", "s sec secs second seconds"),
    ("min", "m min mins minute minutes"),
    ("h", "h hr hrs hour hours"),
    ("day", "day days"),
    ("week", "week weeks"),
    ("month", "month months"),
    ("year", "year years"),
    ("byte", "byte bytes"),
    ("kb", "kb kib kilobyte kilobytes"),
    ("mb", "mb mib megabyte megabytes"),
    ("gb", "gb gib gigabyte gigabytes"),
    ("tb", "tb tib terabyte terabytes"),
    ("%", "% percent pct"),
    ("px", "px pixel pixels"),
    ("$", "$ usd dollar dollars"),
    ("€", "€ eur euro euros"),
];

/// Numbers that are written as words.
const NUMBERS: [(&str, &str); 15] = [
    ("one", "1"),
    ("two", "2"),
    ("twice", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
    ("twelve", "12"),
    ("twenty", "20"),
    ("hundred", "100"),
    ("zero", "0"),
];

/// Words with a slash in between that are no paths.
const NO_PATHS: [&str; 9] =
    ["and/or", "ci/cd", "i/o", "tcp/ip", "read/write", "client/server", "n/a", "w/o", "true/false"];

/// Capitals that stand for something as general as a word.
const ACRONYMS: [&str; 22] = [
    "api", "apis", "url", "uri", "ci", "cd", "http", "https", "sql", "ui", "ux", "db", "id", "ids", "ttl", "pr", "prs",
    "cli", "sdk", "ip", "dns", "ok",
];

/// Return the unit that a word names.
pub(super) fn unit_of(word: &str) -> Option<&'static str> {
    UNITS.iter().find(|(_, spellings)| spellings.split(' ').any(|spelling| spelling == word)).map(|&(unit, _)| unit)
}

/// Context of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context {
    /// Nothing but its place may have given it its capital.
    pub(super) opens_sentence: bool,
    /// Between quotation marks or backticks.
    pub(super) is_quoted: bool,
    /// A number stands right before it.
    pub(super) is_behind_number: bool,
}

/// Call `see` with what a run is made of.
pub(super) fn read_run(run: &str, context: Context, see: &mut impl FnMut(Entry)) {
    let small = run.to_lowercase();
    let mut quote = |mut entry: Entry| {
        if context.is_quoted {
            entry.flags = 0;
            entry.class |= class::NAME;
        }
        see(entry);
    };
    if context.is_behind_number
        && let Some(unit) = unit_of(&small)
    {
        return quote(value(unit, class::UNIT));
    }
    let has_capital = run.starts_with(char::is_uppercase) && !context.opens_sentence;
    if has_capital && run.len() == 1 && run != "I" {
        return quote(value(&small, class::NAME));
    }
    let known = if has_capital || context.is_quoted { Lexicon::word } else { Lexicon::plain_word };
    if let Some(entry) = known(Lexicon::get(), &small) {
        return quote(entry);
    }
    if small.contains("://") {
        return quote(value(run.trim_end_matches('/'), class::PLACE));
    }
    if let Some((left, right)) = run.split_once('=').filter(|_| !context.is_quoted) {
        read_part(left, context, see);
        see(Entry { key: Term::new("="), flags: flag::FILLER | flag::PIVOT, class: 0 });
        return read_part(right, context, see);
    }
    if is_number(&small) {
        return read_number(&small, &mut quote);
    }
    if let Some((_, digits)) = NUMBERS.iter().find(|(word, _)| *word == small) {
        return quote(value(digits, class::NUMBER));
    }
    // localhost:3000 and python:3.13-slim are two things, 12:30 is one.
    if let Some((left, right)) = small.rsplit_once(':').filter(|(_, right)| is_number(right)) {
        read_part(left, context, &mut quote);
        return read_number(right, &mut quote);
    }
    read_word(run, &small, context, &mut quote);
}

fn read_part(part: &str, context: Context, see: &mut impl FnMut(Entry)) {
    let part = part.trim_matches(['"', '\'', '`', ':']);
    if !part.is_empty() {
        // A part is never asked to be split again at the same sign, and each is shorter than the whole.
        let mut parts = Vec::new();
        let collect: &mut dyn FnMut(Entry) = &mut |entry| parts.push(entry);
        read_run(part, Context { opens_sentence: true, ..context }, &mut { collect });
        parts.into_iter().for_each(see);
    }
}

fn read_word(run: &str, small: &str, context: Context, see: &mut impl FnMut(Entry)) {
    let is_path = small.contains(['/', '\\']) && !NO_PATHS.contains(&small);
    if is_path {
        // Case matters in a path.
        return see(value(run.trim_end_matches(['/', '\\']), class::PLACE));
    }
    if small.contains('.') {
        return see(value(run, class::PLACE | class::NAME));
    }
    if small.contains(['_', '@', '#', '$', '~', '+', '*', '%']) || is_mixed(run) || small.starts_with('-') {
        return see(value(small, class::NAME));
    }
    if small.contains('-') {
        return read_compound(run, small, context, see);
    }
    let small = bare(small);
    if small.is_empty() {
        return;
    }
    let is_acronym = run.chars().count() > 1 && !run.chars().any(char::is_lowercase) && !is_caseless(run);
    let has_capital = run.starts_with(char::is_uppercase);
    let is_name = (is_acronym || has_capital && !context.opens_sentence) && !ACRONYMS.contains(&&*small);
    if small.ends_with("n't") {
        return see(Entry { key: Term::new("not"), flags: flag::NEGATES, class: 0 });
    }
    if let Some(entry) = Lexicon::get().word(&small) {
        return see(entry);
    }
    // One letter or a digit tells things of a kind apart: "service A".
    let is_label = small.chars().count() == 1 || small.bytes().any(|byte| byte.is_ascii_digit());
    let class = if is_name || is_label { class::NAME } else { 0 };
    see(Entry { key: Term::new(&stem(&small)), flags: 0, class });
}

/// Words joined by hyphens; "service-a" and "us-east-1" are names and stay whole.
fn read_compound(run: &str, small: &str, context: Context, see: &mut impl FnMut(Entry)) {
    let is_name = small.split('-').any(|part| part.chars().count() < 2 || part.bytes().any(|b| b.is_ascii_digit()));
    if is_name {
        let region = if is_region(small) { class::REGION } else { 0 };
        return see(value(small, class::NAME | region));
    }
    for (part, small) in run.split('-').zip(small.split('-')) {
        match Lexicon::get().word(small) {
            Some(entry) if entry.flags & flag::FILLER == 0 => see(entry),
            _ => read_word(part, small, context, see),
        }
    }
}

/// Return whether a name is that of a region of a cloud provider: `eu-west-1`, `us-east1`.
fn is_region(small: &str) -> bool {
    const DIRECTIONS: [&str; 5] = ["north", "south", "east", "west", "central"];
    let parts = || small.split('-').map(|part| part.trim_end_matches(|c: char| c.is_ascii_digit()));
    parts().skip(1).any(|part| DIRECTIONS.iter().any(|direction| part.starts_with(direction)))
        && small.ends_with(|c: char| c.is_ascii_digit())
}

/// Return the word without what apostrophes add to it, but for the "n't" of a negation.
fn bare(small: &str) -> Cow<'_, str> {
    let small: Cow<'_, str> = if small.contains('’') { small.replace('’', "'").into() } else { small.into() };
    match small.split_once('\'') {
        Some((word, "t")) => format!("{word}'t").into(),
        Some((word, _)) => word.to_owned().into(),
        None => small,
    }
}

/// Return whether a small letter stands before a capital, or letters before digits: `getUser`, `RS256`.
fn is_mixed(run: &str) -> bool {
    let bytes = run.as_bytes();
    bytes.windows(2).any(|pair| {
        pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()
            || pair[0].is_ascii_alphabetic() && pair[1].is_ascii_digit()
    })
}

fn is_caseless(run: &str) -> bool {
    !run.chars().any(|c| c.is_uppercase() || c.is_lowercase())
}

/// Return whether a run in small letters is a number of any kind: 3000, 1,000, v1.2, 10mb, 2026-02-15, $5, -1, .5.
fn is_number(small: &str) -> bool {
    let rest = small.strip_prefix(['$', '€', '£', '¥', '-', '+', 'v', '~', '<', '>', '#']).unwrap_or(small);
    rest.strip_prefix('.').unwrap_or(rest).starts_with(|c: char| c.is_numeric())
}

fn read_number(small: &str, see: &mut impl FnMut(Entry)) {
    let rest = small.strip_prefix('v').unwrap_or(small);
    let (rest, money) = match rest.strip_prefix(['$', '€', '£', '¥']) {
        Some(amount) => (amount, Some(&rest[..rest.len() - amount.len()])),
        None => (rest, None),
    };
    let end = rest.find(|c: char| !(c.is_numeric() || matches!(c, '.' | ',' | '_' | '-' | '+'))).unwrap_or(rest.len());
    let (digits, tail) = rest.split_at(end);
    let plain: String = digits.chars().filter(|c| !matches!(c, ',' | '_')).collect();
    match tail {
        "" => see(value(&plain, class::NUMBER)),
        "k" if plain.bytes().all(|byte| byte.is_ascii_digit()) => see(value(&format!("{plain}000"), class::NUMBER)),
        _ => match unit_of(tail) {
            Some(unit) => {
                see(value(&plain, class::NUMBER));
                see(value(unit, class::UNIT));
            }
            None => see(value(rest, class::NUMBER)),
        },
    }
    if let Some(money) = money {
        see(value(money, class::UNIT));
    }
}

/// Return a value.
pub(super) fn value(key: &str, class: u64) -> Entry {
    Entry { key: Term::new(key), flags: 0, class }
}

/// Return the number that Chinese numerals stand for, as digits; none if they stand for none.
pub(super) fn numerals(run: &str) -> Option<String> {
    let (mut total, mut digit, mut positional) = (0_u64, None::<u64>, String::new());
    let mut is_positional = true;
    for c in run.chars() {
        let number = match c {
            '零' | '〇' => 0,
            '一' => 1,
            '二' | '两' => 2,
            '三' => 3,
            '四' => 4,
            '五' => 5,
            '六' => 6,
            '七' => 7,
            '八' => 8,
            '九' => 9,
            '十' | '百' | '千' | '万' => {
                let unit = match c {
                    '十' => 10,
                    '百' => 100,
                    '千' => 1000,
                    _ => 10_000,
                };
                is_positional = false;
                total = if unit == 10_000 {
                    total.saturating_add(digit.take().unwrap_or(u64::from(total == 0))).saturating_mul(unit)
                } else {
                    total.saturating_add(digit.take().unwrap_or(1).saturating_mul(unit))
                };
                continue;
            }
            _ => return None,
        };
        positional.push(char::from(b'0' + u8::try_from(number).unwrap_or(0)));
        digit = Some(number);
    }
    if is_positional { Some(positional) } else { Some(total.saturating_add(digit.unwrap_or(0)).to_string()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Context = Context { opens_sentence: false, is_quoted: false, is_behind_number: false };

    fn read(run: &str) -> Vec<(Term, u64)> {
        let mut seen = Vec::new();
        read_run(run, PLAIN, &mut |entry| seen.push((entry.key, entry.class)));
        seen
    }

    #[test]
    fn numbers_are_the_same_however_they_are_written() {
        for (a, b) in [("1,000", "1000"), ("v1.2.3", "1.2.3"), ("10k", "10000"), ("30s", "30sec"), ("three", "3")] {
            assert_eq!(read(a), read(b), "{a} {b}");
        }
        for (a, b) in [("3.5", "35"), ("10mb", "10gb"), ("-1", "1"), ("$5", "€5"), ("1.2", "1.2.0"), ("12:30", "12:45")]
        {
            assert_ne!(read(a), read(b), "{a} {b}");
        }
    }

    #[test]
    fn numerals_are_numbers() {
        for (run, number) in
            [("三", "3"), ("十", "10"), ("十二", "12"), ("三百二十", "320"), ("两万", "20000"), ("二〇二六", "2026")]
        {
            assert_eq!(numerals(run).as_deref(), Some(number));
        }
        assert_eq!(numerals("三人"), None);
    }

    #[test]
    fn runs_are_classified() {
        let class = |run: &str| read(run).iter().map(|&(_, class)| class).collect::<Vec<_>>();
        assert_eq!(class("src/main.rs"), [class::PLACE]);
        assert_eq!(class("getUser"), [class::NAME]);
        assert_eq!(class("localhost:3000"), [0, class::NUMBER]);
        assert_eq!(class("service-a"), [class::NAME]);
        assert_eq!(class("feature-flag"), [0, 0]);
        assert_eq!(class("PORT=3000").len(), 3);
        assert_ne!(read("src/App.tsx"), read("src/app.tsx"));
    }
}
