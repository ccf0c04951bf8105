"""A memory as people see it: representations, notebooks, logs and traces."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import memctx
from memctx.context import Recalled, Report
from memctx.testing import assistant, user

if TYPE_CHECKING:
    from pathlib import Path

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
SCRIPT = "<script>alert(1)</script>"
DECIDED = f"Decision: the payment webhook listens on port 8443. {SCRIPT}"
TALK = [
    user("Build the webhook."),
    assistant(DECIDED),
    *(
        message
        for number in range(40)
        for message in (
            user(f"Translate page {number}."),
            assistant(f"Page {number}: " + "lorem ipsum dolor " * 60),
        )
    ),
]
QUESTION = user("Which port does the payment webhook listen on?")


def recalled_turn(store: Path) -> memctx.Turn:
    with memctx.open(
        store, session_id="s1", context_window=8_000, embedding_model="hash"
    ) as memory:
        for length in range(2, len(TALK), 2):
            memory.prepare(TALK[: length + 1])
        turn = memory.prepare([*TALK, QUESTION])
    assert turn.report.recalled
    return turn


def test_recalled_items_have_their_text_and_reason(tmp_path: Path) -> None:
    report = recalled_turn(tmp_path).report
    item = next(each for each in report.recalled if each.companion_of is None)
    assert item.text == DECIDED
    assert {"port", "webhook"} <= set(item.words)
    assert item.reason.startswith(f"score {item.score:.2f}: ")
    assert "port" in item.reason
    assert item.text[:40] in str(report)
    found = json.loads(report.to_json())["recalled"]
    assert [each["reason"] for each in found] == [each.reason for each in report.recalled]


def test_a_companion_is_recalled_for_what_it_belongs_to() -> None:
    item = Recalled("b", "tool", None, 0.9, 0.9, is_cut=False, companion_of="0123456789")
    assert item.reason == "belongs to 01234567"


def test_representations_are_short(tmp_path: Path) -> None:
    turn = recalled_turn(tmp_path)
    assert len(repr(turn)) < 200
    assert len(repr(turn.report)) < 150
    with memctx.open(
        tmp_path, session_id="s1", context_window=8_000, embedding_model="hash"
    ) as memory:
        for value in (
            memory.archive(TALK),
            memory.compact_sync(TALK),
            memory,
            memory.search("port")[0],
        ):
            assert len(repr(value)) < 250, repr(value)
        assert "0 added" in str(memory.archive(TALK))


def test_a_table_lists_earlier_decisions_in_one_line(tmp_path: Path) -> None:
    report = recalled_turn(tmp_path).report
    assert len(str(report).splitlines()) < 40
    earlier = sum(len(item.indices) for item in report.trimmed if not item.is_new)
    assert earlier > 20
    assert f"{earlier}  messages of" in str(report)


def test_notebooks_show_tables_without_running_anything(tmp_path: Path) -> None:
    turn = recalled_turn(tmp_path)
    with memctx.open(tmp_path, session_id="s1", embedding_model="hash") as memory:
        hits = memory.search("which port has the webhook?")
    for page in (turn.report._repr_html_(), turn._repr_html_(), hits._repr_html_()):
        assert "<mark>port</mark>" in page
        assert SCRIPT not in page
        assert "&lt;script&gt;" in page
        assert "#" not in page.replace("#" + turn.report.recalled[0].id[:8], ""), (
            "a color of its own"
        )
    assert "nothing changed" in Report("openai")._repr_html_()


def test_memory_is_an_asynchronous_context(tmp_path: Path) -> None:
    async def run() -> memctx.Memory:
        async with memctx.open(tmp_path, session_id="s1") as memory:
            assert (await memory.aarchive([user("The port is 8443")])).added == 1
        return memory

    assert asyncio.run(run()).closed


def test_decisions_are_logged_without_secrets(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "memctx")
    recalled_turn(tmp_path)
    with memctx.open(tmp_path, session_id="s1", embedding_model="hash") as memory:
        memory.archive([user(f"Push with {TOKEN}")])
        memory.search(f"Who pushes with {TOKEN}?")
        memory.prepare([user(f"Who pushes with {TOKEN}?")])
    for words in ("trimmed", "recalled", "archived: 1 added", "search for 'Who pushes"):
        assert words in caplog.text
    assert TOKEN not in caplog.text
    assert all(name.split(".")[0] == "memctx" for name, _, _ in caplog.record_tuples)


def test_nothing_is_formatted_while_logging_is_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Report, "decisions", lambda _: pytest.fail("a report was read"))
    recalled_turn(tmp_path)


def test_operations_are_spans_where_the_process_traces(tmp_path: Path) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    with (
        trace.get_tracer("host").start_as_current_span("request") as request,
        memctx.open(tmp_path, session_id="s1", context_window=8_000) as memory,
    ):
        memory.archive([user("The webhook listens on port 8443")])
        memory.prepare([QUESTION])
        memory.search("which port?")
        memory.compact_sync([QUESTION])
    found = {span.name: span for span in exporter.get_finished_spans()}
    assert {"memctx.archive", "memctx.prepare", "memctx.search", "memctx.compact"} <= set(found)
    prepared = found["memctx.prepare"]
    assert prepared.parent is not None
    assert prepared.parent.span_id == request.get_span_context().span_id
    assert (prepared.attributes or {})["memctx.tokens.after"] == memory_tokens(prepared)
    assert "8443" not in str([dict(span.attributes or {}) for span in found.values()])


def memory_tokens(span: object) -> object:
    attributes = getattr(span, "attributes", None) or {}
    assert attributes["memctx.tokens.before"] > 0
    return attributes["memctx.tokens.before"] + attributes["memctx.tokens.recalled"]


def test_tracing_is_not_imported_for_memory(tmp_path: Path) -> None:
    program = (
        "import sys, memctx\n"
        f"with memctx.open({str(tmp_path)!r}, session_id='s') as memory:\n"
        "    memory.archive([{'role': 'user', 'content': 'The port is 8443'}]); memory.search('port')\n"
        "assert not any(name.startswith('opentelemetry') for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_a_span_that_no_one_records_costs_no_report(tmp_path: Path) -> None:
    """Libraries import OpenTelemetry for programs that trace; in others no report is built for it."""
    program = (
        "import memctx, opentelemetry.trace\n"
        "memctx.Report.span_attributes = None\n"
        f"with memctx.open({str(tmp_path)!r}, session_id='s', context_window=8_000) as memory:\n"
        "    turn = memory.prepare([{'role': 'user', 'content': 'Which port?'}])\n"
        "assert not turn.report.errors"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
