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

use crate::shelf::Shelf;

static KEPT: Mutex<Option<Kept>> = Mutex::new(None);

/// The tokens of a text as a list of strings.
pub(crate) fn spell<'py>(py: Python<'py>, text: &str, mode: Mode) -> PyResult<Bound<'py, PyList>> {
    // Whoever comes while another thread is here, or this one further up its stack, makes do without.
    if let Ok(mut kept) = KEPT.try_lock() {
        let mut spellings = Spellings { py, kept: kept.get_or_insert_with(Kept::new), long: Vec::with_capacity(16) };
        tokenize(text, mode, &mut spellings);
        spellings.into_list()
    } else {
        let mut anew = Anew { py, strings: Vec::new() };
        tokenize(text, mode, &mut anew);
        PyList::new(py, anew.strings)
    }
}

struct Kept {
    /// By their codes.
    characters: Box<[Option<Py<PyString>>]>,
    pairs: Shelf<u32, { 1 << 15 }, 5>,
    words: Shelf<Word, { 1 << 14 }, 4>,
    /// Room for the tokens of a text: their names, and where their strings are.
    names: Vec<Name>,
    places: Vec<Place>,
}

/// What the string of a token is found by, or those of two.
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

/// Where the string of a token is: its address or, if it was not found, an odd number that says whose it is.
#[derive(Clone, Copy)]
struct Place(usize);

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
        Self { characters, pairs: Shelf::new(), words: Shelf::new(), names: Vec::new(), places: Vec::new() }
    }

    /// Where the strings of all names are; those that are found are on their way from memory.
    fn find_all(&self, names: &[Name], long: &[Bound<'_, PyString>], places: &mut Vec<Place>) {
        places.reserve(2 * names.len());
        for (number, &name) in names.iter().enumerate() {
            let missing = Missing { name: number, is_second: false };
            let place = match name {
                Name::Character(code) => Place::new(self.character(code), missing),
                Name::Follower(pair) => {
                    places.push(Place::new(self.character(pair as u16), missing));
                    Place::new(self.pairs.find(pair), Missing { is_second: true, ..missing })
                }
                Name::Word(word) => Place::new(self.words.find(word), missing),
                Name::Long(at) => Place::new(long[at].as_ptr(), missing),
            };
            places.push(place);
        }
        // A loop of its own: the shorter it is, the more strings are on their way at once.
        for place in places {
            // To look for the page of what is no address would take long.
            prefetch(place.string().map_or(ptr::from_ref(self).cast(), <*mut _>::cast_const));
        }
    }

    /// The string of a character, or null.
    #[inline]
    fn character(&self, code: u16) -> *mut ffi::PyObject {
        self.characters[usize::from(code)].as_ref().map_or(ptr::null_mut(), Py::as_ptr)
    }

    /// The string of a token that was not found. The text may have it twice, so it may have been made since.
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

impl Place {
    /// The place of a string or, if that is null, of a token that is missing.
    #[inline]
    fn new(string: *mut ffi::PyObject, Missing { name, is_second }: Missing) -> Self {
        let missing = name << 2 | usize::from(is_second) << 1 | 1;
        Self(select_unpredictable(string.is_null(), missing, string.expose_provenance()))
    }

    /// The string, or else the token that is missing.
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
struct Spellings<'k, 'py> {
    py: Python<'py>,
    kept: &'k mut Kept,
    long: Vec<Bound<'py, PyString>>,
}

impl TokenSink for Spellings<'_, '_> {
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

impl<'py> Spellings<'_, 'py> {
    fn into_list(self) -> PyResult<Bound<'py, PyList>> {
        let Self { py, kept, long } = self;
        let mut names = std::mem::take(&mut kept.names);
        let mut places = std::mem::take(&mut kept.places);
        kept.find_all(&names, &long, &mut places);
        let mut removed = Vec::new();
        let strings = places.iter().map(|place| match place.string() {
            // SAFETY: a string that was kept or long. Those that are kept no longer are in `removed`.
            Ok(string) => unsafe { Bound::from_borrowed_ptr(py, string).cast_into_unchecked() },
            Err(Missing { name, is_second }) => kept.make(py, names[name], is_second, &mut removed),
        });
        let list = PyList::new(py, strings);
        names.clear();
        names.shrink_to(ROOM);
        places.clear();
        places.shrink_to(ROOM);
        (kept.names, kept.places) = (names, places);
        list
    }
}

/// Makes every string.
struct Anew<'py> {
    py: Python<'py>,
    strings: Vec<Bound<'py, PyString>>,
}

impl TokenSink for Anew<'_> {
    fn token(&mut self, token: &str) {
        self.strings.push(PyString::new(self.py, token));
    }

    fn start_over(&mut self) {
        self.strings.clear();
    }
}

/// Some characters as a string, without going through a UTF-8 decoder.
fn new_string<const COUNT: usize>(py: Python<'_>, codes: [u16; COUNT]) -> Bound<'_, PyString> {
    let wide = codes.map(Into::into);
    // SAFETY: the function reads so many characters and gives a new string, or null, which panics here.
    unsafe {
        let string = ffi::PyUnicode_FromWideChar(wide.as_ptr(), COUNT.cast_signed());
        Bound::from_owned_ptr(py, string).cast_into_unchecked()
    }
}
