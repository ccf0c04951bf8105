//! Request of a pruning.

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
    /// Its head and tail stay.
    Soft,
    /// A placeholder stands for it.
    Clear,
}

impl Form {
    /// Return the name Python knows it by.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Soft => "soft",
            Self::Clear => "clear",
        }
    }

    /// Return the form of that name.
    pub fn parse(name: &str) -> Result<Self> {
        [Self::Soft, Self::Clear]
            .into_iter()
            .find(|form| form.name() == name)
            .ok_or_else(|| Error::argument("form", "\"soft\" or \"clear\"", format!("{name:?}")))
    }
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
            estimator: Estimator::Script,
        }
    }
}
