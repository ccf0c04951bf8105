//! `memctx._core.build_block`, `drop_facts`, `parse_block`, `is_block` and `visible`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use memctx_core::facts::{Version, replaced as find_replaced};
use memctx_core::recall::{
    self, CompanionItem, DetailItem, EXCERPT, FactItem, Passage, Replaced, Request, Since, Verdict, Wish,
};
use memctx_core::store::Found;
use memctx_core::text::Estimator;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::boundary::{checked, enter_core, text_of};
use crate::conversation::Conversation;
use crate::error::ConfigError;
use crate::search_hit::SearchHit;
use crate::segment::Segment;

type GivenFact<'py> = (Bound<'py, PyString>, Bound<'py, PyString>, f64);
type GivenParts<'py> = (Bound<'py, PyString>, f64, Bound<'py, PyString>, Bound<'py, PyString>, usize, usize, f64);
/// Companion: the index of its detail, the segment, and whether it stands before the detail.
type GivenCompanion<'py> = (usize, Bound<'py, Segment>, bool);
type ReadFact = (String, String);
type ReadDetail = (f64, String, String);

/// Detail, as a hit of a search or in its parts: id, time, role, content, start and end of the passage, score.
#[derive(FromPyObject)]
pub(crate) enum GivenDetail<'py> {
    Hit(Bound<'py, SearchHit>),
    Parts(GivenParts<'py>),
}

/// Stored content, as a hit of a search or as text.
#[derive(FromPyObject)]
pub(crate) enum GivenContent {
    Hit(Py<SearchHit>),
    Text(String),
}

impl GivenContent {
    fn text(&self) -> &str {
        match self {
            Self::Hit(hit) => &hit.get().found.segment.content,
            Self::Text(text) => text,
        }
    }
}

/// Fields of a detail, with the objects that keep them alive.
struct Said<'a> {
    timestamp: f64,
    role: Cow<'a, str>,
    id: Cow<'a, str>,
    content: Cow<'a, str>,
    passage: Range<usize>,
    score: f64,
}

impl<'a> Said<'a> {
    fn of(given: &'a GivenDetail<'_>) -> PyResult<Self> {
        match given {
            GivenDetail::Hit(hit) => {
                let Found { segment, passage, score, .. } = &hit.get().found;
                let (role, content) = (Cow::Borrowed(&*segment.role), Cow::Borrowed(&*segment.content));
                let (timestamp, id) = (segment.timestamp, Cow::Borrowed(&*segment.id));
                Ok(Self { timestamp, role, id, content, passage: passage.clone(), score: *score })
            }
            GivenDetail::Parts((id, timestamp, role, content, start, end, score)) => {
                let content = text_of(content)?;
                let passage = bytes_of(&content, *start, *end);
                let (role, id) = (text_of(role)?, text_of(id)?);
                Ok(Self { timestamp: *timestamp, role, id, content, passage, score: *score })
            }
        }
    }
}

impl Said<'_> {
    fn item(&self, has_id: bool) -> DetailItem<'_> {
        let Self { timestamp, role, id, content, passage, score } = self;
        let id = if has_id { short(id) } else { "" };
        let passage = passage.clone();
        DetailItem { timestamp: *timestamp, role, id, replaced: None, content, passage, score: *score }
    }
}

/// Characters of an id that are shown: enough to tell the segments of a store apart.
const SHORT_ID: usize = 8;

fn short(id: &str) -> &str {
    id.get(..SHORT_ID).unwrap_or(id)
}

fn companion_item<'a>((of, segment, is_before): &'a GivenCompanion<'_>, has_id: bool) -> CompanionItem<'a> {
    let segment = &segment.get().0;
    let (role, id, content) = (&*segment.role, if has_id { short(&segment.id) } else { "" }, &*segment.content);
    let (timestamp, passage) = (segment.timestamp, 0..content.len());
    let item = DetailItem { timestamp, role, id, replaced: None, content, passage, score: 0.0 };
    CompanionItem { of: *of, is_before: *is_before, item }
}

/// A block of recalled context and what went into it.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct Block(recall::Block);

#[pymethods]
impl Block {
    /// The text; empty when nothing fits.
    #[getter]
    fn text(&self) -> &str {
        &self.0.text
    }

    /// Tokens; 0 if nothing fits.
    #[getter]
    fn tokens(&self) -> usize {
        self.0.tokens
    }

    /// Indices of the facts it tells, in order.
    #[getter]
    fn facts(&self) -> Vec<usize> {
        self.0.facts.clone()
    }

    /// Indices of the details it tells, oldest first.
    #[getter]
    fn details(&self) -> Vec<usize> {
        self.0.details.clone()
    }

    /// Indices of the details that were cut to an excerpt.
    #[getter]
    fn cut(&self) -> Vec<usize> {
        self.0.cut.clone()
    }

    /// Indices of the companions it tells, each with whether it was cut to an excerpt.
    #[getter]
    fn companions(&self) -> Vec<(usize, bool)> {
        self.0.companions.clone()
    }

    fn __repr__(&self) -> String {
        let recall::Block { tokens, facts, details, .. } = &self.0;
        format!("Block(tokens={tokens}, facts={}, details={})", facts.len(), details.len())
    }
}

/// Return the best block of at most ``cap`` tokens.
#[pyfunction]
#[pyo3(signature = (
    facts, details, *, cap, query = None, excerpt = None, estimator = "script", annotate = false, companions = None, replaced = None,
    last = None
))]
#[allow(clippy::too_many_arguments)] // named in Python
pub(crate) fn build_block(
    py: Python<'_>,
    facts: Vec<GivenFact<'_>>,
    details: Vec<GivenDetail<'_>>,
    #[pyo3(from_py_with = checked)] cap: i64,
    query: Option<&Bound<'_, PyString>>,
    #[pyo3(from_py_with = checked)] excerpt: Option<i64>,
    #[pyo3(from_py_with = checked)] estimator: &str,
    annotate: bool,
    companions: Option<Vec<GivenCompanion<'_>>>,
    replaced: Option<HashMap<usize, Option<f64>>>,
    last: Option<Vec<usize>>,
) -> PyResult<Block> {
    let tokens = |name: &str, value: i64| {
        let refused = |_| ConfigError::new_err(format!("{name} must be 0 or more tokens, not {value}"));
        usize::try_from(value).map_err(refused)
    };
    let cap = tokens("cap", cap)?;
    let excerpt = excerpt.map_or(Ok(EXCERPT), |excerpt| tokens("excerpt", excerpt))?;
    let query = query.map(text_of).transpose()?.unwrap_or_default();
    let known: Vec<_> =
        facts.iter().map(|(kind, content, _)| Ok((text_of(kind)?, text_of(content)?))).collect::<PyResult<_>>()?;
    let said: Vec<Said<'_>> = details.iter().map(Said::of).collect::<PyResult<_>>()?;
    let facts: Vec<FactItem<'_>> =
        known.iter().zip(&facts).map(|((kind, content), given)| FactItem { kind, content, score: given.2 }).collect();
    let mut details: Vec<DetailItem<'_>> = said.iter().map(|said| said.item(annotate)).collect();
    for (index, time) in replaced.unwrap_or_default() {
        if let Some(detail) = details.get_mut(index) {
            detail.replaced = Some(time.map_or(Since::Later, Since::At));
        }
    }
    let companions = companions.unwrap_or_default();
    let companions: Vec<CompanionItem<'_>> =
        companions.iter().map(|companion| companion_item(companion, annotate)).collect();
    enter_core(py, || {
        let request = Request {
            facts: &facts,
            details: &details,
            companions: &companions,
            query: &query,
            cap,
            excerpt,
            estimator: Estimator::parse(estimator)?,
            last: last.as_deref().unwrap_or_default(),
            has_note: annotate,
        };
        Ok(Block(recall::build(&request)))
    })
}

/// Return what becomes of each hit of a search, given oldest first: a word for it, and the index of the hit that it
/// gives way to, if there is one. ``taken_back`` has the hits that the conversation takes back, with True for those of
/// which nothing holds, ``seen`` those that the model sees.
#[pyfunction]
pub(crate) fn select_passages(
    py: Python<'_>,
    query: &Bound<'_, PyString>,
    hits: Vec<Py<SearchHit>>,
    #[pyo3(from_py_with = checked)] taken_back: HashMap<usize, bool>,
    #[pyo3(from_py_with = checked)] seen: Vec<usize>,
) -> PyResult<Vec<(&'static str, Option<usize>)>> {
    let query = text_of(query)?;
    enter_core(py, || {
        let found: Vec<&Found> = hits.iter().map(|hit| &hit.get().found).collect();
        let said: Vec<Version<'_>> =
            found.iter().map(|found| Version { role: &found.segment.role, text: &found.segment.content }).collect();
        let mut replaced = find_replaced(&said);
        for (index, is_whole) in taken_back {
            if let Some(replaced) = replaced.get_mut(index) {
                *replaced = replaced.or(Some(Replaced { by: None, is_whole }));
            }
        }
        let passages: Vec<Passage<'_>> = found
            .iter()
            .zip(replaced)
            .enumerate()
            .map(|(index, (found, replaced))| Passage {
                role: &found.segment.role,
                content: &found.segment.content,
                matched: found.segment.content.get(found.passage.clone()).unwrap_or_default(),
                score: found.score,
                cosine: found.vector,
                replaced,
                is_seen: seen.contains(&index),
            })
            .collect();
        let named = |(verdict, passage): (Verdict, &Passage<'_>)| match verdict {
            Verdict::Shown => ("shown", None),
            Verdict::Marked => ("marked", passage.replaced.and_then(|replaced| replaced.by)),
            Verdict::Duplicate(of) => ("duplicate", Some(of)),
            Verdict::Replaced(by) => ("replaced", by),
            Verdict::Question => ("past question", None),
            Verdict::Little => ("adds little", None),
        };
        Ok(recall::select(&query, &passages).into_iter().zip(&passages).map(named).collect())
    })
}

/// Return whether a question asks for many texts: a list, an order of events, a summary.
#[pyfunction]
pub(crate) fn asks_for_many(query: &Bound<'_, PyString>) -> PyResult<bool> {
    Ok(Wish::of(&text_of(query)?).many)
}

/// Return the facts and details of a block, or None when the text is not just one block.
#[pyfunction]
pub(crate) fn parse_block(
    py: Python<'_>,
    text: &Bound<'_, PyString>,
) -> PyResult<Option<(Vec<ReadFact>, Vec<ReadDetail>)>> {
    let text = text_of(text)?;
    let parsed = enter_core(py, || Ok(recall::parse(&text)))?;
    Ok(parsed.map(|parsed| {
        let facts = parsed.facts.into_iter().map(|fact| (fact.kind, fact.content));
        let details = parsed.details.into_iter().map(|detail| (detail.timestamp, detail.role, detail.content));
        (facts.collect(), details.collect())
    }))
}

/// Return whether a text, white space around it aside, is just one block.
#[pyfunction]
pub(crate) fn is_block(py: Python<'_>, text: &Bound<'_, PyString>) -> PyResult<bool> {
    let text = text_of(text)?;
    enter_core(py, || Ok(recall::is_block(&text)))
}

/// Return the bytes of a slice of characters.
fn bytes_of(text: &str, start: usize, end: usize) -> Range<usize> {
    let at = |index: usize, from: usize| text[from..].char_indices().nth(index).map_or(text.len(), |(at, _)| from + at);
    let first = at(start, 0);
    first..at(end.saturating_sub(start), first)
}

/// Return which contents the model still sees in a conversation with some messages hidden.
#[pyfunction]
pub(crate) fn visible(
    py: Python<'_>,
    conversation: &Conversation,
    #[pyo3(from_py_with = checked)] hidden: Vec<u32>,
    contents: Vec<GivenContent>,
) -> PyResult<Vec<bool>> {
    enter_core(py, || {
        if contents.is_empty() {
            return Ok(Vec::new());
        }
        let contents: Vec<&str> = contents.iter().map(GivenContent::text).collect();
        let visible = recall::Visible::seeking(&conversation.0, &hidden, &contents);
        Ok(contents.iter().map(|content| visible.shows(content)).collect())
    })
}

/// Return a block without the facts of some contents; nothing if nothing else is in it, None if the text is no block.
#[pyfunction]
pub(crate) fn drop_facts(
    py: Python<'_>,
    text: &Bound<'_, PyString>,
    #[pyo3(from_py_with = checked)] contents: Vec<String>,
) -> PyResult<Option<String>> {
    let text = text_of(text)?;
    enter_core(py, || {
        Ok(recall::parse(&text).map(|mut parsed| {
            parsed.facts.retain(|fact| !contents.contains(&fact.content));
            recall::write(&parsed)
        }))
    })
}
