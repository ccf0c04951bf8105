//! Text of a message, with its tokens and terms.

use std::fmt;
use std::ops::Deref;
use std::sync::OnceLock;

use xxhash_rust::xxh3::xxh3_64;

use super::cache::Key;
use super::recalled;
use super::terms::Terms;
use crate::recall::Stored;
use crate::text::weighted_len;

/// Storage of a text's characters: a copy, or memory that a host lends for as long as it is held.
pub type Body = dyn Deref<Target = str> + Send + Sync;

/// A text of a message with what was found out about it, shared by all turns that see it again.
pub struct Text<B: ?Sized = Body> {
    hash: u64,
    tokens: u32,
    is_block: bool,
    is_blank: bool,
    weighted_len: OnceLock<usize>,
    stored: OnceLock<Stored>,
    /// Search terms of the text; see [`super::Reader`].
    pub(super) terms: OnceLock<Terms>,
    body: B,
}

impl Text<Box<str>> {
    /// Create a copy of a text that costs so many tokens.
    #[must_use]
    pub fn new(body: &str, tokens: u32) -> Self {
        Self::keyed(Key::of(body), body.into(), tokens)
    }
}

impl<B: Deref<Target = str>> Text<B> {
    /// Return a text whose key is known. No one may change it while it is held.
    #[must_use]
    pub fn keyed(key: Key, body: B, tokens: u32) -> Self {
        Self {
            hash: key.hash(),
            tokens,
            is_block: recalled::is_block(&body),
            is_blank: body.chars().all(char::is_whitespace),
            weighted_len: OnceLock::new(),
            stored: OnceLock::new(),
            terms: OnceLock::new(),
            body,
        }
    }
}

impl<B> Text<B> {
    /// Return the text as that of a person, who quotes a block.
    #[must_use]
    pub fn quoted(mut self) -> Self {
        self.is_block = false;
        self
    }
}

impl<B: Deref<Target = str> + ?Sized> Text<B> {
    /// Return the text itself.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.body
    }

    /// XXH3 of the text: the same on every machine and in every version.
    #[must_use]
    pub const fn hash(&self) -> u64 {
        self.hash
    }

    /// Return the tokens of the text.
    #[must_use]
    pub const fn tokens(&self) -> u32 {
        self.tokens
    }

    /// Return the key of the block that all of it is, white space around it aside; none if it is no block.
    #[must_use]
    pub fn block_key(&self) -> Option<u64> {
        self.is_block.then(|| key_of(self.body.trim()))
    }

    /// Return whether all of it is one block that we put there.
    pub(crate) const fn is_block(&self) -> bool {
        self.is_block
    }

    /// Return whether there is nothing to read in it.
    pub(crate) const fn is_blank(&self) -> bool {
        self.is_blank
    }

    /// Return its length in UTF-16 units with each CJK character as long as a token; measured when first asked for.
    pub(crate) fn weighted_len(&self) -> usize {
        *self.weighted_len.get_or_init(|| weighted_len(&self.body))
    }

    /// Return the text as it would be stored, computed on first use.
    pub(crate) fn stored(&self) -> &Stored {
        self.stored.get_or_init(|| Stored::of(&self.body))
    }

    /// Return whether its terms were read.
    pub(crate) fn has_terms(&self) -> bool {
        self.terms.get().is_some()
    }
}

impl<B: Deref<Target = str> + ?Sized> fmt::Debug for Text<B> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Text").field("body", &self.body()).field("tokens", &self.tokens).finish_non_exhaustive()
    }
}

/// XXH3 of a text.
#[must_use]
pub fn key_of(body: &str) -> u64 {
    xxh3_64(body.as_bytes())
}
