//! Request of a pruning.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::cut::Cut;
use super::globs::Globs;
use crate::text::Estimator;
use crate::{Error, Result};

/// Condition for pruning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Never.
    Off,
    /// When the context fills, but only while the provider's cache is cold anyway.
    CacheTtl,
    /// When the context fills.
    Adaptive,
    /// Always, and all of them are cleared.
    Aggressive,
}

impl Mode {
    /// Return the mode of that name.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "off" => Ok(Self::Off),
            "cache-ttl" => Ok(Self::CacheTtl),
            "adaptive" => Ok(Self::Adaptive),
            "aggressive" => Ok(Self::Aggressive),
            _ => {
                let expected = "\"off\", \"cache-ttl\", \"adaptive\" or \"aggressive\"";
                Err(Error::argument("mode", expected, format!("{name:?}")))
            }
        }
    }
}

/// Form of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// Its head and tail stay, as long as the settings say.
    Soft,
    /// A placeholder stands for it.
    Clear,
    /// Its head and tail stay, of so many characters together: what fits the window.
    Fitted(usize),
}

impl Form {
    /// Start of the name of a fitted form; the number of characters follows.
    const FITTED: &str = "soft:";

    /// Return the name Python knows it by.
    #[must_use]
    pub fn name(self) -> Cow<'static, str> {
        match self {
            Self::Soft => "soft".into(),
            Self::Clear => "clear".into(),
            Self::Fitted(chars) => format!("{}{chars}", Self::FITTED).into(),
        }
    }

    /// Return the form of that name.
    pub fn parse(name: &str) -> Result<Self> {
        let chars = || name.strip_prefix(Self::FITTED)?.parse().ok().map(Self::Fitted);
        [Self::Soft, Self::Clear].into_iter().find(|form| form.name() == name).or_else(chars).ok_or_else(|| {
            Error::argument("form", "\"soft\", \"clear\" or \"soft:\" and a number", format!("{name:?}"))
        })
    }
}

/// Tokens that a conversation still takes too much after a trim, when everything left is protected.
#[derive(Clone, Debug, Default)]
pub struct Overflow {
    /// Tokens above those at which a trim stops.
    pub above_target: u64,
    /// Tokens above those that may be sent.
    pub above_limit: u64,
    /// Indices of the messages that the trim removes, ascending.
    pub removed: Vec<u32>,
}

/// Request of a pruning.
#[derive(Clone, Debug)]
pub struct Request {
    /// Condition for pruning.
    pub mode: Mode,
    /// Tokens of the model's context window.
    pub context_window: u64,
    /// Results after the so manieth answer of the model from the end are left alone; with 0 none is.
    pub keep_last_assistants: usize,
    /// From this share of the window on, long results are shortened.
    pub soft_trim_ratio: f64,
    /// From this share of the window on, results are cleared, oldest first.
    pub hard_clear_ratio: f64,
    /// Unless there are fewer characters in them than this.
    pub min_prunable_tool_chars: u64,
    /// Lengths for shortening.
    pub cut: Cut,
    /// True to clear results; ignored by `Mode::Aggressive`.
    pub hard_clear: bool,
    /// Text of a cleared result.
    pub placeholder: String,
    /// Tools whose results may be pruned.
    pub tools: Globs,
    /// Forms of results in earlier turns, by key. They are repeated at any usage.
    pub sticky: FxHashMap<u64, Form>,
    /// The provider's cache holds nothing of the conversation any more.
    pub is_cold: bool,
    /// Results are shortened whatever their age until the rest of the conversation fits, in any mode but `Mode::Off`.
    pub overflow: Option<Overflow>,
    /// Estimator for the tokens of shortened results.
    pub estimator: Estimator,
}

impl Request {
    /// Create a pruning with the usual settings.
    #[must_use]
    pub fn new(mode: Mode, context_window: u64) -> Self {
        Self {
            mode,
            context_window,
            keep_last_assistants: 3,
            soft_trim_ratio: 0.3,
            hard_clear_ratio: 0.5,
            min_prunable_tool_chars: 50_000,
            cut: Cut::default(),
            hard_clear: true,
            placeholder: "[Old tool result content cleared]".to_owned(),
            tools: Globs::default(),
            sticky: FxHashMap::default(),
            is_cold: false,
            overflow: None,
            estimator: Estimator::Script,
        }
    }
}
