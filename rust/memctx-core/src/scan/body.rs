//! Where the characters of a text lie.

use std::fmt;
use std::ops::Deref;

/// The characters of a text.
pub enum Body {
    /// Those of a copy.
    Own(Box<str>),
    /// Those of a host that lets us read them for as long as we hold what it gave us.
    Lent(Box<dyn Deref<Target = str> + Send + Sync>),
}

impl Body {
    /// Those that somebody lends, who never changes them.
    pub fn lent(text: impl Deref<Target = str> + Send + Sync + 'static) -> Self {
        Self::Lent(Box::new(text))
    }
}

impl From<&str> for Body {
    fn from(text: &str) -> Self {
        Self::Own(text.into())
    }
}

impl Deref for Body {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Own(text) => text,
            Self::Lent(text) => text,
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, formatter)
    }
}
