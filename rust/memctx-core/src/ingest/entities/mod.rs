//! Entities: addresses, numbers with a meaning, people, projects.

mod address;
mod amount;
mod date;
mod mark;
mod name;
mod run;
mod stock;

use std::borrow::Cow;
use std::ops::Range;

use rustc_hash::FxHashSet;

use crate::text::utf16_len;

/// So many entities of a text are kept, however many it names.
pub const MOST_ENTITIES: usize = 256;

/// Kind of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntityKind {
    /// An address that begins with `http://` or `https://`.
    Url,
    /// A mail address.
    Email,
    /// `600519`, `SH600000`, `$AAPL`.
    Stock,
    /// `¥1,200.50万`, `300元`, `$12.5K`.
    Amount,
    /// `2026-02-15`, `2026年2月15日`, `昨天`.
    Date,
    /// Two to four Chinese characters behind a word such as `找` or `联系`.
    Person,
    /// `owner/name` and `CamelCase`.
    Project,
}

impl EntityKind {
    /// Return the name that stands in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Url => "url",
            Self::Email => "email",
            Self::Stock => "stock",
            Self::Amount => "amount",
            Self::Date => "date",
            Self::Person => "person",
            Self::Project => "project",
        }
    }
}

/// Entity in a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Entity {
    /// Kind of the entity.
    pub kind: EntityKind,
    /// Spelling in the text.
    pub value: String,
    /// Offset in UTF-16 units. For all but URLs and mail addresses it counts in the text with each of those replaced by
    /// one space; for a person it is the offset of the word before the name.
    pub offset: u32,
}

/// Return the entities of a text, by kind in the order of [`EntityKind`], each value once, [`MOST_ENTITIES`] at most.
///
/// ```
/// use memctx_core::ingest::entities;
///
/// let found = entities("Deploy the API to https://example.com on 2026-02-15");
/// let found: Vec<_> = found.iter().map(|entity| (entity.kind.name(), &*entity.value, entity.offset)).collect();
/// assert_eq!(found, [("url", "https://example.com", 18), ("date", "2026-02-15", 23)]);
/// ```
#[must_use]
pub fn entities(text: &str) -> Vec<Entity> {
    let urls: Vec<_> = address::urls(text).collect();
    let emails: Vec<_> = address::emails(text).collect();
    let without_urls = blank(text, &urls);
    let blanked = match &without_urls {
        Cow::Borrowed(text) => blank(text, &emails),
        Cow::Owned(text) => blank(text, &address::emails(text).collect::<Vec<_>>()),
    };
    let blanked = &*blanked;
    let marks = mark::marks(blanked);
    let digits = run::digit_runs(blanked);

    let mut found = Found::default();
    found.add(EntityKind::Url, text, urls.iter().cloned());
    found.add(EntityKind::Email, text, emails.iter().cloned());
    found.add(EntityKind::Stock, blanked, stock::codes(blanked, &digits));
    found.add(EntityKind::Stock, blanked, stock::tickers(blanked));
    found.add(EntityKind::Amount, blanked, amount::yuan(blanked, &marks));
    found.add(EntityKind::Amount, blanked, amount::dollars(blanked));
    found.add(EntityKind::Date, blanked, date::plain(blanked, &digits));
    found.add(EntityKind::Date, blanked, date::chinese(blanked, &marks));
    found.add(EntityKind::Date, blanked, date::relative(blanked, &marks));
    found.add_named(EntityKind::Person, blanked, name::people(blanked, &marks));
    found.add(EntityKind::Project, blanked, name::paths(blanked));
    found.add(EntityKind::Project, blanked, name::camel_case(blanked));
    found.list
}

/// The entities found so far.
#[derive(Default)]
struct Found<'a> {
    list: Vec<Entity>,
    seen: FxHashSet<(EntityKind, &'a str)>,
}

impl<'a> Found<'a> {
    fn add(&mut self, kind: EntityKind, text: &'a str, matches: impl Iterator<Item = Range<usize>>) {
        self.add_named(kind, text, matches.map(|value| (value.start, value)));
    }

    /// Add values that need not begin where the match does.
    fn add_named(&mut self, kind: EntityKind, text: &'a str, matches: impl Iterator<Item = (usize, Range<usize>)>) {
        let (mut at, mut units) = (0, 0);
        for (start, value) in matches {
            if self.list.len() == MOST_ENTITIES {
                return;
            }
            let value = &text[value];
            if self.seen.insert((kind, value)) {
                units += utf16_len(&text[at..start]);
                at = start;
                let offset = u32::try_from(units).unwrap_or(u32::MAX);
                self.list.push(Entity { kind, value: value.to_owned(), offset });
            }
        }
    }
}

/// Return the text with one space in place of each match.
fn blank<'t>(text: &'t str, matches: &[Range<usize>]) -> Cow<'t, str> {
    if matches.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut blanked = String::with_capacity(text.len());
    let mut at = 0;
    for Range { start, end } in matches {
        blanked.push_str(&text[at..*start]);
        blanked.push(' ');
        at = *end;
    }
    blanked.push_str(&text[at..]);
    Cow::Owned(blanked)
}
