//! One text of a message, read once.

use std::sync::OnceLock;

use xxhash_rust::xxh3::xxh3_64;

use super::body::Body;
use super::recalled;
use super::terms::Terms;
use crate::recall::Stored;
use crate::text::weighted_len;

/// A text of a message with what was found out about it, shared by all turns that see it again.
#[derive(Debug)]
pub struct Text {
    body: Body,
    hash: u64,
    tokens: u32,
    is_block: bool,
    is_blank: bool,
    weighted_len: OnceLock<usize>,
    stored: OnceLock<Stored>,
    /// What search sees in it; see [`super::Reader`].
    pub(super) terms: OnceLock<Terms>,
}

impl Text {
    /// A text that costs so many tokens.
    #[must_use]
    pub fn new(body: &str, tokens: u32) -> Self {
        Self::hashed(key_of(body), body.into(), tokens)
    }

    /// A text whose hash is known.
    pub(crate) fn hashed(hash: u64, body: Body, tokens: u32) -> Self {
        Self {
            hash,
            tokens,
            is_block: recalled::is_block(&body),
            is_blank: body.chars().all(char::is_whitespace),
            body,
            weighted_len: OnceLock::new(),
            stored: OnceLock::new(),
            terms: OnceLock::new(),
        }
    }

    /// The text itself.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.body
    }

    /// XXH3 of the text: the same on every machine and in every version.
    #[must_use]
    pub const fn hash(&self) -> u64 {
        self.hash
    }

    /// What it costs the model.
    #[must_use]
    pub const fn tokens(&self) -> u32 {
        self.tokens
    }

    /// Whether all of it is one block that we put there.
    pub(crate) const fn is_block(&self) -> bool {
        self.is_block
    }

    /// Whether there is nothing to read in it.
    pub(crate) const fn is_blank(&self) -> bool {
        self.is_blank
    }

    /// Its length in UTF-16 units with each CJK character as long as a token; measured when first asked for.
    pub(crate) fn weighted_len(&self) -> usize {
        *self.weighted_len.get_or_init(|| weighted_len(&self.body))
    }

    /// How it would be stored; found out when first asked for.
    pub(crate) fn stored(&self) -> &Stored {
        self.stored.get_or_init(|| Stored::of(&self.body))
    }

    /// Whether its terms were read.
    pub(crate) fn has_terms(&self) -> bool {
        self.terms.get().is_some()
    }
}

/// XXH3 of a text.
#[must_use]
pub fn key_of(body: &str) -> u64 {
    xxh3_64(body.as_bytes())
}
