//! What we read off one message.

use std::sync::Arc;

use smallvec::SmallVec;
use xxhash_rust::xxh3::xxh3_64;

use super::text::Text;

/// Who speaks.
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
    /// Whatever we do not know. It passes through untouched.
    Other,
}

/// What a piece of a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Something said.
    Text,
    /// The model's reasoning.
    Thinking,
    /// A call of a tool; its text is what the tool was asked, as compact JSON.
    Call,
    /// What a tool answered; its text is that of its text blocks, joined by newlines.
    Result,
    /// A picture, a sound or a file; its text is what stands for it in the archive.
    Media,
    /// What the provider's own compaction left, opaque or not. It is never touched.
    Compaction,
    /// Anything else. It is never touched.
    Other,
}

/// One piece of a message: a block of its content, a call, a result.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // facts that hold or do not, each apart
pub struct Piece {
    /// What it is.
    pub kind: Kind,
    /// Its text, where it has one.
    pub text: Option<Arc<Text>>,
    /// For calls and results the id that pairs them; [`Piece::own_id`] is what the host calls it.
    pub id: Option<Arc<str>>,
    /// For calls, and results where it is known, the name of the tool. For text that the host itself put among a
    /// person's, and for what a compaction left, the host's word for it.
    pub name: Option<Arc<str>>,
    /// For results: what stands for their pictures and files in the archive.
    pub media: Option<Arc<str>>,
    /// A hash of what was read but has no text here: signatures, pictures, what is encrypted, what is not known.
    pub mark: u64,
    /// What it costs, names, arguments and pictures included.
    pub tokens: u32,
    /// For results: the tool failed.
    pub is_error: bool,
    /// For thinking: the provider signed or encrypted it, so it binds to what stood before it. For calls: Gemini's
    /// thought signature.
    pub is_signed: bool,
    /// For results: there is a picture or a file among its blocks.
    pub has_media: bool,
    /// For calls and results: the provider runs the tool itself, and call and result stand in the same message.
    pub is_server: bool,
}

/// What we read off one message.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // as above
pub struct View {
    /// Who speaks.
    pub role: Role,
    /// Its pieces, in order, shared by all turns that see the message again.
    pub pieces: Arc<[Piece]>,
    /// A hash of all that was read: role, kinds, ids and texts. The same on every machine and in every version.
    pub key: u64,
    /// When it was said, in milliseconds since 1970, where the message says so.
    pub timestamp: Option<f64>,
    /// It is the summary of a compaction, in whatever shape.
    pub is_summary: bool,
    /// All of it is one block that we recalled in an earlier turn.
    pub is_recalled: bool,
    /// The model's turn was cut off: its calls need no results.
    pub is_aborted: bool,
    /// What its pieces come to. They lie anywhere in memory; whoever goes through all messages had to wait for each.
    pub(crate) outline: Outline,
}

impl View {
    /// A message that was read. A user's message that carries results and no word of a person is a tool's.
    #[must_use]
    pub fn new(role: Role, pieces: impl Into<Arc<[Piece]>>) -> Self {
        let pieces = pieces.into();
        let carries = role == Role::User && pieces.iter().any(Piece::is_result);
        let role = if carries && !pieces.iter().any(Piece::is_personal) { Role::Tool } else { role };
        let is_summary = pieces.iter().any(|piece| piece.kind == Kind::Compaction);
        let mut said = pieces.iter().filter(|piece| !piece.is_cache_mark());
        let is_one_block = said.next().is_some_and(Piece::is_recalled) && said.next().is_none();
        let is_recalled = role == Role::User && is_one_block;
        let key = key(role, &pieces);
        let outline = Outline::of(&pieces);
        Self { role, pieces, key, timestamp: None, is_summary, is_recalled, is_aborted: false, outline }
    }

    /// What the frame around a message costs.
    pub const FRAME: u32 = 4;

    /// What the message costs the model.
    #[must_use]
    pub fn tokens(&self) -> u32 {
        self.outline.tokens
    }

    /// Whether it is a user's message with a block that we recalled and something else: we put none into others.
    #[must_use]
    pub fn carries_recalled(&self) -> bool {
        matches!(self.role, Role::User | Role::Tool) && self.outline.has_block_and_more
    }

    /// Whether a person wrote it.
    #[must_use]
    pub fn is_person(&self) -> bool {
        self.role == Role::User && !self.is_summary && self.outline.is_personal
    }

    /// Whether it has thinking that the provider signed.
    #[must_use]
    pub fn has_signed_thinking(&self) -> bool {
        self.outline.is_signed
    }

    /// Its calls, those of the provider's own tools left out.
    pub fn calls(&self) -> impl Iterator<Item = &Piece> {
        let pieces = if self.outline.has_calls { &*self.pieces } else { &[] };
        pieces.iter().filter(|piece| piece.is_call() && !piece.is_server)
    }

    /// Its results, those of the provider's own tools left out.
    pub fn results(&self) -> impl Iterator<Item = &Piece> {
        let pieces = if self.outline.has_results { &*self.pieces } else { &[] };
        pieces.iter().filter(|piece| piece.is_result() && !piece.is_server)
    }
}

/// What the pieces of a message come to. Whoever changes one has to take it anew; ids and names are not part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // facts that hold or do not, each apart
pub(crate) struct Outline {
    pub(super) tokens: u32,
    /// Calls and results that are not those of the provider's own tools.
    has_calls: bool,
    has_results: bool,
    /// A block of ours and something else.
    has_block_and_more: bool,
    /// Something that a person can have put there.
    is_personal: bool,
    /// Thinking that is signed.
    is_signed: bool,
    /// Thinking and nothing else.
    pub(super) is_reasoning: bool,
    /// What the provider's own compaction left.
    pub(crate) has_compaction: bool,
    /// A text with nothing to read in it.
    pub(super) has_blank_text: bool,
    /// Nothing at all.
    pub(super) is_empty: bool,
    /// How its text begins as it would be stored, if it is one text and nothing else.
    pub(crate) head: Option<u64>,
}

impl Outline {
    pub(super) fn of(pieces: &[Piece]) -> Self {
        let any = |is_such: fn(&Piece) -> bool| pieces.iter().any(is_such);
        let is_blank = |text: &Arc<Text>| text.is_blank();
        let blocks = pieces.iter().filter(|piece| piece.is_recalled()).count();
        let said = pieces.iter().filter(|piece| !piece.is_cache_mark()).count();
        Self {
            tokens: pieces.iter().map(|piece| piece.tokens).fold(View::FRAME, u32::saturating_add),
            has_calls: any(|piece| piece.is_call() && !piece.is_server),
            has_results: any(|piece| piece.is_result() && !piece.is_server),
            has_block_and_more: (1..said).contains(&blocks),
            is_personal: any(Piece::is_personal),
            is_signed: any(|piece| piece.kind == Kind::Thinking && piece.is_signed),
            is_reasoning: !pieces.is_empty() && pieces.iter().all(|piece| piece.kind == Kind::Thinking),
            has_compaction: any(|piece| piece.kind == Kind::Compaction),
            has_blank_text: pieces
                .iter()
                .any(|piece| piece.kind == Kind::Text && piece.text.as_ref().is_none_or(is_blank)),
            is_empty: pieces.is_empty(),
            head: if let [piece] = pieces { piece.head() } else { None },
        }
    }
}

impl Piece {
    /// A piece that costs what its text costs.
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
            has_media: false,
            is_server: false,
        }
    }

    /// An id for a call whose host gives none, made of what the message says and of nothing else.
    #[must_use]
    pub fn made_up_id(name: &str, ordinal: usize) -> Arc<str> {
        if ordinal == 0 { format!("{MADE_UP}{name}") } else { format!("{MADE_UP}{name}{MADE_UP}{ordinal}") }.into()
    }

    /// The id that the host gave it.
    #[must_use]
    pub fn own_id(&self) -> Option<&str> {
        self.id.as_deref().filter(|id| !id.starts_with(MADE_UP))
    }

    /// Whether it is a call, be it of the provider's own tool.
    #[must_use]
    pub fn is_call(&self) -> bool {
        self.kind == Kind::Call
    }

    /// Whether it is a result, be it of the provider's own tool.
    #[must_use]
    pub fn is_result(&self) -> bool {
        self.kind == Kind::Result
    }

    /// Whether it is a block of ours.
    #[must_use]
    pub fn is_recalled(&self) -> bool {
        self.kind == Kind::Text && self.text.as_deref().is_some_and(Text::is_block)
    }

    /// How its text begins as it would be stored; none for what is stored otherwise than as a text of its own.
    fn head(&self) -> Option<u64> {
        let text = self.text.as_ref().filter(|_| !matches!(self.kind, Kind::Call | Kind::Thinking | Kind::Other));
        text.map(|text| text.stored().head())
    }

    /// Whether it is a mark for the prompt cache that stands alone: no request may consist of nothing else.
    fn is_cache_mark(&self) -> bool {
        self.kind == Kind::Other && self.text.is_none() && (self.tokens, self.mark) == (0, 0)
    }

    /// Whether a person can have put it there: words or pictures that are neither the host's nor ours.
    fn is_personal(&self) -> bool {
        matches!(self.kind, Kind::Text | Kind::Media) && self.name.is_none() && !self.is_recalled()
    }
}

/// No host begins an id with this.
pub(super) const MADE_UP: char = '\0';

fn key(role: Role, pieces: &[Piece]) -> u64 {
    let mut told: SmallVec<[u8; 256]> = SmallVec::new();
    told.push(role as u8);
    for piece in pieces {
        let flags = u8::from(piece.is_error) | u8::from(piece.is_signed) << 1 | u8::from(piece.is_server) << 2;
        told.extend_from_slice(&[piece.kind as u8, flags]);
        told.extend_from_slice(&piece.text.as_ref().map_or(0, |text| text.hash()).to_le_bytes());
        told.extend_from_slice(&piece.mark.to_le_bytes());
        for word in [&piece.id, &piece.name, &piece.media] {
            let word = word.as_deref().unwrap_or_default();
            told.extend_from_slice(&(word.len() as u64).to_le_bytes());
            told.extend_from_slice(word.as_bytes());
        }
    }
    xxh3_64(&told)
}
