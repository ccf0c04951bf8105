//! `memctx.SearchFilter`.

use std::borrow::Cow;

use memctx_core::store;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::boundary::{all_of, checked, session_of, texts_of};

/// Conditions that every segment found must meet.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct SearchFilter(store::SearchFilter);

impl SearchFilter {
    /// Return the conditions that were given, or none.
    pub(crate) fn given(filter: Option<&Bound<'_, Self>>) -> store::SearchFilter {
        filter.map(|filter| filter.get().0.clone()).unwrap_or_default()
    }
}

#[pymethods]
impl SearchFilter {
    #[new]
    #[pyo3(signature = (*, session_id = None, roles = None, since = None, until = None, topics = None))]
    fn new(
        session_id: Option<&Bound<'_, PyString>>,
        roles: Option<&Bound<'_, PyAny>>,
        since: Option<&Bound<'_, PyAny>>,
        until: Option<&Bound<'_, PyAny>>,
        topics: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        Ok(Self(store::SearchFilter {
            session: session_id.map(session_of).transpose()?.map(str::to_owned),
            roles: roles.map(owned).transpose()?,
            since: since.map(milliseconds).transpose()?,
            until: until.map(milliseconds).transpose()?,
            topics: topics.map(owned).transpose()?,
        }))
    }

    /// Only segments of this session.
    #[getter]
    fn session_id(&self) -> Option<&str> {
        self.0.session.as_deref()
    }

    /// Only segments of one of these roles.
    #[getter]
    fn roles(&self) -> Option<Vec<String>> {
        self.0.roles.clone()
    }

    /// Only segments not older than this.
    #[getter]
    fn since(&self) -> Option<f64> {
        self.0.since
    }

    /// Only segments not newer than this.
    #[getter]
    fn until(&self) -> Option<f64> {
        self.0.until
    }

    /// Only segments about one of these topics.
    #[getter]
    fn topics(&self) -> Option<Vec<String>> {
        self.0.topics.clone()
    }

    fn __repr__(&self) -> String {
        let store::SearchFilter { session, roles, since, until, topics } = &self.0;
        let number = |number: &Option<f64>| number.map(|number| number.to_string());
        let texts = |texts: &Option<Vec<String>>| texts.as_ref().map(|texts| format!("{texts:?}"));
        let given = [
            ("session_id", session.as_ref().map(|session| format!("{session:?}"))),
            ("roles", texts(roles)),
            ("since", number(since)),
            ("until", number(until)),
            ("topics", texts(topics)),
        ];
        let given = given.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", value?)));
        format!("SearchFilter({})", given.collect::<Vec<_>>().join(", "))
    }
}

fn owned(texts: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    Ok(all_of(&texts_of(texts)?)?.into_iter().map(Cow::into_owned).collect())
}

/// Return a datetime, or milliseconds since 1970, as the latter.
fn milliseconds(moment: &Bound<'_, PyAny>) -> PyResult<f64> {
    match moment.getattr_opt(intern!(moment.py(), "timestamp"))? {
        Some(timestamp) => Ok(timestamp.call0()?.extract::<f64>()? * 1000.0),
        None => checked(moment),
    }
}
