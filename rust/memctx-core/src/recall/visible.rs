//! Visibility of stored text in a conversation; visible text need not be recalled.

use std::cell::OnceCell;
use std::ops::Range;

use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::xxh3_64;

use crate::ingest::{past_channel_prefix, strip_channel_prefix};
use crate::messages::{Conversation, Kind, MessageView, Text};
use crate::redact::split_at_masks;

/// Texts are looked up by this many of their first characters, and by as many of their last.
const EDGE: usize = 16;

/// Head and tail of a text as it would be stored, without the prefix of a chat host.
#[derive(Debug)]
pub(crate) struct Stored {
    range: Range<usize>,
    /// Return the hash of its head.
    head: u64,
}

impl Stored {
    pub(crate) fn of(text: &str) -> Self {
        let stored = past_channel_prefix(text);
        let start = stored.as_ptr() as usize - text.as_ptr() as usize;
        Self { range: start..start + stored.len(), head: hash(head(stored)) }
    }

    /// Return the hash of its head.
    pub(crate) fn head(&self) -> u64 {
        self.head
    }
}

/// Texts visible in a conversation, without the hidden messages.
///
/// Texts are compared as they are stored: without what a chat host wrote around them, and with anything in the place of
/// a secret that was masked.
#[derive(Debug, Default)]
pub struct Visible<'c> {
    texts: Vec<Shown<'c>>,
    /// Hashes of their heads, in the same order.
    heads: Vec<u64>,
    /// The same for their tails, which are seldom asked for.
    tails: OnceCell<Vec<u64>>,
}

/// One text that is shown.
#[derive(Debug)]
enum Shown<'c> {
    /// All of a part.
    Part(&'c Text),
    /// Text joined from several.
    Made(String),
}

impl Shown<'_> {
    fn body(&self) -> &str {
        match self {
            Self::Part(text) => &text.body()[text.stored().range.clone()],
            Self::Made(text) => text,
        }
    }
}

impl<'c> Visible<'c> {
    /// Collect the visible texts; `hidden` are indices of messages.
    #[must_use]
    pub fn new(conversation: &'c Conversation, hidden: &[u32]) -> Self {
        Self::of(conversation, hidden, None)
    }

    /// Collect only the texts that begin like one of these contents, to check whether these are visible.
    #[must_use]
    pub fn seeking(conversation: &'c Conversation, hidden: &[u32], contents: &[&str]) -> Self {
        let heads: Option<Vec<&str>> =
            contents.iter().map(|content| Edge::of(&split_at_masks(content)).head()).collect();
        Self::of(conversation, hidden, heads.map(Heads::new).as_ref())
    }

    fn of(conversation: &'c Conversation, hidden: &[u32], heads: Option<&Heads<'_>>) -> Self {
        let mut is_hidden = vec![false; conversation.views.len()];
        for &index in hidden {
            if let Some(is_hidden) = is_hidden.get_mut(index as usize) {
                *is_hidden = true;
            }
        }
        let mut visible = Self::default();
        // Most are one text that begins otherwise, which the outline tells without a look at their parts.
        let may_be_sought = |view: &MessageView| {
            heads.is_none_or(|heads| view.outline.head.is_none_or(|head| heads.hashes.contains(&head)))
        };
        let shown = conversation.views.iter().zip(is_hidden).filter(|(_, is_hidden)| !is_hidden);
        for (view, _) in shown.filter(|(view, _)| may_be_sought(view)) {
            visible.add(view, heads);
        }
        visible
    }

    /// Return whether a stored content is one of the texts that are shown.
    #[must_use]
    pub fn shows(&self, content: &str) -> bool {
        let parts = split_at_masks(content);
        let (hashes, edge) = match Edge::of(&parts) {
            Edge::Head(head) => (&self.heads, head),
            Edge::Tail(end) => {
                let tails = || self.texts.iter().map(|text| hash(tail(text.body()))).collect();
                (self.tails.get_or_init(tails), end)
            }
            Edge::None => return self.texts.iter().any(|text| is_same(text.body(), &parts)),
        };
        let wanted = hash(edge);
        let alike = hashes.iter().zip(&self.texts).filter(|(hash, _)| **hash == wanted);
        alike.into_iter().any(|(_, text)| is_same(text.body(), &parts))
    }

    /// Add the texts of a message as they would be stored: what was said is one, each call and each result another.
    fn add(&mut self, view: &'c MessageView, heads: Option<&Heads<'_>>) {
        let texts = || view.parts.iter().filter_map(|part| Some((part, part.text.as_deref()?)));
        let mut said = texts().filter(|(part, text)| is_said(part.kind) && !text.body().is_empty());
        if let Some((_, first)) = said.next() {
            let mut more = said.map(|(_, text)| text.body()).peekable();
            if more.peek().is_none() {
                self.add_piece(first, heads);
            } else {
                let all: Vec<&str> = std::iter::once(first.body()).chain(more).collect();
                self.add_made(past_channel_prefix(&all.join("\n")));
            }
        }
        for (part, text) in texts() {
            match part.kind {
                Kind::Call => {
                    let name = part.name.as_deref().unwrap_or_default();
                    if heads.is_none_or(|heads| heads.may_begin_with(name)) {
                        self.add_made(format!("{name} {}", text.body()).trim());
                    }
                }
                Kind::Result | Kind::Compaction => self.add_piece(text, heads),
                Kind::Text | Kind::Media | Kind::Thinking | Kind::Other => {}
            }
        }
    }

    fn add_piece(&mut self, text: &'c Text, heads: Option<&Heads<'_>>) {
        let Stored { range, head } = text.stored();
        if !range.is_empty() && heads.is_none_or(|heads| heads.hashes.contains(head)) {
            self.texts.push(Shown::Part(text));
            self.heads.push(*head);
        }
    }

    fn add_made(&mut self, text: &str) {
        if !text.is_empty() {
            self.heads.push(hash(head(text)));
            self.texts.push(Shown::Made(text.to_owned()));
        }
    }
}

/// Return the index of the last message that shows each content, hidden or not.
pub(crate) fn last_shown(conversation: &Conversation, contents: &[&str]) -> Vec<Option<usize>> {
    let heads: Option<Vec<&str>> = contents.iter().map(|content| Edge::of(&split_at_masks(content)).head()).collect();
    let heads = heads.map(Heads::new);
    let mut places = vec![None; contents.len()];
    for (index, view) in conversation.views.iter().enumerate() {
        let is_sought = |heads: &Heads<'_>| view.outline.head.is_none_or(|head| heads.hashes.contains(&head));
        if !heads.as_ref().is_none_or(is_sought) {
            continue;
        }
        let mut visible = Visible::default();
        visible.add(view, heads.as_ref());
        for (place, content) in places.iter_mut().zip(contents).filter(|_| !visible.texts.is_empty()) {
            *place = if visible.shows(content) { Some(index) } else { *place };
        }
    }
    places
}

/// Lookup key of a content.
enum Edge<'q> {
    Head(&'q str),
    Tail(&'q str),
    /// It is masked at both ends.
    None,
}

impl<'q> Edge<'q> {
    /// Return the edge of a content in the parts that masks leave of it.
    fn of(parts: &[&'q str]) -> Self {
        let (first, last) = (parts[0], parts[parts.len() - 1]);
        if parts.len() == 1 || first.len() > head(first).len() {
            Self::Head(head(first))
        } else if last.len() > tail(last).len() {
            Self::Tail(tail(last))
        } else {
            Self::None
        }
    }

    fn head(self) -> Option<&'q str> {
        if let Self::Head(head) = self { Some(head) } else { None }
    }
}

/// Heads of the contents to look for.
struct Heads<'q> {
    texts: Vec<&'q str>,
    hashes: FxHashSet<u64>,
    /// The bytes that one of them begins with.
    firsts: FxHashSet<u8>,
}

impl<'q> Heads<'q> {
    fn new(texts: Vec<&'q str>) -> Self {
        let hashes = texts.iter().map(|head| hash(head)).collect();
        let firsts = texts.iter().filter_map(|head| head.bytes().next()).collect();
        Self { texts, hashes, firsts }
    }

    /// Return whether a text that begins with this, less the space around it, may be one of them.
    fn may_begin_with(&self, start: &str) -> bool {
        // The name of a tool is a word, and mostly its first letter tells.
        let first = start.bytes().next().filter(u8::is_ascii_alphanumeric);
        first.is_none_or(|first| self.firsts.contains(&first)) && {
            let start = head(start.trim());
            self.texts.iter().any(|head| head.starts_with(start))
        }
    }
}

fn is_said(kind: Kind) -> bool {
    matches!(kind, Kind::Text | Kind::Media)
}

fn hash(edge: &str) -> u64 {
    xxh3_64(edge.as_bytes())
}

/// Return whether a text is these parts with something between them.
fn is_same(text: &str, parts: &[&str]) -> bool {
    matches_parts(text, parts) || {
        // A line of the host may also stand further down.
        let stripped = strip_channel_prefix(text);
        stripped.len() != text.len() && matches_parts(&stripped, parts)
    }
}

fn matches_parts(text: &str, parts: &[&str]) -> bool {
    match parts {
        [] => text.is_empty(),
        [whole] => text == *whole,
        [first, middle @ .., last] => {
            let Some(mut rest) = text.strip_prefix(first).and_then(|rest| rest.strip_suffix(last)) else {
                return false;
            };
            middle.iter().all(|part| match rest.split_once(part) {
                Some((_, behind)) => {
                    rest = behind;
                    true
                }
                None => false,
            })
        }
    }
}

/// Return the first characters of a text.
fn head(text: &str) -> &str {
    text.char_indices().nth(EDGE).map_or(text, |(at, _)| &text[..at])
}

/// Return the last characters of a text.
fn tail(text: &str) -> &str {
    text.char_indices().nth_back(EDGE - 1).map_or(text, |(at, _)| &text[at..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::is_noise;
    use crate::messages::draft::{call, result, said, text};
    use crate::messages::{Format, Part, Role};
    use crate::redact::{Redaction, Redactor};
    use proptest::prelude::*;

    fn conversation(views: Vec<MessageView>) -> Conversation {
        Conversation::new(Format::Anthropic, views)
    }

    /// Return the text as the store writes it.
    fn stored(text: &str) -> String {
        let redactor = Redactor::new(Redaction::Mask, true, &[]).expect("the defaults are valid");
        redactor.mask(&strip_channel_prefix(text)).text.into_owned()
    }

    #[test]
    fn hidden_messages_are_not_visible() {
        let talk =
            conversation(vec![said(Role::User, "where is the port set?"), said(Role::User, "in pay.toml it is")]);
        let visible = Visible::new(&talk, &[1]);
        assert!(visible.shows("where is the port set?"));
        assert!(!visible.shows("in pay.toml it is"));
        assert!(!visible.shows("where is the port"), "a piece of a message is not the message");
        assert!(!visible.shows("where is the port set? twice"));
    }

    #[test]
    fn all_pieces_of_a_message_are_shown() {
        let blocks =
            |texts: &[&str]| texts.iter().map(|body| Part::new(Kind::Text, Some(text(body)))).collect::<Vec<_>>();
        let talk = conversation(vec![
            MessageView::new(Role::User, blocks(&["two", "blocks of text"])),
            MessageView::new(Role::Assistant, vec![call("a", "read", r#"{"path":"src/pay.rs"}"#)]),
            MessageView::new(Role::Tool, vec![result("a", "fn main() {}")]),
        ]);
        let visible = Visible::new(&talk, &[]);
        for content in ["two\nblocks of text", r#"read {"path":"src/pay.rs"}"#, "fn main() {}"] {
            assert!(visible.shows(content), "{content}");
            assert!(Visible::seeking(&talk, &[], &[content]).shows(content), "{content}");
        }
        assert!(!visible.shows("blocks of text"));
    }

    #[test]
    fn secrets_and_the_hosts_own_lines_do_not_hide_a_text() {
        let secrets = [
            "export DB_PASSWORD=k3jf9slw-Qp0 # for staging",
            "DB_PASSWORD=k3jf9slw-Qp0",
            "the key is ghp_0123456789abcdefghijklmnopqrstuvwxyz, then DB_PASSWORD=k3jf9slw-Qp0, and that is all of it",
            "System: [2026-02-15 18:49:02 GMT+8] Feishu[main] message\nhello there, friend",
            "hello there, friend\n[Sun 2026-02-15 18:49] hi\nand more of it",
            "write to jane.doe@example.com",
        ];
        for text in secrets {
            let talk = conversation(vec![said(Role::User, "something else"), said(Role::User, text)]);
            let content = stored(text);
            assert_ne!(content, text);
            assert!(Visible::new(&talk, &[]).shows(&content), "{content}");
            assert!(!Visible::new(&talk, &[1]).shows(&content), "{content}");
        }
    }

    proptest! {
        #[test]
        fn every_text_is_shown_as_it_is_stored(
            texts in prop::collection::vec(
                "(System: \\[2026-02-15 18:49\\] x\n)?([a-z飞書]{1,9}|token=k3jf9slwQp0xx7Zt|jane@example.com|[ \n]){1,12}",
                1..8,
            ),
            hidden in 0..8_u32,
        ) {
            let talk = conversation(texts.iter().map(|text| said(Role::User, text)).collect());
            let visible = Visible::new(&talk, &[hidden]);
            let contents: Vec<String> = texts.iter().map(|text| stored(text)).collect();
            let contents: Vec<&str> = contents.iter().map(String::as_str).collect();
            for asked in [&contents[..], &contents[..1], &contents[contents.len() / 2..]] {
                let sought = Visible::seeking(&talk, &[hidden], asked);
                for content in asked {
                    prop_assert_eq!(sought.shows(content), visible.shows(content), "{}", content);
                }
            }
            for (index, text) in (0..).zip(&texts) {
                let content = stored(text);
                let has_equal = || (0..).zip(&texts).any(|(at, other)| at != hidden && stored(other) == content);
                if is_noise(&content) {
                    continue;
                }
                if index != hidden || has_equal() {
                    prop_assert!(visible.shows(&content), "{}", content);
                } else if !content.contains("[REDACTED") {
                    prop_assert!(!visible.shows(&content), "{}", content);
                }
            }
        }
    }
}
