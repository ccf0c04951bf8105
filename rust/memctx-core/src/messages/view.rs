//! View of one message.

use std::sync::Arc;

use smallvec::SmallVec;
use xxhash_rust::xxh3::xxh3_64;

use super::text::Text;

/// Role of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The host: `system`, `developer`.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
    /// Tools: a message that carries results and nothing that a person said.
    Tool,
    /// Other item: one of an unknown kind, or a line of a session file. It passes through untouched.
    Other,
}

/// Kind of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Text.
    Text,
    /// The model's reasoning.
    Thinking,
    /// A call of a tool; its text is what the tool was asked, as compact JSON.
    Call,
    /// Result of a tool; its text is that of its text blocks, joined by newlines.
    Result,
    /// A picture, a sound or a file; its text is what stands for it in the archive.
    Media,
    /// Output of the provider's own compaction, opaque or not. It is never touched.
    Compaction,
    /// Anything else. It is never touched.
    Other,
}

/// One part of a message: a block of its content, a call, a result.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // facts that hold or do not, each apart
pub struct Part {
    /// Kind of the part.
    pub kind: Kind,
    /// Its text, where it has one.
    pub text: Option<Arc<Text>>,
    /// For calls and results the id that pairs them; [`Part::own_id`] is what the host calls it. For what is opaque the
    /// id by which it may belong to one of them.
    pub id: Option<Arc<str>>,
    /// For calls, and results where it is known, the name of the tool. For text that the host itself put among a
    /// person's, and for what a compaction left, the host's word for it.
    pub name: Option<Arc<str>>,
    /// For results: what stands for their pictures and files in the archive.
    pub media: Option<Arc<str>>,
    /// A hash of what was read but has no text here: signatures, pictures, what is encrypted, what is not known.
    pub mark: u64,
    /// Tokens, names, arguments and images included.
    pub tokens: u32,
    /// For results: the tool failed.
    pub is_error: bool,
    /// For thinking: the provider signed or encrypted it, so it binds to what stood before it. For calls: Gemini's
    /// thought signature.
    pub is_signed: bool,
    /// For thinking: its provider refuses it behind anything but what it was written behind, as Anthropic does.
    pub is_bound: bool,
    /// It is of a kind that is not known. It is kept whole, and nothing that may belong to it is repaired.
    pub is_opaque: bool,
    /// For results: there is a picture or a file among its blocks.
    pub has_media: bool,
    /// For calls and results: the provider runs the tool itself, and call and result stand in the same message.
    pub is_server: bool,
}

/// View of one message.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // as above
pub struct MessageView {
    /// Role of the message.
    pub role: Role,
    /// Its parts, in order, shared by all turns that see the message again.
    pub parts: Arc<[Part]>,
    /// A hash of all that was read: role, kinds, ids and texts. The same on every machine and in every version.
    pub key: u64,
    /// Time of the message, in milliseconds since 1970, if it has one.
    pub timestamp: Option<f64>,
    /// It is the summary of a compaction, in any format.
    pub is_summary: bool,
    /// All of it is one block that we recalled in an earlier turn.
    pub is_recalled: bool,
    /// The model's turn was cut off: its calls need no results.
    pub is_aborted: bool,
    /// Summary of its parts, kept here so that a pass over all messages does not wait for scattered memory.
    pub(crate) outline: Outline,
}

impl MessageView {
    /// Create a message that was read. A user's message that carries results and no word of a person is a tool's.
    #[must_use]
    pub fn new(role: Role, parts: impl Into<Arc<[Part]>>) -> Self {
        let parts = parts.into();
        let carries = role == Role::User && parts.iter().any(Part::is_result);
        let role = if carries && !parts.iter().any(Part::is_personal) { Role::Tool } else { role };
        let is_summary = parts.iter().any(|part| part.kind == Kind::Compaction);
        let mut said = parts.iter().filter(|part| !part.is_cache_mark());
        let is_one_block = said.next().is_some_and(Part::is_recalled) && said.next().is_none();
        let is_recalled = role == Role::User && is_one_block;
        let key = key(role, &parts);
        let outline = Outline::of(&parts);
        Self { role, parts, key, timestamp: None, is_summary, is_recalled, is_aborted: false, outline }
    }

    /// Tokens of the frame around a message.
    pub const FRAME: u32 = 4;

    /// Return the tokens of the message.
    #[must_use]
    pub fn tokens(&self) -> u32 {
        self.outline.tokens
    }

    /// Return whether it is a user's message with a block that we recalled and something else: we put none into others.
    #[must_use]
    pub fn carries_recalled(&self) -> bool {
        matches!(self.role, Role::User | Role::Tool) && self.outline.has_block_and_more
    }

    /// Return whether a person wrote it.
    #[must_use]
    pub fn is_person(&self) -> bool {
        self.role == Role::User && !self.is_summary && self.outline.is_personal
    }

    /// Return whether it has thinking that its provider refuses behind anything but what it was written behind.
    #[must_use]
    pub fn has_bound_thinking(&self) -> bool {
        self.outline.is_bound
    }

    /// Return whether it has something of a kind that is not known.
    #[must_use]
    pub fn is_opaque(&self) -> bool {
        self.outline.is_opaque
    }

    /// Return the ids by which what is not known in it may belong to calls or results.
    pub(super) fn opaque_ids(&self) -> impl Iterator<Item = &Arc<str>> {
        let parts = if self.outline.is_opaque { &*self.parts } else { &[] };
        let is_apart = |part: &&Part| part.is_server || !(part.is_call() || part.is_result());
        parts.iter().filter(|part| part.is_opaque).filter(is_apart).filter_map(|part| part.id.as_ref())
    }

    /// Return its calls, those of the provider's own tools left out.
    pub fn calls(&self) -> impl Iterator<Item = &Part> {
        let parts = if self.outline.has_calls { &*self.parts } else { &[] };
        parts.iter().filter(|part| part.is_call() && !part.is_server)
    }

    /// Return its results, those of the provider's own tools left out.
    pub fn results(&self) -> impl Iterator<Item = &Part> {
        let parts = if self.outline.has_results { &*self.parts } else { &[] };
        parts.iter().filter(|part| part.is_result() && !part.is_server)
    }
}

/// Summary of the parts of a message. A change to a part requires a new one; ids and names are not included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // facts that hold or do not, each apart
pub(crate) struct Outline {
    pub(super) tokens: u32,
    /// Calls and results that are not those of the provider's own tools.
    has_calls: bool,
    has_results: bool,
    /// A block of ours and something else.
    has_block_and_more: bool,
    /// True if some part can come from a person.
    is_personal: bool,
    /// Thinking that is bound to what stood before it.
    is_bound: bool,
    /// True if some part is of an unknown kind.
    is_opaque: bool,
    /// Thinking and nothing else.
    pub(super) is_reasoning: bool,
    /// True if some part is output of the provider's own compaction.
    pub(crate) has_compaction: bool,
    /// A text with nothing to read in it.
    pub(super) has_blank_text: bool,
    /// Nothing at all.
    pub(super) is_empty: bool,
    /// Hash of the head of its text as it would be stored, if it is one text and nothing else.
    pub(crate) head: Option<u64>,
}

impl Outline {
    pub(super) fn of(parts: &[Part]) -> Self {
        let any = |is_such: fn(&Part) -> bool| parts.iter().any(is_such);
        let is_blank = |text: &Arc<Text>| text.is_blank();
        let blocks = parts.iter().filter(|part| part.is_recalled()).count();
        let said = parts.iter().filter(|part| !part.is_cache_mark()).count();
        Self {
            tokens: parts.iter().map(|part| part.tokens).fold(MessageView::FRAME, u32::saturating_add),
            has_calls: any(|part| part.is_call() && !part.is_server),
            has_results: any(|part| part.is_result() && !part.is_server),
            has_block_and_more: (1..said).contains(&blocks),
            is_personal: any(Part::is_personal),
            is_bound: any(|part| part.kind == Kind::Thinking && part.is_bound),
            is_opaque: any(|part| part.is_opaque),
            is_reasoning: !parts.is_empty() && parts.iter().all(|part| part.kind == Kind::Thinking),
            has_compaction: any(|part| part.kind == Kind::Compaction),
            has_blank_text: parts.iter().any(|part| part.kind == Kind::Text && part.text.as_ref().is_none_or(is_blank)),
            is_empty: parts.is_empty(),
            head: if let [part] = parts { part.head() } else { None },
        }
    }
}

impl Part {
    /// Create a part that costs what its text costs.
    #[must_use]
    pub fn new(kind: Kind, text: Option<Arc<Text>>) -> Self {
        let tokens = text.as_ref().map_or(0, |text| text.tokens());
        Self {
            kind,
            text,
            id: None,
            name: None,
            media: None,
            mark: 0,
            tokens,
            is_error: false,
            is_signed: false,
            is_bound: false,
            is_opaque: false,
            has_media: false,
            is_server: false,
        }
    }

    /// Return an id for a call whose host gives none, made of what the message says and of nothing else.
    #[must_use]
    pub fn made_up_id(name: &str, ordinal: usize) -> Arc<str> {
        if ordinal == 0 { format!("{MADE_UP}{name}") } else { format!("{MADE_UP}{name}{MADE_UP}{ordinal}") }.into()
    }

    /// Return the id that the host gave it.
    #[must_use]
    pub fn own_id(&self) -> Option<&str> {
        self.id.as_deref().filter(|id| !id.starts_with(MADE_UP))
    }

    /// Return whether it is a call, be it of the provider's own tool.
    #[must_use]
    pub fn is_call(&self) -> bool {
        self.kind == Kind::Call
    }

    /// Return whether it is a result, be it of the provider's own tool.
    #[must_use]
    pub fn is_result(&self) -> bool {
        self.kind == Kind::Result
    }

    /// Return whether it is a block of ours.
    #[must_use]
    pub fn is_recalled(&self) -> bool {
        self.kind == Kind::Text && self.text.as_deref().is_some_and(Text::is_block)
    }

    /// Return the hash of the head of its text as it would be stored; none if it is not stored as a text of its own.
    fn head(&self) -> Option<u64> {
        let text = self.text.as_ref().filter(|_| !matches!(self.kind, Kind::Call | Kind::Thinking | Kind::Other));
        text.map(|text| text.stored().head())
    }

    /// Return whether it is a mark for the prompt cache that stands alone: no request may consist of nothing else.
    fn is_cache_mark(&self) -> bool {
        self.kind == Kind::Other && self.text.is_none() && (self.tokens, self.mark) == (0, 0)
    }

    /// Return whether a person can have put it there: words or pictures that are neither the host's nor ours.
    fn is_personal(&self) -> bool {
        matches!(self.kind, Kind::Text | Kind::Media) && self.name.is_none() && !self.is_recalled()
    }
}

/// No host begins an id with this.
pub(super) const MADE_UP: char = '\0';

fn key(role: Role, parts: &[Part]) -> u64 {
    let mut bytes: SmallVec<[u8; 256]> = SmallVec::new();
    bytes.push(role as u8);
    for part in parts {
        let flags = u8::from(part.is_error) | u8::from(part.is_signed) << 1 | u8::from(part.is_server) << 2;
        bytes.extend_from_slice(&[part.kind as u8, flags]);
        bytes.extend_from_slice(&part.text.as_ref().map_or(0, |text| text.hash()).to_le_bytes());
        bytes.extend_from_slice(&part.mark.to_le_bytes());
        for word in [&part.id, &part.name, &part.media] {
            let word = word.as_deref().unwrap_or_default();
            bytes.extend_from_slice(&(word.len() as u64).to_le_bytes());
            bytes.extend_from_slice(word.as_bytes());
        }
    }
    xxh3_64(&bytes)
}
