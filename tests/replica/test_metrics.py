"""Gauges of OpenTelemetry say the same as `Memory.stats`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opentelemetry import metrics
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, NumberDataPoint

from replica.test_sharing import said

if TYPE_CHECKING:
    from replica.conftest import Hosts


def test_gauges_report_each_open_namespace(hosts: Hosts) -> None:
    reader = InMemoryMetricReader()
    metrics.set_meter_provider(MeterProvider(metric_readers=[reader]))
    with hosts.open("a") as memory:
        memory.archive(said("The webhook listens on port 8443"))
        values = _values(reader, hosts.space.name)
        assert values["memctx.server.spooled"] == memory.stats()["server"]["spooled_bytes"] == 0
        assert values["memctx.server.lag"] == 0
        assert values["memctx.server.latency.p50"] > 0
    assert _values(reader, hosts.space.name) == {}


def _values(reader: InMemoryMetricReader, namespace: str) -> dict[str, float]:
    data = reader.get_metrics_data()
    return {
        metric.name: point.value
        for resource in (data.resource_metrics if data else ())
        for scope in resource.scope_metrics
        for metric in scope.metrics
        for point in metric.data.data_points
        if isinstance(point, NumberDataPoint)
        and (point.attributes or {}).get("memctx.namespace") == namespace
    }
