//! Parsed conversation: views and units of a list of messages.

use std::sync::atomic::{AtomicU64, Ordering};

use rustc_hash::FxHashMap;

use super::format::{Format, Layout};
use super::growth::Growth;
use super::unit::{Unit, units};
use super::view::{Kind, MessageView, Role};
use crate::ingest::strip_channel_prefix;

/// A list of messages as one turn sees it.
#[derive(Clone, Debug)]
pub struct Conversation {
    /// Format of the messages.
    pub format: Format,
    /// Views of the messages, in order.
    pub views: Vec<MessageView>,
    /// Units that may be removed, in the order of their first messages.
    pub units: Vec<Unit>,
    /// So many messages are plainly paired: it need not be looked at again whether anything is wrong with their calls.
    pub(super) paired: usize,
    /// True if no two calls are known to have the same id.
    pub(super) has_own_ids: bool,
    /// See [`Conversation::lineage`].
    pub(super) lineage: u64,
}

impl Conversation {
    /// Create the conversation of messages that were read.
    #[must_use]
    pub fn new(format: Format, views: Vec<MessageView>) -> Self {
        let mut conversation =
            Self { format, views: Vec::new(), units: Vec::new(), paired: 0, has_own_ids: true, lineage: new_lineage() };
        Growth::default().extend(&mut conversation, views);
        conversation
    }

    /// Return the same without some messages. What was found out by the place of a message stays.
    #[must_use]
    pub fn without(&self, indices: &[u32]) -> Self {
        let mut stays = vec![true; self.views.len()];
        for &index in indices {
            if let Some(stays) = stays.get_mut(index as usize) {
                *stays = false;
            }
        }
        let views: Vec<MessageView> =
            self.views.iter().zip(stays).filter(|(_, stays)| *stays).map(|(view, _)| view.clone()).collect();
        let units = units(&views);
        Self { format: self.format, views, units, paired: 0, has_own_ids: self.has_own_ids, lineage: new_lineage() }
    }

    /// Return a number that conversations share of which one is the other with more behind it, messages and units.
    pub(crate) fn lineage(&self) -> u64 {
        self.lineage
    }

    /// Return the tokens of all messages.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.views.iter().map(|view| u64::from(view.tokens())).sum()
    }

    /// Return for each message the number of earlier ones of the same key.
    #[must_use]
    pub fn ordinals(&self) -> Vec<u32> {
        let mut counts: FxHashMap<u64, u32> = FxHashMap::default();
        let ordinal = |view: &MessageView| {
            let count = counts.entry(view.key).or_default();
            *count += 1;
            *count - 1
        };
        self.views.iter().map(ordinal).collect()
    }

    /// Find the message of each key with that many of the same key before it.
    #[must_use]
    pub fn find(&self, sought: &[(u64, usize)]) -> Vec<Option<usize>> {
        if let [(key, ordinal)] = sought {
            let mut alike = self.views.iter().enumerate().filter(|(_, view)| view.key == *key);
            return vec![alike.nth(*ordinal).map(|(position, _)| position)];
        }
        let mut found = vec![None; sought.len()];
        // By their keys how many were seen, and who asked for which of them.
        let mut asked: FxHashMap<u64, (usize, Vec<(usize, usize)>)> = FxHashMap::default();
        for (asker, &(key, ordinal)) in sought.iter().enumerate() {
            asked.entry(key).or_default().1.push((ordinal, asker));
        }
        for (position, view) in self.views.iter().enumerate() {
            let Some((seen, askers)) = asked.get_mut(&view.key) else { continue };
            for (_, asker) in askers.iter().filter(|(ordinal, _)| ordinal == seen) {
                found[*asker] = Some(position);
            }
            *seen += 1;
        }
        found
    }

    /// Return whether a message belongs to a tool group.
    #[must_use]
    pub fn is_in_group(&self, position: u32) -> bool {
        let Some(view) = self.views.get(position as usize) else { return false };
        // Besides calls and results only what the model says belongs to one, behind its reasoning, and what is not
        // known.
        let is_bare = view.calls().next().is_none() && view.results().next().is_none();
        if is_bare && view.role != Role::Assistant && !view.is_opaque() {
            return false;
        }
        !is_bare || self.units.iter().any(|unit| unit.is_group && unit.messages.contains(&position))
    }

    /// Return whether the model waits for tools, or tools have answered and the model has not.
    #[must_use]
    pub fn is_running(&self) -> bool {
        let last = self.views.iter().rev().find(|view| !view.is_recalled);
        last.is_some_and(|view| view.results().next().is_some() || view.calls().next().is_some())
    }

    /// Return whether a message only goes on with the answer that the one before belongs to: where messages are items,
    /// the reasoning, the words and each call of one answer are items of their own.
    #[must_use]
    pub fn continues(&self, index: usize) -> bool {
        let is_said = |index: usize| self.views.get(index).is_some_and(|view| view.role == Role::Assistant);
        self.format.rules().layout == Layout::Items && index > 0 && is_said(index - 1) && is_said(index)
    }

    /// Return the newest message that a person wrote.
    #[must_use]
    pub fn newest_user(&self) -> Option<usize> {
        self.views.iter().rposition(MessageView::is_person)
    }

    /// Return the query of this turn: the last `count` texts a person wrote, oldest first, joined by a space.
    #[must_use]
    pub fn query(&self, count: usize) -> String {
        self.questions(count, ends_of)
    }

    /// Return the same texts, of each the first `chars` characters, so that it can be shown in part without cutting a
    /// word.
    #[must_use]
    pub fn query_heads(&self, count: usize, chars: usize) -> String {
        self.questions(count, |mut text| {
            text.truncate(text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at));
            text
        })
    }

    fn questions(&self, count: usize, cut: impl Fn(String) -> String) -> String {
        let questions = self.views.iter().rev().filter_map(question);
        let mut texts: Vec<String> = questions.take(count).map(cut).collect();
        texts.reverse();
        texts.join(" ")
    }
}

pub(super) fn new_lineage() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Return the text that a person wrote in a message, without what a chat host wrapped around it.
fn question(view: &MessageView) -> Option<String> {
    if view.role != Role::User || view.is_summary {
        return None;
    }
    let parts = view.parts.iter().filter(|part| part.kind == Kind::Text && part.name.is_none());
    let texts = parts.filter(|part| !part.is_recalled()).filter_map(|part| part.text.as_deref());
    let stripped = texts.map(|text| strip_channel_prefix(text.body())).filter(|text| !text.is_empty());
    let text = stripped.fold(String::new(), |mut all, text| {
        if !all.is_empty() {
            all.push('\n');
        }
        all.push_str(&text);
        all
    });
    (!text.is_empty()).then_some(text)
}

/// Return a text, or if it is long its head and tail: what is asked stands there, and what is between was pasted.
fn ends_of(text: String) -> String {
    const END: usize = 500;
    if text.chars().nth(2 * END).is_none() {
        return text;
    }
    let start = text.char_indices().nth(END).map_or(text.len(), |(at, _)| at);
    let end = text.char_indices().rev().nth(END - 1).map_or(0, |(at, _)| at);
    format!("{} {}", &text[..start], &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::Part;
    use crate::messages::draft::{call, result, said, text};
    use crate::messages::recalled::BLOCK;

    fn read(views: Vec<MessageView>) -> Conversation {
        Conversation::new(Format::Anthropic, views)
    }

    #[test]
    fn the_query_is_the_last_things_a_person_wrote() {
        let conversation = read(vec![
            said(Role::User, "one"),
            said(Role::User, "two"),
            said(Role::Assistant, "yes"),
            said(Role::User, "System: [2026-02-15 18:49:02 GMT+8] Feishu[main]\nthree"),
            MessageView::new(Role::User, vec![result("a", "no question")]),
            said(Role::User, BLOCK),
            MessageView::new(
                Role::User,
                [BLOCK, "four", " "].map(|body| Part::new(Kind::Text, Some(text(body)))).to_vec(),
            ),
        ]);
        assert_eq!(conversation.query(3), "two three four");
        assert_eq!(conversation.query(0), "");
        assert_eq!(conversation.newest_user(), Some(6));
        assert_eq!(conversation.without(&[6]).newest_user(), Some(3));
    }

    #[test]
    fn messages_are_found_by_their_key_and_how_many_stand_before() {
        let conversation = read(["one", "two", "one", "one"].map(|body| said(Role::User, body)).to_vec());
        let [one, two, ..] = &conversation.views[..] else { unreachable!() };
        let sought = [(one.key, 2), (two.key, 0), (one.key, 0), (two.key, 1), (one.key, 2), (9, 0)];
        assert_eq!(conversation.find(&sought), [Some(3), Some(1), Some(0), None, Some(3), None]);
        let ordinals = conversation.ordinals();
        for (position, view) in conversation.views.iter().enumerate() {
            assert_eq!(conversation.find(&[(view.key, ordinals[position] as usize)]), [Some(position)]);
        }
    }

    #[test]
    fn of_a_long_text_its_ends_are_the_question() {
        let pasted = format!("what is wrong here? {} 答えは？", "x".repeat(50_000));
        let query = read(vec![said(Role::User, &pasted)]).query(1);
        assert!(query.starts_with("what is wrong here?") && query.ends_with("答えは？"));
        assert_eq!(query.chars().count(), 1_001);
        let short = "y".repeat(1_000);
        assert_eq!(read(vec![said(Role::User, &short)]).query(1), short);
        let conversation = read(vec![said(Role::User, &pasted), said(Role::User, "two")]);
        let head: String = pasted.chars().take(700).collect();
        assert_eq!(conversation.query_heads(2, 700), format!("{head} two"));
    }

    #[test]
    fn hosts_and_tools_ask_no_questions() {
        let host = Part { name: Some("reminder".into()), ..Part::new(Kind::Text, Some(text("mind the tests"))) };
        let conversation = read(vec![
            MessageView::new(Role::User, vec![host]),
            MessageView::new(Role::User, vec![Part::new(Kind::Compaction, Some(text("all said")))]),
            said(Role::Assistant, "hello"),
        ]);
        assert_eq!(conversation.query(3), "");
        assert_eq!(conversation.newest_user(), None);
    }

    #[test]
    fn leaving_messages_out_regroups_the_rest() {
        let conversation = read(vec![
            said(Role::System, "be brief"),
            said(Role::User, "<read-files>"),
            MessageView::new(Role::Assistant, vec![call("a", "read", "{}")]),
            MessageView::new(Role::User, vec![result("a", "done")]),
        ]);
        let rest = conversation.without(&[0, 9]);
        assert_eq!(rest.views.len(), 3);
        assert!(rest.views[0].is_summary, "as it was in its old place");
        assert_eq!(rest.units.iter().map(|unit| &unit.messages[..]).collect::<Vec<_>>(), [&[0][..], &[1, 2]]);
        assert_eq!(rest.units[1].key, conversation.units[2].key);
        assert_eq!(rest.views[2].parts[0].name.as_deref(), Some("read"));
    }
}
