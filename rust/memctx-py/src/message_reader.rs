//! `memctx._core.MessageReader`: reads messages of every format into a [`Conversation`].

use std::ops::Deref;
use std::sync::Arc;

use memctx_core::messages::{self, Cache, Format, Key, Kind, MessageView, Role, Text};
use memctx_core::text::Estimator;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::types::{PyByteArray, PyBytes, PyList, PySequence, PyString, PyTuple};

use crate::boundary::{enter_core, guarded, text_of};
use crate::cache::fingerprints::{Fingerprints, Sought};
use crate::cache::own_blocks::OwnBlocks;
use crate::cache::prefix_cache::{Prefix, PrefixCache, Suffix};
use crate::cache::strings::{self, Strings};
use crate::conversation::Conversation;
use crate::error::{ConfigError, MessageFormatError};
use crate::formats::{self, Detection, Draft, DraftPart, Foreign, Node, spelled, text};

/// Texts of some ten long conversations with what was found out about them.
const CAPACITY: i64 = 64 << 20;

/// Reads messages and remembers their texts, so that what was read before costs next to nothing.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct MessageReader {
    price: Price,
    cache: Cache,
    foreign: Foreign,
    /// None if nothing is to be remembered.
    known: Option<Remembered>,
    /// None if whatever reads like a block is one.
    own_blocks: Option<OwnBlocks>,
}

/// Caches of earlier turns, by address.
#[derive(Default)]
struct Remembered {
    lists: PrefixCache,
    messages: Fingerprints,
    strings: Strings,
}

/// Source of token counts.
enum Price {
    BuiltIn(Estimator),
    Asked(Py<PyAny>),
}

#[pymethods]
impl MessageReader {
    #[new]
    #[pyo3(
        signature = (estimator = None, *, capacity = CAPACITY, own_blocks = None),
        text_signature = "(estimator=\"script\", *, capacity=67108864, own_blocks=None)"
    )]
    fn new(estimator: Option<&Bound<'_, PyAny>>, capacity: i64, own_blocks: Option<Vec<u64>>) -> PyResult<Self> {
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
        let known = (capacity > 0).then(Remembered::default);
        let own_blocks = own_blocks.map(OwnBlocks::new);
        Ok(Self { price, cache: Cache::new(capacity), foreign: Foreign::default(), known, own_blocks })
    }

    /// Add the keys of blocks that were sent; false if one of them was read as something else before.
    fn add_own_blocks(&self, py: Python<'_>, keys: Vec<u64>) -> PyResult<bool> {
        enter_core(py, || Ok(self.own_blocks.as_ref().is_none_or(|own| own.add(keys))))
    }

    /// Return whether a text, white space around it aside, is just one block, and one that was sent.
    fn is_own_block(&self, py: Python<'_>, text: &Bound<'_, PyString>) -> PyResult<bool> {
        let text = text_of(text)?;
        enter_core(py, || {
            let key = Text::new(&text, 0).block_key();
            Ok(key.is_some_and(|key| self.own_blocks.as_ref().is_none_or(|own| own.has(key))))
        })
    }

    /// Read a list of messages; ``format`` names their format if it is not to be detected.
    #[pyo3(signature = (messages, format = None))]
    fn read(&self, messages: &Bound<'_, PyAny>, format: Option<&Bound<'_, PyString>>) -> PyResult<Conversation> {
        let py = messages.py();
        let given = format.map(|name| guarded(|| Format::parse(spelled(Some(name))))).transpose()?;
        let Some(known) = &self.known else {
            let envelopes = guarded(|| Ok(listed(messages, 0)))??;
            let format = given.map_or_else(|| detected(Detection::default(), &envelopes).map(Detection::format), Ok)?;
            let views = self.read_views(py, format, &envelopes.iter().enumerate().collect::<Vec<_>>())?;
            return Ok(Conversation(Arc::new(enter_core(py, || Ok(messages::Conversation::new(format, views)))?)));
        };
        let prefix = guarded(|| Ok(messages.cast::<PyList>().ok().and_then(|list| known.lists.take(given, list))))?;
        let mut prefix = prefix.unwrap_or_else(|| Prefix::new(given));
        if given.is_some() {
            prefix.detection = None;
        }
        let mut envelopes = guarded(|| Ok(listed(messages, prefix.len())))??;
        if let Some(detection) = prefix.detection {
            let detection = detected(detection, &envelopes)?;
            if detection.format() != prefix.format && prefix.len() > 0 {
                // The new messages tell another format than those before them did.
                prefix = Prefix::new(None);
                envelopes = guarded(|| Ok(listed(messages, 0)))??;
            }
            prefix.detect(detection);
        }
        let (views, suffix) = self.views(py, prefix.format, prefix.len(), &envelopes, &known.messages)?;
        let is_traced = suffix.is_some();
        let prefix = enter_core(py, move || {
            prefix.extend(suffix.unwrap_or_default(), views);
            Ok(prefix)
        })?;
        let conversation = prefix.conversation();
        if is_traced {
            known.lists.keep(prefix);
        }
        Ok(Conversation(conversation))
    }

    /// Return the number of cached texts.
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

impl MessageReader {
    /// Return the views of messages, the first of which is number `start`: known by their fingerprints, or read; and
    /// their fingerprints, if all have one.
    fn views<'py>(
        &self,
        py: Python<'py>,
        format: Format,
        start: usize,
        messages: &[Bound<'py, PyAny>],
        known: &Fingerprints,
    ) -> PyResult<(Vec<MessageView>, Option<Suffix>)> {
        let (sought, words) = known.look(format, messages);
        let unread = (start..).zip(messages).zip(&sought).filter(|(_, sought)| matches!(sought, Sought::New(_)));
        let read = self.read_views(py, format, &unread.map(|(message, _)| message).collect::<Vec<_>>())?;
        let mut new = Vec::with_capacity(read.len());
        let mut fingerprints = Vec::with_capacity(messages.len());
        let mut read = read.into_iter();
        let views = sought.into_iter().filter_map(|sought| match sought {
            Sought::Known(view, fingerprint) => {
                fingerprints.push(fingerprint);
                Some(view)
            }
            Sought::New(fingerprint) => {
                let view = read.next()?;
                if let Some(fingerprint) = fingerprint {
                    fingerprints.push(fingerprint.clone());
                    new.push((fingerprint, view.clone()));
                }
                Some(view)
            }
        });
        let views = views.collect();
        known.hold(new);
        let is_all = fingerprints.len() == messages.len();
        Ok((views, is_all.then(|| Suffix { words, fingerprints })))
    }

    /// Return the views of messages that are read, each with its index.
    fn read_views<'py>(
        &self,
        py: Python<'py>,
        format: Format,
        messages: &[(usize, &Bound<'py, PyAny>)],
    ) -> PyResult<Vec<MessageView>> {
        let draft_messages = guarded(|| Ok(DraftMessages::read(format, messages, &self.foreign)))??;
        let priced = self.texts(py, &draft_messages)?;
        Ok(draft_messages.into_views(priced))
    }

    /// Return the texts of all messages: known by the host's strings, by their content, or new.
    fn texts(&self, py: Python<'_>, draft_messages: &DraftMessages<'_>) -> PyResult<Vec<Arc<Text>>> {
        let wordings = draft_messages.wordings();
        let Some(Remembered { strings: known, .. }) = &self.known else { return self.priced(py, &wordings) };
        let found = known.look(wordings.iter().map(|wording| wording.string));
        let missing: Vec<Wording<'_, '_>> =
            wordings.iter().zip(&found).filter(|(_, found)| found.is_none()).map(|(&wording, _)| wording).collect();
        let priced = self.priced(py, &missing)?;
        known.hold(missing.iter().zip(&priced).filter_map(|(wording, text)| Some((wording.string?, text))));
        let mut priced = priced.into_iter();
        Ok(found.into_iter().filter_map(|text| text.or_else(|| priced.next())).collect())
    }

    /// Return the texts with what they cost, as far as known from the cache.
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
        let own = self.own_blocks.as_ref();
        let made = |missing: Missing<'_>| missing.made(own);
        let kept = enter_core(py, || Ok(self.cache.keep(missing.into_iter().map(made).collect())));
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

/// Return the evidence of the format in messages and those before them.
fn detected(before: Detection, envelopes: &[Bound<'_, PyAny>]) -> PyResult<Detection> {
    guarded(|| Ok(opened(envelopes).and_then(|messages| before.extend(&messages))))?
}

fn tokens(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Return the format of a list of messages; Anthropic's where all formats would read it alike.
#[pyfunction]
pub(crate) fn detect(messages: &Bound<'_, PyAny>) -> PyResult<&'static str> {
    guarded(|| {
        Ok(listed(messages, 0).and_then(|envelopes| {
            let format = Detection::default().extend(&opened(&envelopes)?)?.format();
            DraftMessages::read(format, &envelopes.iter().enumerate().collect::<Vec<_>>(), &Foreign::default())?;
            Ok(format.name())
        }))
    })?
}

/// All messages of a list, read and not priced yet.
struct DraftMessages<'py> {
    draft: Draft<'py>,
    draft_messages: Vec<DraftMessage>,
}

struct DraftMessage {
    role: Role,
    /// End of its parts in the draft.
    end: usize,
    timestamp: Option<f64>,
    is_aborted: bool,
}

/// Text to be counted.
#[derive(Clone, Copy)]
struct Wording<'a, 'py> {
    text: &'a str,
    /// The host's string, where it is all of one.
    string: Option<&'a Bound<'py, PyString>>,
}

impl Wording<'_, '_> {
    /// Return the host's string, which cannot change, if it is worth the holding.
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
    /// Return the text to be kept.
    fn made(self, own: Option<&OwnBlocks>) -> Arc<Text> {
        match self.lent {
            Some(text) => Arc::new(judged(Text::keyed(self.key, text, self.tokens), own)),
            None => Arc::new(judged(Text::keyed(self.key, Box::<str>::from(self.text), self.tokens), own)),
        }
    }
}

fn judged<B: Deref<Target = str>>(text: Text<B>, own: Option<&OwnBlocks>) -> Text<B> {
    match own {
        Some(own) => own.judged(text),
        None => text,
    }
}

impl<'py> DraftMessages<'py> {
    /// Read messages, each given with its index. One that is not understood is refused, and with it the list.
    fn read(format: Format, envelopes: &[(usize, &Bound<'py, PyAny>)], foreign: &Foreign) -> PyResult<Self> {
        let mut draft = Draft::new(format, envelopes.len());
        let mut draft_messages = Vec::with_capacity(envelopes.len());
        for &(index, envelope) in envelopes {
            let message = unwrapped(envelope)?;
            let node = Node::of(&message);
            draft.begin();
            if matches!(node, Node::Object(_)) {
                draft.unsupported = foreign.unsupported(&message)?;
            }
            let role = formats::read(&mut draft, node)?;
            if let Some(unsupported) = &draft.unsupported {
                return Err(formats::refusal(index, &message, unsupported)?);
            }
            let mut timestamp = formats::timestamp(node)?;
            if timestamp.is_none() && !message.is(envelope) {
                timestamp = formats::timestamp(Node::of(envelope))?;
            }
            draft_messages.push(DraftMessage { role, end: draft.parts.len(), timestamp, is_aborted: draft.is_aborted });
        }
        Ok(Self { draft, draft_messages })
    }

    /// Return everything that has a price: the texts of the parts and the names of tools that are called.
    fn wordings(&self) -> Vec<Wording<'_, 'py>> {
        let mut wordings = Vec::with_capacity(self.draft.parts.len() * 2);
        for draft_part in &self.draft.parts {
            if let Some(words) = &draft_part.words {
                wordings.push(Wording { text: self.draft.spelled(words), string: words.string() });
            }
            if let Some(name) = called(draft_part) {
                wordings.push(Wording { text: name, string: None });
            }
        }
        wordings
    }

    /// Return the views, now that the texts are priced, which come in the order of [`DraftMessages::wordings`].
    fn into_views(self, texts: Vec<Arc<Text>>) -> Vec<MessageView> {
        let mut texts = texts.into_iter();
        let mut start = 0;
        let mut drafts = self.draft.parts.into_iter();
        let views = self.draft_messages.into_iter().map(|draft_message| {
            let count = draft_message.end - std::mem::replace(&mut start, draft_message.end);
            let parts = drafts.by_ref().take(count).map(|draft_part| finished(draft_part, &mut texts));
            let mut view = MessageView::new(draft_message.role, parts.collect::<Arc<[_]>>());
            (view.timestamp, view.is_aborted) = (draft_message.timestamp, draft_message.is_aborted);
            view
        });
        views.collect()
    }
}

fn called<'a>(draft_part: &'a DraftPart<'_>) -> Option<&'a str> {
    draft_part.part.name.as_deref().filter(|_| draft_part.part.kind == Kind::Call)
}

fn finished(draft_part: DraftPart<'_>, texts: &mut impl Iterator<Item = Arc<Text>>) -> messages::Part {
    let is_called = called(&draft_part).is_some();
    let mut part = draft_part.part;
    if draft_part.words.is_some() {
        part.text = texts.next();
        if !draft_part.is_label {
            part.tokens = part.tokens.saturating_add(part.text.as_ref().map_or(0, |text| text.tokens()));
        }
    }
    if is_called {
        part.tokens = part.tokens.saturating_add(texts.next().map_or(0, |name| name.tokens()));
    }
    part
}

/// Return the messages of a list from an index on; refuse anything but a list.
fn listed<'py>(messages: &Bound<'py, PyAny>, start: usize) -> PyResult<Vec<Bound<'py, PyAny>>> {
    Ok(if let Ok(list) = messages.cast::<PyList>() {
        list.iter().skip(start).collect()
    } else if let Ok(tuple) = messages.cast::<PyTuple>() {
        tuple.iter().skip(start).collect()
    } else {
        let is_text = messages.is_instance_of::<PyString>()
            || messages.is_instance_of::<PyBytes>()
            || messages.is_instance_of::<PyByteArray>();
        if is_text || messages.cast::<PySequence>().is_err() {
            let kind = messages.get_type().name()?;
            return Err(MessageFormatError::new_err(format!("expected a list of messages, not {kind}")));
        }
        messages.try_iter()?.skip(start).collect::<PyResult<_>>()?
    })
}

fn opened<'py>(envelopes: &[Bound<'py, PyAny>]) -> PyResult<Vec<Bound<'py, PyAny>>> {
    envelopes.iter().map(unwrapped).collect()
}

/// Return the message inside a line of a session file, or what was given if it is a message itself.
fn unwrapped<'py>(entry: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let node = Node::of(entry);
    if text!(node, "role")?.is_none()
        && let Some(message) = formats::field!(node, "message")?
        && text!(Node::of(&message), "role")?.is_some()
    {
        return Ok(message);
    }
    Ok(entry.clone())
}
