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
impl Redaction {
    /// The mode of that name.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "off" => Ok(Self::Off),
            "mask" => Ok(Self::Mask),
            "seed" => Ok(Self::Seed),
            _ => Err(crate::Error::argument("redaction", "\"mask\", \"seed\" or \"off\"", format!("{name:?}"))),
        }
    }
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
