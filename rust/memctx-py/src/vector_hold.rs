//! `memctx._core.VectorHold`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use memctx_core::store;
use pyo3::prelude::*;
use pyo3::types::PyAny;

use crate::boundary::enter_core;

/// A hold on the vectors of a store: until it is released, memory gets none from the background.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct VectorHold {
    hold: Mutex<Option<store::VectorHold>>,
}

impl VectorHold {
    pub(crate) fn new(hold: store::VectorHold) -> Self {
        Self { hold: Mutex::new(Some(hold)) }
    }

    fn slot(&self) -> MutexGuard<'_, Option<store::VectorHold>> {
        self.hold.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl VectorHold {
    fn __enter__(hold: PyRef<'_, Self>) -> PyRef<'_, Self> {
        hold
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        _kind: &Bound<'_, PyAny>,
        _error: &Bound<'_, PyAny>,
        _trace: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.release(py)
    }

    /// Let vectors come to memory again.
    fn release(&self, py: Python<'_>) -> PyResult<()> {
        enter_core(py, || {
            let hold = self.slot().take();
            drop(hold);
            Ok(())
        })
    }
}
