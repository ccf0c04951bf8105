//! Message formats.

use crate::{Error, Result};

/// Format of messages, by provider or host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Anthropic's Messages API.
    Anthropic,
    /// `OpenAI`'s Chat Completions.
    OpenAi,
    /// The items of `OpenAI`'s Responses API.
    Responses,
    /// Gemini's contents.
    Gemini,
    /// Amazon Bedrock's Converse.
    Bedrock,
    /// Pi and `OpenClaw`.
    Pi,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 6] = [Self::Anthropic, Self::OpenAi, Self::Responses, Self::Gemini, Self::Bedrock, Self::Pi];

    /// Return the name Python knows it by.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Responses => "responses",
            Self::Gemini => "gemini",
            Self::Bedrock => "bedrock",
            Self::Pi => "pi",
        }
    }

    /// Return the format of that name.
    pub fn parse(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
            let expected = "\"anthropic\", \"openai\", \"responses\", \"gemini\", \"bedrock\" or \"pi\"";
            Error::argument("format", expected, format!("{name:?}"))
        })
    }

    /// Return the estimated tokens of an image; providers count its pixels, which are not decoded here.
    #[must_use]
    pub const fn image_tokens(self) -> u32 {
        match self {
            Self::Anthropic => 1_600,
            _ => 1_100,
        }
    }

    /// Estimated tokens of a file that came as bytes.
    pub const DOCUMENT_TOKENS: u32 = 2_000;
}
