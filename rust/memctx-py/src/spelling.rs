//! Python strings for tokens.
//!
//! Making a string costs several times as much as finding the token, so those that come up again are kept: all CJK
//! characters, and the more frequent of their pairs and of the short words. That is bounded: four and a half megabytes
//! of places and some twenty of strings at most, in a process that has this module spell much text.
#![allow(unsafe_code)]

use std::ptr;
use std::sync::Mutex;

use memctx_core::prefetch;
use memctx_core::text::{Mode, TokenSink, tokenize};
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
    /// Room for the tokens of a text: their names, and the addresses of their strings.
    names: Vec<Name>,
    addresses: Vec<usize>,
}

/// What the string of a token is found by.
#[derive(Clone, Copy)]
enum Name {
    /// The code of a character.
    Character(u16),
    /// The codes of two.
    Pair(u32),
    Word(Word),
    /// The number of a token that is too long to be kept.
    Long(usize),
}

/// The bytes of a word and, in the last one, their number.
type Word = [u64; 2];

const LONGEST: usize = size_of::<Word>() - 1;
/// Names that there is always room for.
const ROOM: usize = 1 << 13;

impl Kept {
    fn new() -> Self {
        let characters = std::iter::repeat_with(|| None).take(1 << 16).collect();
        Self { characters, pairs: Shelf::new(), words: Shelf::new(), names: Vec::new(), addresses: Vec::new() }
    }

    /// The string of a token that was not found. The text may have it twice, so it may have been made since.
    ///
    /// Strings that have to go are moved to `removed`.
    #[inline(never)] // so that the loop over those that were found stays short
    fn make<'py>(&mut self, py: Python<'py>, name: Name, removed: &mut Vec<Py<PyString>>) -> Bound<'py, PyString> {
        match name {
            Name::Character(code) => {
                let make = || new_string(py, [code]).unbind();
                self.characters[usize::from(code)].get_or_insert_with(make).bind(py).clone()
            }
            Name::Pair(pair) => {
                let make = || new_string(py, [(pair >> 16) as u16, pair as u16]);
                self.pairs.get(py, pair, make, removed)
            }
            Name::Word(word) => self.words.get(py, word, || new_word(py, word), removed),
            Name::Long(_) => unreachable!("it has a string"),
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
        let name = if token.len() <= LONGEST {
            let word = word_of(token);
            self.kept.words.prepare(word);
            Name::Word(word)
        } else {
            self.long.push(PyString::new(self.py, token));
            Name::Long(self.long.len() - 1)
        };
        self.kept.names.push(name);
    }

    #[inline]
    fn character(&mut self, _token: &str, code: u16) {
        prefetch(&raw const self.kept.characters[usize::from(code)]);
        self.kept.names.push(Name::Character(code));
    }

    #[inline]
    fn pair(&mut self, _token: &str, [first, second]: [u16; 2]) {
        let pair = u32::from(first) << 16 | u32::from(second);
        self.kept.pairs.prepare(pair);
        self.kept.names.push(Name::Pair(pair));
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
        let mut addresses = std::mem::take(&mut kept.addresses);
        addresses.extend(names.iter().map(|&name| find(kept, &long, name).expose_provenance()));
        let mut removed = Vec::new();
        let strings = names.iter().zip(&addresses).map(|(&name, &address)| {
            let string = ptr::with_exposed_provenance_mut(address);
            // SAFETY: null, or a string that was kept or long. Those that are kept no longer are in `removed`.
            match unsafe { Bound::from_borrowed_ptr_or_opt(py, string) } {
                // SAFETY: nothing but strings is kept.
                Some(string) => unsafe { string.cast_into_unchecked() },
                None => kept.make(py, name, &mut removed),
            }
        });
        let list = PyList::new(py, strings);
        names.clear();
        names.shrink_to(ROOM);
        addresses.clear();
        addresses.shrink_to(ROOM);
        (kept.names, kept.addresses) = (names, addresses);
        list
    }
}

/// The string that is kept for a token, or null.
#[inline]
fn find(kept: &Kept, long: &[Bound<'_, PyString>], name: Name) -> *mut ffi::PyObject {
    let string = match name {
        Name::Character(code) => kept.characters[usize::from(code)].as_ref().map_or(ptr::null_mut(), Py::as_ptr),
        Name::Pair(pair) => kept.pairs.find(pair),
        Name::Word(word) => kept.words.find(word),
        Name::Long(number) => long[number].as_ptr(),
    };
    // To look for the page of null would take long.
    let wanted = if string.is_null() { ptr::from_ref(kept).cast() } else { string.cast_const() };
    prefetch(wanted);
    string
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

/// The word of a token that is not longer than [`LONGEST`].
#[inline]
fn word_of(token: &str) -> Word {
    let bytes = token.as_bytes();
    let length = bytes.len();
    let [low, high] = if let (Some(&front), Some(&back)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        // Two parts that overlap; the shift takes from the second what is in the first.
        [u64::from_le_bytes(front), u64::from_le_bytes(back) >> 1 >> (8 * (LONGEST - length) + 7)]
    } else if let (Some(&front), Some(&back)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        [u64::from(u32::from_le_bytes(front)) | u64::from(u32::from_le_bytes(back)) << (8 * (length - 4)), 0]
    } else {
        [bytes.iter().rev().fold(0, |low, &byte| low << 8 | u64::from(byte)), 0]
    };
    [low, high | (length as u64) << 56]
}

fn new_word(py: Python<'_>, [low, high]: Word) -> Bound<'_, PyString> {
    let bytes = (u128::from(high) << 64 | u128::from(low)).to_le_bytes();
    let token = &bytes[..usize::from(bytes[LONGEST])];
    // SAFETY: the bytes of a token, as `word_of` took them.
    PyString::new(py, unsafe { str::from_utf8_unchecked(token) })
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
