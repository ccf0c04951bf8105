//! Message formats: one [`FormatRules`] record for each, which reader, validation, repair and planners consult.

use super::rules::Rule;
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

    const NAMES: &'static str = "\"anthropic\", \"openai\", \"responses\", \"gemini\", \"bedrock\" or \"pi\"";

    /// All formats in words, for errors.
    pub const DESCRIPTION: &'static str =
        "Anthropic, OpenAI Chat Completions or Responses, Gemini, Bedrock Converse, or Pi";

    /// Estimated tokens of a file that came as bytes.
    pub const DOCUMENT_TOKENS: u32 = 2_000;

    /// Return the rules of the format.
    #[must_use]
    pub const fn rules(self) -> &'static FormatRules {
        match self {
            Self::Anthropic => &ANTHROPIC,
            Self::OpenAi => &OPENAI,
            Self::Responses => &RESPONSES,
            Self::Gemini => &GEMINI,
            Self::Bedrock => &BEDROCK,
            Self::Pi => &PI,
        }
    }

    /// Return the name Python knows it by.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.rules().name
    }

    /// Return the format of that name.
    pub fn parse(name: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| Error::argument("format", Self::NAMES, format!("{name:?}")))
    }
}

/// Rules and spellings of one format.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule of its own")]
pub struct FormatRules {
    name: &'static str,
    /// Position of the results of calls.
    pub layout: Layout,
    /// Rules that the provider enforces besides those of pairs of calls and results.
    enforced: &'static [Rule],
    /// A last message of the model's may be empty: the model goes on with it.
    pub(super) resumes_empty_message: bool,
    /// Text may be blank.
    pub(super) accepts_blank_text: bool,
    /// Roles of messages, for errors.
    pub roles: &'static str,
    /// A call may have no id, and its result its name only.
    pub has_optional_ids: bool,
    /// A call may have a signature.
    pub signs_calls: bool,
    /// Fields with a call or a result that objects of the SDK may have, in the order in which they are looked up.
    pub object_fields: &'static [&'static str],
    /// Estimated tokens of an image; providers count its pixels, which are not decoded here.
    pub image_tokens: u32,
}

impl FormatRules {
    /// Return whether the provider refuses messages that break a rule.
    pub(super) fn enforces(&self, rule: Rule) -> bool {
        self.enforced.contains(&rule)
    }
}

/// Position of results in a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Blocks of the one user's message that follows the calls.
    Blocks,
    /// Messages of their own that follow the calls side by side.
    Messages,
    /// Items of their own, anywhere behind their calls. What the model says in one turn is several items, too.
    Items,
}

/// Rules of a format that has none of its own.
const PLAIN: FormatRules = FormatRules {
    name: "",
    layout: Layout::Messages,
    enforced: &[],
    resumes_empty_message: false,
    accepts_blank_text: false,
    roles: "user, assistant, system or developer",
    has_optional_ids: false,
    signs_calls: false,
    object_fields: &["toolUse", "toolResult", "functionCall", "functionResponse"],
    image_tokens: 1_100,
};

static ANTHROPIC: FormatRules = FormatRules {
    name: "anthropic",
    layout: Layout::Blocks,
    enforced: &[Rule::TextBeforeResult, Rule::DuplicateCall, Rule::FirstNotUser, Rule::EmptyContent],
    resumes_empty_message: true,
    image_tokens: 1_600,
    ..PLAIN
};

static OPENAI: FormatRules =
    FormatRules { name: "openai", roles: "user, assistant, system, developer, tool or function", ..PLAIN };

static RESPONSES: FormatRules =
    FormatRules { name: "responses", layout: Layout::Items, enforced: &[Rule::ReasoningWithoutFollower], ..PLAIN };

static GEMINI: FormatRules = FormatRules {
    name: "gemini",
    layout: Layout::Blocks,
    enforced: &[Rule::CallNotAfterUser, Rule::FirstNotUser, Rule::EmptyContent],
    accepts_blank_text: true,
    roles: "user, model, function or tool",
    has_optional_ids: true,
    signs_calls: true,
    object_fields: &["function_call", "functionCall", "function_response", "functionResponse"],
    ..PLAIN
};

static BEDROCK: FormatRules = FormatRules {
    name: "bedrock",
    layout: Layout::Blocks,
    enforced: &[Rule::TextBeforeResult, Rule::RolesAlternate, Rule::FirstNotUser, Rule::EmptyContent],
    ..PLAIN
};

static PI: FormatRules = FormatRules {
    name: "pi",
    roles: "user, assistant, system, toolResult, bashExecution, custom, branchSummary or compactionSummary",
    signs_calls: true,
    ..PLAIN
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_identify_formats() {
        for format in Format::ALL {
            assert_eq!(Format::parse(format.name()).ok(), Some(format));
            assert!(Format::NAMES.contains(&format!("{:?}", format.name())));
        }
        let refusal = Format::parse("smoke").map_err(|error| error.to_string());
        assert_eq!(refusal, Err(format!("format must be {}, not \"smoke\"", Format::NAMES)));
    }
}
