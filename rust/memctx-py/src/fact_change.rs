//! Conversion of changes to facts from Python.
// The words of the format.
#![allow(clippy::similar_names)]

use std::borrow::Cow;

use memctx_core::facts::{Change, Kind, Statement};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::boundary::{checked, text_of, texts_of};
use crate::error::ConfigError;

/// Description of a valid change.
const WORDS: &str = "a change must be (\"add\", id, type, content, context, sources), (\"update\", target, content, \
                     context, sources), (\"supersede\", target, id, type, content, context, sources) or \
                     (\"delete\", target)";

/// A change as Python asked for it.
pub(crate) enum Asked<'a> {
    Add { id: Option<Cow<'a, str>>, kind: Cow<'a, str>, said: AskedStatement },
    Update { target: Cow<'a, str>, said: AskedStatement },
    Supersede { target: Cow<'a, str>, id: Option<Cow<'a, str>>, kind: Cow<'a, str>, said: AskedStatement },
    Delete { target: Cow<'a, str> },
}

/// Content of a fact.
pub(crate) struct AskedStatement {
    content: String,
    context: Option<String>,
    sources: Vec<String>,
    timestamp: Option<f64>,
}

impl AskedStatement {
    pub(crate) fn new(
        content: &Bound<'_, PyString>,
        context: Option<&Bound<'_, PyString>>,
        sources: Option<&Bound<'_, PyAny>>,
        timestamp: Option<f64>,
    ) -> PyResult<Self> {
        let sources = sources.map(texts_of).transpose()?.unwrap_or_default();
        Ok(Self {
            content: text_of(content)?.into_owned(),
            context: context.map(|context| text_of(context).map(Cow::into_owned)).transpose()?,
            sources: sources.iter().map(|source| text_of(source).map(Cow::into_owned)).collect::<PyResult<_>>()?,
            timestamp,
        })
    }

    fn statement(&self) -> Statement<'_> {
        let Self { content, context, sources, timestamp } = self;
        Statement { content, context: context.as_deref(), sources, timestamp: *timestamp }
    }
}

impl Asked<'static> {
    /// Read a tuple of `apply`.
    pub(crate) fn of(change: &Bound<'_, PyTuple>) -> PyResult<Self> {
        type Text<'py> = Bound<'py, PyString>;
        type Rest<'py> = (Text<'py>, Option<Text<'py>>, Bound<'py, PyAny>);
        let owned = |text: &Text<'_>| text_of(text).map(|text| Cow::Owned(text.into_owned()));
        let new_id = |text: &Text<'_>| id_of(text).map(|id| Some(Cow::Owned(id.into_owned())));
        let said = |rest: &Rest<'_>| AskedStatement::new(&rest.0, rest.1.as_ref(), Some(&rest.2), None);
        let refused = || ConfigError::new_err(format!("{WORDS}, not a tuple of {}", change.len()));
        let name: String = checked(&change.get_item(0).map_err(|_| refused())?)?;
        let rest = change.get_slice(1, change.len());
        let given = match name.as_str() {
            "add" => 5,
            "update" => 4,
            "supersede" => 6,
            "delete" => 1,
            _ => return Err(ConfigError::new_err(format!("{WORDS}, not {name:?}"))),
        };
        if rest.len() != given {
            return Err(refused());
        }
        match name.as_str() {
            "add" => {
                let (id, kind, content, context, sources): (Text<'_>, Text<'_>, _, _, _) = rest.extract()?;
                Ok(Self::Add { id: new_id(&id)?, kind: owned(&kind)?, said: said(&(content, context, sources))? })
            }
            "update" => {
                let (target, content, context, sources): (Text<'_>, _, _, _) = rest.extract()?;
                Ok(Self::Update { target: owned(&target)?, said: said(&(content, context, sources))? })
            }
            "supersede" => {
                let (target, id, kind, content, context, sources): (Text<'_>, Text<'_>, Text<'_>, _, _, _) =
                    rest.extract()?;
                let (target, id, kind) = (owned(&target)?, new_id(&id)?, owned(&kind)?);
                Ok(Self::Supersede { target, id, kind, said: said(&(content, context, sources))? })
            }
            _ => {
                let (target,): (Text<'_>,) = rest.extract()?;
                Ok(Self::Delete { target: owned(&target)? })
            }
        }
    }
}

impl Asked<'_> {
    pub(crate) fn change(&self) -> memctx_core::Result<Change<'_>> {
        Ok(match self {
            Self::Add { id, kind, said } => {
                Change::Add { id: id.as_deref(), kind: Kind::parse(kind)?, statement: said.statement() }
            }
            Self::Update { target, said } => Change::Update { target, statement: said.statement() },
            Self::Supersede { target, id, kind, said } => {
                let (id, kind) = (id.as_deref(), Kind::parse(kind)?);
                Change::Supersede { target, id, kind, statement: said.statement() }
            }
            Self::Delete { target } => Change::Delete { target },
        })
    }
}

/// Return the id of a new fact. No UTF-8 can hold a lone surrogate, and replacing it would make two ids one.
pub(crate) fn id_of<'a>(id: &'a Bound<'_, PyString>) -> PyResult<Cow<'a, str>> {
    let refused = |_| ConfigError::new_err("id must be valid Unicode, without lone surrogates");
    id.to_str().map(Cow::Borrowed).map_err(refused)
}
