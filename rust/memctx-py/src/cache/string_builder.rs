//! Python strings for tokens.
//!
//! Making a string costs several times as much as finding the token, so those that come up again are kept: all CJK
//! characters, and the more frequent of their pairs and of the short words. That is bounded: four and a half megabytes
//! of places and some twenty of strings at most, in a process that has this module spell much text.
#![allow(unsafe_code)]

use std::hint::select_unpredictable;
use std::ptr;
use std::sync::Mutex;

use memctx_core::prefetch;
use memctx_core::text::{Mode, TokenSink, Word, tokenize};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::cache::string_pool::StringPool;

static KEPT: Mutex<Option<Kept>> = Mutex::new(None);

/// Return the tokens of a text as a list of strings.
pub(crate) fn build_strings<'py>(py: Python<'py>, text: &str, mode: Mode) -> PyResult<Bound<'py, PyList>> {
    // While another thread holds the cache, or this one further up its stack, strings are built without it.
    if let Ok(mut kept) = KEPT.try_lock() {
        let mut builder = StringBuilder { py, kept: kept.get_or_insert_with(Kept::new), long: Vec::with_capacity(16) };
        tokenize(text, mode, &mut builder);
        builder.into_list()
    } else {
        let mut builder = UncachedBuilder { py, strings: Vec::new() };
        tokenize(text, mode, &mut builder);
        PyList::new(py, builder.strings)
    }
}

struct Kept {
    /// By their codes.
    characters: Box<[Option<Py<PyString>>]>,
    pairs: StringPool<u32, { 1 << 15 }, 5>,
    words: StringPool<Word, { 1 << 14 }, 4>,
    /// Room for the tokens of a text: their names, and where their strings are.
    names: Vec<Name>,
    slots: Vec<Slot>,
}

/// Lookup key of the string of a token, or of the strings of two.
#[derive(Clone, Copy)]
enum Name {
    /// The code of a character.
    Character(u16),
    /// The codes of two characters: the second is a token, and so are both.
    Follower(u32),
    Word(Word),
    /// The number of a token that is too long to be kept.
    Long(usize),
}

/// Location of the string of a token: its address or, if it was not found, an odd number that identifies the token.
#[derive(Clone, Copy)]
struct Slot(usize);

/// A token whose string was not found: the number of its name, and whether it is the second one of that name.
#[derive(Clone, Copy)]
struct Missing {
    name: usize,
    is_second: bool,
}

/// Names that there is always room for.
const ROOM: usize = 1 << 13;

impl Kept {
    fn new() -> Self {
        let characters = std::iter::repeat_with(|| None).take(1 << 16).collect();
        Self { characters, pairs: StringPool::new(), words: StringPool::new(), names: Vec::new(), slots: Vec::new() }
    }

    /// Find the strings of all names, and prefetch those that are found.
    fn find_all(&self, names: &[Name], long: &[Bound<'_, PyString>], slots: &mut Vec<Slot>) {
        slots.reserve(2 * names.len());
        for (number, &name) in names.iter().enumerate() {
            let missing = Missing { name: number, is_second: false };
            let slot = match name {
                Name::Character(code) => Slot::new(self.character(code), missing),
                Name::Follower(pair) => {
                    slots.push(Slot::new(self.character(pair as u16), missing));
                    Slot::new(self.pairs.find(pair), Missing { is_second: true, ..missing })
                }
                Name::Word(word) => Slot::new(self.words.find(word), missing),
                Name::Long(at) => Slot::new(long[at].as_ptr(), missing),
            };
            slots.push(slot);
        }
        // A loop of its own: the shorter it is, the more strings are on their way at once.
        for slot in slots {
            // To look for the page of what is no address would take long.
            prefetch(slot.string().map_or(ptr::from_ref(self).cast(), <*mut _>::cast_const));
        }
    }

    /// Return the string of a character, or null.
    #[inline]
    fn character(&self, code: u16) -> *mut ffi::PyObject {
        self.characters[usize::from(code)].as_ref().map_or(ptr::null_mut(), Py::as_ptr)
    }

    /// Return the string of a token that was not found. The text may have it twice, so it may have been made since.
    ///
    /// Strings that have to go are moved to `removed`.
    #[inline(never)] // so that the loop over those that were found stays short
    fn make<'py>(
        &mut self,
        py: Python<'py>,
        name: Name,
        is_second: bool,
        removed: &mut Vec<Py<PyString>>,
    ) -> Bound<'py, PyString> {
        match name {
            Name::Follower(pair) if is_second => {
                let make = || new_string(py, [(pair >> 16) as u16, pair as u16]);
                self.pairs.get(py, pair, make, removed)
            }
            Name::Follower(pair) => self.make_character(py, pair as u16),
            Name::Character(code) => self.make_character(py, code),
            Name::Word(word) => self.words.get(py, word, || PyString::new(py, word.spell(&mut [0; _])), removed),
            Name::Long(_) => unreachable!("it has a string"),
        }
    }

    fn make_character<'py>(&mut self, py: Python<'py>, code: u16) -> Bound<'py, PyString> {
        let make = || new_string(py, [code]).unbind();
        self.characters[usize::from(code)].get_or_insert_with(make).bind(py).clone()
    }
}

impl Slot {
    /// Create the slot of a string or, if that is null, of a missing token.
    #[inline]
    fn new(string: *mut ffi::PyObject, Missing { name, is_second }: Missing) -> Self {
        let missing = name << 2 | usize::from(is_second) << 1 | 1;
        Self(select_unpredictable(string.is_null(), missing, string.expose_provenance()))
    }

    /// Return the string, or else the token that is missing.
    #[inline]
    fn string(self) -> Result<*mut ffi::PyObject, Missing> {
        if self.0 & 1 == 0 {
            Ok(ptr::with_exposed_provenance_mut(self.0))
        } else {
            Err(Missing { name: self.0 >> 2, is_second: self.0 & 2 != 0 })
        }
    }
}

/// The strings of the tokens of a text.
///
/// To look for one takes three steps, each for all tokens before the next: what the step needs is then on its way from
/// memory while others are looked for.
struct StringBuilder<'k, 'py> {
    py: Python<'py>,
    kept: &'k mut Kept,
    long: Vec<Bound<'py, PyString>>,
}

impl TokenSink for StringBuilder<'_, '_> {
    fn token(&mut self, token: &str) {
        if let Some(word) = Word::new(token) {
            self.word(word);
        } else {
            self.kept.names.push(Name::Long(self.long.len()));
            self.long.push(PyString::new(self.py, token));
        }
    }

    #[inline]
    fn word(&mut self, word: Word) {
        self.kept.words.prepare(word);
        self.kept.names.push(Name::Word(word));
    }

    #[inline]
    fn character(&mut self, _text: &str, _at: usize, [before, code]: [u16; 2], follows: bool) {
        prefetch(&raw const self.kept.characters[usize::from(code)]);
        self.kept.names.push(if follows {
            let pair = u32::from(before) << 16 | u32::from(code);
            self.kept.pairs.prepare(pair);
            Name::Follower(pair)
        } else {
            Name::Character(code)
        });
    }

    fn start_over(&mut self) {
        self.kept.names.clear();
        self.long.clear();
    }
}

impl<'py> StringBuilder<'_, 'py> {
    fn into_list(self) -> PyResult<Bound<'py, PyList>> {
        let Self { py, kept, long } = self;
        let mut names = std::mem::take(&mut kept.names);
        let mut slots = std::mem::take(&mut kept.slots);
        kept.find_all(&names, &long, &mut slots);
        let mut removed = Vec::new();
        let strings = slots.iter().map(|slot| match slot.string() {
            // SAFETY: a string that was kept or long. Those that are kept no longer are in `removed`.
            Ok(string) => unsafe { Bound::from_borrowed_ptr(py, string).cast_into_unchecked() },
            Err(Missing { name, is_second }) => kept.make(py, names[name], is_second, &mut removed),
        });
        let list = PyList::new(py, strings);
        names.clear();
        names.shrink_to(ROOM);
        slots.clear();
        slots.shrink_to(ROOM);
        (kept.names, kept.slots) = (names, slots);
        list
    }
}

/// Makes every string.
struct UncachedBuilder<'py> {
    py: Python<'py>,
    strings: Vec<Bound<'py, PyString>>,
}

impl TokenSink for UncachedBuilder<'_> {
    fn token(&mut self, token: &str) {
        self.strings.push(PyString::new(self.py, token));
    }

    fn start_over(&mut self) {
        self.strings.clear();
    }
}

/// Create some characters as a string, without going through a UTF-8 decoder.
fn new_string<const COUNT: usize>(py: Python<'_>, codes: [u16; COUNT]) -> Bound<'_, PyString> {
    let wide = codes.map(Into::into);
    // SAFETY: the function reads so many characters and gives a new string, or null, which panics here.
    unsafe {
        let string = ffi::PyUnicode_FromWideChar(wide.as_ptr(), COUNT.cast_signed());
        Bound::from_owned_ptr(py, string).cast_into_unchecked()
    }
}
