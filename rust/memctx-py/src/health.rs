//! Health reports of stores.

use memctx_core::store;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Return a health report as Python sees it.
pub(crate) fn health<'py>(py: Python<'py>, found: &store::Health) -> PyResult<Bound<'py, PyDict>> {
    let skipped = PyList::empty(py);
    for line in &found.skipped {
        let one = PyDict::new(py);
        one.set_item("line", line.line)?;
        one.set_item("offset", line.offset)?;
        one.set_item("fault", &line.fault)?;
        skipped.append(one)?;
    }
    let health = PyDict::new(py);
    health.set_item("ok", found.is_ok())?;
    health.set_item("skipped", skipped)?;
    health.set_item("skipped_lines", found.skipped_lines)?;
    health.set_item("repaired", found.repaired)?;
    health.set_item("degraded", found.is_degraded())?;
    health.set_item("reasons", &found.reasons)?;
    health.set_item("damaged", found.damaged)?;
    health.set_item("faults", found.faults.iter().collect::<Vec<_>>())?;
    health.set_item("snapshot", &found.snapshot)?;
    health.set_item("vectors", &found.vectors)?;
    health.set_item("read_only", found.is_read_only)?;
    health.set_item("network", found.network)?;
    Ok(health)
}
