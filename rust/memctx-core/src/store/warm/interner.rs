//! String interner for roles, sessions and topics.

use rustc_hash::FxHashMap;

/// Numbers names from 0 in the order they come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interner {
    names: Vec<Box<str>>,
    numbers: FxHashMap<Box<str>, u32>,
}

impl Interner {
    /// The number of a name, a new one if it is new.
    pub(crate) fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.into());
        self.numbers.insert(name.into(), number);
        number
    }

    /// The number of a name that has one.
    pub(crate) fn find(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// The name of a number that was given out.
    pub(crate) fn name(&self, number: u32) -> &str {
        &self.names[number as usize]
    }

    /// All names, in the order of their numbers.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }
}

impl<'a> FromIterator<&'a str> for Interner {
    fn from_iter<I: IntoIterator<Item = &'a str>>(names: I) -> Self {
        let mut all = Self::default();
        for name in names {
            all.number(name);
        }
        all
    }
}
