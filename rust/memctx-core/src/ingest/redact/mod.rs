//! Interim.
use std::borrow::Cow;
use crate::Result;
/// Mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redaction {
    /// Off.
    Off,
    /// Mask.
    Mask,
    /// Seed.
    Seed,
}
/// Interim.
#[derive(Debug)]
pub struct Redactor;
/// Interim.
#[derive(Debug)]
pub struct Masked<'t> {
    /// Text.
    pub text: Cow<'t, str>,
    /// Kinds.
    pub kinds: Vec<(Box<str>, u32)>,
}
impl Redactor {
    /// New.
    pub fn new(_: Redaction, _: bool, _: &[(String, String)]) -> Result<Self> {
        Ok(Self)
    }
    /// Mask.
    #[must_use]
    pub fn mask<'t>(&self, text: &'t str) -> Masked<'t> {
        Masked { text: Cow::Borrowed(text), kinds: Vec::new() }
    }
}
