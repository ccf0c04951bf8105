//! `memctx._core.Lease`.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use memctx_core::store;
use pyo3::prelude::*;

use crate::boundary::{checked, enter_core};

/// A lease on a lock file: of many processes one at a time holds it.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct Lease {
    path: PathBuf,
    lease: Mutex<Option<store::Lease>>,
}

impl Lease {
    fn slot(&self) -> MutexGuard<'_, Option<store::Lease>> {
        self.lease.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Lease {
    #[new]
    fn new(#[pyo3(from_py_with = checked)] path: PathBuf) -> Self {
        Self { path, lease: Mutex::new(None) }
    }

    /// True if this object holds the lease.
    #[getter]
    fn is_held(&self) -> bool {
        self.slot().is_some()
    }

    /// Acquire the lease unless another holder has it, and return whether it is held.
    fn acquire(&self, py: Python<'_>) -> PyResult<bool> {
        enter_core(py, || {
            let mut slot = self.slot();
            if slot.is_none() {
                *slot = store::Lease::acquire(&self.path)?;
            }
            Ok(slot.is_some())
        })
    }

    /// Release the lease; in a forked child, leave it to the parent.
    fn release(&self) {
        let lease = self.slot().take();
        drop(lease);
    }

    fn __repr__(&self) -> String {
        format!("Lease({:?})", self.path.display().to_string())
    }
}
