"""Metrics of replicas for OpenTelemetry, if it is installed: gauges that its reader asks for."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memctx.replica.replica import Replica

GAUGES: dict[str, tuple[str, str, Callable[[Replica], float | None]]] = {
    "memctx.server.spooled": ("By", "Bytes that wait to be sent", lambda it: it.spooled_bytes()),
    "memctx.server.lag": ("s", "Time for which something has waited", lambda it: it.lag_seconds()),
    "memctx.server.latency.p50": ("ms", "Median of calls", lambda it: it.server.latency_ms["p50"]),
    "memctx.server.latency.p99": ("ms", "99th percentile", lambda it: it.server.latency_ms["p99"]),
}
"""Unit, description and value of each gauge."""

_replicas: weakref.WeakSet[Replica] = weakref.WeakSet()
_is_registered = False


def watch(replica: Replica) -> None:
    """Report a replica from now on, as long as it is open; do nothing without OpenTelemetry."""
    global _is_registered  # noqa: PLW0603 - one process has one meter
    try:
        from opentelemetry import metrics  # noqa: PLC0415 - an optional package
    except ImportError:
        return
    _replicas.add(replica)
    if _is_registered:
        return
    _is_registered = True

    def observe(
        read: Callable[[Replica], float | None],
    ) -> Callable[[metrics.CallbackOptions], Iterator[metrics.Observation]]:
        def values(_options: metrics.CallbackOptions) -> Iterator[metrics.Observation]:
            for each in list(_replicas):
                value = None if each.is_closed else read(each)
                if value is not None:
                    yield metrics.Observation(value, {"memctx.namespace": each.server.namespace})

        return values

    meter = metrics.get_meter("memctx")
    for name, (unit, description, read) in GAUGES.items():
        meter.create_observable_gauge(
            name, callbacks=[observe(read)], unit=unit, description=description
        )
