//! Explanations of scores.

use std::borrow::Cow;
use std::fmt;

/// A named number and the numbers it was made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Name of the number.
    pub name: Cow<'static, str>,
    /// The number.
    pub value: f64,
    /// Operands, in the order in which they were combined.
    pub parts: Vec<Explanation>,
}

impl Explanation {
    /// Return a number that was not made of others.
    pub fn leaf(name: impl Into<Cow<'static, str>>, value: f64) -> Self {
        Self { name: name.into(), value, parts: Vec::new() }
    }

    /// Return a number made of others.
    pub fn of(name: impl Into<Cow<'static, str>>, value: f64, parts: Vec<Self>) -> Self {
        Self { name: name.into(), value, parts }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        write!(f, "{:indent$}{:.6} {}", "", self.value, self.name, indent = 2 * depth)?;
        for part in &self.parts {
            writeln!(f)?;
            part.write(f, depth + 1)?;
        }
        Ok(())
    }
}

/// An indented tree, a line for each number.
impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}
