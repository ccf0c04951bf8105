//! `memctx._core.Scanner`: messages of every shape, read into a [`Conversation`].

use std::sync::Arc;

use memctx_core::scan::{self, Cache, Key, Kind, Role, Shape, Text, View};
use memctx_core::text::Estimator;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::types::{PyByteArray, PyBytes, PyList, PySequence, PyString, PyTuple};

use crate::boundary::{enter_core, guarded};
use crate::conversation::Conversation;
use crate::error::{ConfigError, MessageShapeError};
use crate::prints::{Prints, Sought};
use crate::shapes::{self, Drafted, Part, Sheet, spelled, text};
use crate::strings::{self, Strings};
use crate::trail::{Steps, Trail, Trails};

/// Texts of some ten long conversations with what was found out about them.
const CAPACITY: i64 = 64 << 20;

/// Reads messages and remembers their texts, so that what was read before costs next to nothing.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct Scanner {
    price: Price,
    cache: Cache,
    /// None if nothing is to be remembered.
    known: Option<Remembered>,
}

/// What was read before, found again by where it lies in memory.
#[derive(Default)]
struct Remembered {
    lists: Trails,
    messages: Prints,
    strings: Strings,
}

/// How a text is priced.
enum Price {
    BuiltIn(Estimator),
    Asked(Py<PyAny>),
}

#[pymethods]
impl Scanner {
    #[new]
    #[pyo3(
        signature = (estimator = None, *, capacity = CAPACITY),
        text_signature = "(estimator=\"script\", *, capacity=67108864)"
    )]
    fn new(estimator: Option<&Bound<'_, PyAny>>, capacity: i64) -> PyResult<Self> {
        let price = match estimator {
            None => Price::BuiltIn(Estimator::Script),
            Some(asked) if asked.is_callable() => Price::Asked(asked.clone().unbind()),
            Some(name) => {
                let name = name.cast::<PyString>().map_err(|_| {
                    let kind = name.get_type();
                    ConfigError::new_err(format!("estimator must be \"script\", \"utf16\" or a callable, not {kind}"))
                })?;
                Price::BuiltIn(guarded(|| Estimator::parse(spelled(Some(name))))?)
            }
        };
        let capacity = usize::try_from(capacity)
            .map_err(|_| ConfigError::new_err(format!("capacity must be 0 bytes or more, not {capacity}")))?;
        Ok(Self { price, cache: Cache::new(capacity), known: (capacity > 0).then(Remembered::default) })
    }

    /// Read a list of messages; ``shape`` says what they are where that is not to be guessed.
    #[pyo3(signature = (messages, shape = None))]
    fn scan(&self, messages: &Bound<'_, PyAny>, shape: Option<&Bound<'_, PyString>>) -> PyResult<Conversation> {
        let py = messages.py();
        let shape = match shape {
            Some(name) => guarded(|| Shape::parse(spelled(Some(name))))?,
            None => guarded(|| Ok(checked(messages, 0).and_then(|all| shapes::detect(&opened(&all)?))))??,
        };
        let Some(known) = &self.known else {
            let envelopes = guarded(|| Ok(checked(messages, 0)))??;
            let views = self.read(py, shape, &envelopes.iter().collect::<Vec<_>>())?;
            return Ok(Conversation(Arc::new(enter_core(py, || Ok(scan::Conversation::new(shape, views)))?)));
        };
        let trail = guarded(|| Ok(messages.cast::<PyList>().ok().and_then(|list| known.lists.take(shape, list))))?;
        let mut trail = trail.unwrap_or_else(|| Trail::new(shape));
        let envelopes = guarded(|| Ok(checked(messages, trail.len())))??;
        let (views, steps) = self.views(py, shape, &envelopes, &known.messages)?;
        let is_traced = steps.is_some();
        let trail = enter_core(py, move || {
            trail.extend(steps.unwrap_or_default(), views);
            Ok(trail)
        })?;
        let conversation = trail.conversation();
        if is_traced {
            known.lists.keep(trail);
        }
        Ok(Conversation(conversation))
    }

    /// How many texts it remembers.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        enter_core(py, || Ok(self.cache.len()))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        match &self.price {
            Price::BuiltIn(_) => Ok(()),
            Price::Asked(asked) => visit.call(asked),
        }
    }
}

impl Scanner {
    /// The views of messages: known by their prints, or read; and their prints, if all have one.
    fn views<'py>(
        &self,
        py: Python<'py>,
        shape: Shape,
        messages: &[Bound<'py, PyAny>],
        known: &Prints,
    ) -> PyResult<(Vec<View>, Option<Steps>)> {
        let (sought, words) = known.look(shape, messages);
        let unread = messages.iter().zip(&sought).filter(|(_, sought)| matches!(sought, Sought::New(_)));
        let read = self.read(py, shape, &unread.map(|(message, _)| message).collect::<Vec<_>>())?;
        let mut new = Vec::with_capacity(read.len());
        let mut prints = Vec::with_capacity(messages.len());
        let mut read = read.into_iter();
        let views = sought.into_iter().filter_map(|sought| match sought {
            Sought::Known(view, print) => {
                prints.push(print);
                Some(view)
            }
            Sought::New(print) => {
                let view = read.next()?;
                if let Some(print) = print {
                    prints.push(print.clone());
                    new.push((print, view.clone()));
                }
                Some(view)
            }
        });
        let views = views.collect();
        known.hold(new);
        let is_all = prints.len() == messages.len();
        Ok((views, is_all.then(|| Steps { words, prints })))
    }

    /// The views of messages that are read.
    fn read<'py>(&self, py: Python<'py>, shape: Shape, messages: &[&Bound<'py, PyAny>]) -> PyResult<Vec<View>> {
        let letters = guarded(|| Ok(Letters::read(shape, messages)))??;
        let priced = self.texts(py, &letters)?;
        Ok(letters.into_views(priced))
    }

    /// The texts of all messages: known by the host's strings, by their content, or new.
    fn texts(&self, py: Python<'_>, letters: &Letters<'_>) -> PyResult<Vec<Arc<Text>>> {
        let wordings = letters.wordings();
        let Some(Remembered { strings: known, .. }) = &self.known else { return self.priced(py, &wordings) };
        let found = known.look(wordings.iter().map(|wording| wording.string));
        let missing: Vec<Wording<'_, '_>> =
            wordings.iter().zip(&found).filter(|(_, found)| found.is_none()).map(|(&wording, _)| wording).collect();
        let priced = self.priced(py, &missing)?;
        known.hold(missing.iter().zip(&priced).filter_map(|(wording, text)| Some((wording.string?, text))));
        let mut priced = priced.into_iter();
        Ok(found.into_iter().filter_map(|text| text.or_else(|| priced.next())).collect())
    }

    /// The texts with what they cost, as far as known from the cache.
    fn priced(&self, py: Python<'_>, wordings: &[Wording<'_, '_>]) -> PyResult<Vec<Arc<Text>>> {
        let texts: Vec<&str> = wordings.iter().map(|wording| wording.text).collect();
        let found = enter_core(py, || {
            Ok(self.cache.look(&texts, |text| match &self.price {
                Price::BuiltIn(estimator) => tokens(estimator.estimate(text)),
                Price::Asked(_) => 0,
            }))
        })?;
        let missing =
            wordings.iter().zip(&found).filter_map(|(wording, found)| Some((wording, *found.as_ref().err()?)));
        let mut missing: Vec<Missing<'_>> = missing
            .map(|(wording, (key, tokens))| Missing { text: wording.text, lent: wording.lent(), key, tokens })
            .collect();
        if missing.is_empty() {
            return Ok(found.into_iter().flatten().collect());
        }
        if let Price::Asked(asked) = &self.price {
            for missing in &mut missing {
                missing.tokens = ask(asked.bind(py), missing.text)?;
            }
        }
        let kept = enter_core(py, || Ok(self.cache.keep(missing.into_iter().map(Missing::made).collect())));
        let mut kept = kept?.into_iter();
        Ok(found.into_iter().filter_map(|text| text.ok().or_else(|| kept.next())).collect())
    }
}

fn ask(estimator: &Bound<'_, PyAny>, text: &str) -> PyResult<u32> {
    let price = estimator.call1((text,))?;
    price.extract::<u64>().map(|price| tokens(price as usize)).map_err(|_| {
        let found = price.repr().map_or_else(|_| String::from("something else"), |repr| repr.to_string());
        ConfigError::new_err(format!("estimator must return a whole number of tokens, 0 or more, not {found}"))
    })
}

fn tokens(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The shape of a list of messages; Anthropic's where all shapes would read it alike.
#[pyfunction]
pub(crate) fn detect(messages: &Bound<'_, PyAny>) -> PyResult<&'static str> {
    let shape = guarded(|| Ok(checked(messages, 0).and_then(|envelopes| shapes::detect(&opened(&envelopes)?))))??;
    Ok(shape.name())
}

/// All messages of a list, read and not priced yet.
struct Letters<'py> {
    sheet: Sheet<'py>,
    letters: Vec<Letter>,
}

struct Letter {
    role: Role,
    /// Where its pieces end on the sheet.
    end: usize,
    timestamp: Option<f64>,
    is_aborted: bool,
}

/// Something that has a price.
#[derive(Clone, Copy)]
struct Wording<'a, 'py> {
    text: &'a str,
    /// The host's string, where it is all of one.
    string: Option<&'a Bound<'py, PyString>>,
}

impl Wording<'_, '_> {
    /// The host's string, which cannot change, if it is worth the holding.
    fn lent(&self) -> Option<PyBackedStr> {
        let string = self.string.filter(|_| self.text.len() >= strings::SHORTEST);
        string.and_then(|string| PyBackedStr::try_from(string.clone()).ok())
    }
}

/// A text that is not in the cache.
struct Missing<'a> {
    text: &'a str,
    /// The same, if the host lends it.
    lent: Option<PyBackedStr>,
    key: Key,
    tokens: u32,
}

impl Missing<'_> {
    /// The text to be kept.
    fn made(self) -> Arc<Text> {
        match self.lent {
            Some(text) => Arc::new(Text::keyed(self.key, text, self.tokens)),
            None => Arc::new(Text::keyed(self.key, Box::<str>::from(self.text), self.tokens)),
        }
    }
}

impl<'py> Letters<'py> {
    fn read(shape: Shape, envelopes: &[&Bound<'py, PyAny>]) -> PyResult<Self> {
        let mut sheet = Sheet::new(shape, envelopes.len());
        let mut letters = Vec::with_capacity(envelopes.len());
        for &envelope in envelopes {
            let message = unwrapped(envelope)?;
            let part = Part::of(&message);
            sheet.is_aborted = false;
            let role = shapes::read(&mut sheet, part)?;
            let mut timestamp = shapes::timestamp(part)?;
            if timestamp.is_none() && !message.is(envelope) {
                timestamp = shapes::timestamp(Part::of(envelope))?;
            }
            letters.push(Letter { role, end: sheet.pieces.len(), timestamp, is_aborted: sheet.is_aborted });
        }
        Ok(Self { sheet, letters })
    }

    /// Everything that has a price: the texts of the pieces and the names of tools that are called.
    fn wordings(&self) -> Vec<Wording<'_, 'py>> {
        let mut wordings = Vec::with_capacity(self.sheet.pieces.len() * 2);
        for drafted in &self.sheet.pieces {
            if let Some(words) = &drafted.words {
                wordings.push(Wording { text: self.sheet.spelled(words), string: words.string() });
            }
            if let Some(name) = called(drafted) {
                wordings.push(Wording { text: name, string: None });
            }
        }
        wordings
    }

    /// The views, now that the texts are priced, which come in the order of [`Letters::wordings`].
    fn into_views(self, texts: Vec<Arc<Text>>) -> Vec<View> {
        let mut texts = texts.into_iter();
        let mut start = 0;
        let mut drafts = self.sheet.pieces.into_iter();
        let views = self.letters.into_iter().map(|letter| {
            let count = letter.end - std::mem::replace(&mut start, letter.end);
            let pieces = drafts.by_ref().take(count).map(|drafted| finished(drafted, &mut texts));
            let mut view = View::new(letter.role, pieces.collect::<Arc<[_]>>());
            (view.timestamp, view.is_aborted) = (letter.timestamp, letter.is_aborted);
            view
        });
        views.collect()
    }
}

fn called<'a>(drafted: &'a Drafted<'_>) -> Option<&'a str> {
    drafted.piece.name.as_deref().filter(|_| drafted.piece.kind == Kind::Call)
}

fn finished(drafted: Drafted<'_>, texts: &mut impl Iterator<Item = Arc<Text>>) -> scan::Piece {
    let is_called = called(&drafted).is_some();
    let mut piece = drafted.piece;
    if drafted.words.is_some() {
        piece.text = texts.next();
        if !drafted.is_label {
            piece.tokens = piece.tokens.saturating_add(piece.text.as_ref().map_or(0, |text| text.tokens()));
        }
    }
    if is_called {
        piece.tokens = piece.tokens.saturating_add(texts.next().map_or(0, |name| name.tokens()));
    }
    piece
}

/// The messages of a list from a place on; what is none is refused, and so is a list with something else in it.
fn checked<'py>(messages: &Bound<'py, PyAny>, start: usize) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let found: Vec<Bound<'py, PyAny>> = if let Ok(list) = messages.cast::<PyList>() {
        list.iter().skip(start).collect()
    } else if let Ok(tuple) = messages.cast::<PyTuple>() {
        tuple.iter().skip(start).collect()
    } else {
        let is_text = messages.is_instance_of::<PyString>()
            || messages.is_instance_of::<PyBytes>()
            || messages.is_instance_of::<PyByteArray>();
        if is_text || messages.cast::<PySequence>().is_err() {
            let kind = messages.get_type().name()?;
            return Err(MessageShapeError::new_err(format!("expected a list of messages, not {kind}")));
        }
        messages.try_iter()?.skip(start).collect::<PyResult<_>>()?
    };
    for (index, message) in (start..).zip(&found) {
        if !is_message(message)? {
            let kind = message.get_type().name()?;
            return Err(MessageShapeError::new_err(format!(
                "message {index} is {kind}; expected a dictionary or an object with a role or a type"
            )));
        }
    }
    Ok(found)
}

fn is_message(message: &Bound<'_, PyAny>) -> PyResult<bool> {
    let part = Part::of(message);
    Ok(!matches!(part, Part::Object(_)) || text!(part, "role")?.is_some() || text!(part, "type")?.is_some())
}

fn opened<'py>(envelopes: &[Bound<'py, PyAny>]) -> PyResult<Vec<Bound<'py, PyAny>>> {
    envelopes.iter().map(unwrapped).collect()
}

/// The message inside a line of a session file, or what was given if it is a message itself.
fn unwrapped<'py>(entry: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let part = Part::of(entry);
    if text!(part, "role")?.is_none()
        && let Some(message) = shapes::field!(part, "message")?
        && text!(Part::of(&message), "role")?.is_some()
    {
        return Ok(message);
    }
    Ok(entry.clone())
}
