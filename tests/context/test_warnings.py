"""Warnings and errors of a report: no window, a request over the limit, secrets in the query."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

import pytest

import memctx

if TYPE_CHECKING:
    from pathlib import Path

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
PROSE = "the db password is k3jf9slw-Qp0"
LINE = "the build went on, and its log says what it always says, line by line. "


def opened(path: Path, **settings: Any) -> memctx.Memory:
    return memctx.open(path, session_id="s1", **settings)


def test_a_missing_window_is_reported_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    asked = [{"role": "user", "content": "Which port?"}]
    with caplog.at_level(logging.WARNING), opened(tmp_path) as memory:
        reports = [memory.prepare(asked).report for _ in range(3)]
    assert ["context_window" in str(report.warnings) for report in reports] == [True, False, False]
    assert sum("context_window" in record.message for record in caplog.records) == 1
    assert "warning  context_window" in str(reports[0])
    assert json.loads(reports[0].to_json())["warnings"] == list(reports[0].warnings)


@pytest.mark.parametrize(
    "settings", [{"context_window": 8_000}, {"working_budget": 8_000}], ids=str
)
def test_a_window_or_a_budget_is_no_reason_to_warn(
    settings: dict[str, int], tmp_path: Path
) -> None:
    with opened(tmp_path, **settings) as memory:
        report = memory.prepare([{"role": "user", "content": "Which port?"}]).report
    assert report.warnings == ()


@pytest.mark.parametrize("count", [1, 40])
def test_a_request_that_is_too_long_is_an_error_with_numbers(count: int, tmp_path: Path) -> None:
    """One message that no window takes; alone, and behind others that do leave."""
    chatter = [
        {"role": "assistant" if number % 2 else "user", "content": LINE * 5}
        for number in range(count - 1)
    ]
    messages = [*chatter, {"role": "user", "content": LINE * 2_000}]
    with opened(tmp_path, context_window=16_000) as memory:
        turn = memory.prepare(messages, format="openai")
    report = turn.report
    assert turn.messages[-1] is messages[-1]
    assert report.is_over_limit
    assert report.degraded
    (error,) = report.errors
    for number in (report.tokens.after, report.tokens.limit, 16_000):
        assert f"{number:,}" in error
    assert report.tokens.after > 16_000
    assert "error    over the limit" in str(report)
    assert json.loads(report.to_json())["is_over_limit"] is True


def test_the_excess_of_the_providers_count_is_reported(tmp_path: Path) -> None:
    """A system prompt that leaves no room for the messages."""
    asked = [{"role": "user", "content": LINE}]
    with opened(tmp_path, context_window=16_000) as memory:
        turn = memory.prepare(asked)
        assert not turn.report.is_over_limit
        memory.observe(turn.report.tokens.after + 15_000, turn=turn)
        report = memory.prepare(asked).report
    assert report.is_over_limit
    assert "15,000" in report.errors[0]


def test_a_trim_that_helps_is_no_error(tmp_path: Path) -> None:
    messages = [
        {"role": "assistant" if number % 2 else "user", "content": LINE * 5}
        for number in range(301)
    ]
    with opened(tmp_path, context_window=16_000) as memory:
        report = memory.prepare(messages).report
    assert report.trimmed
    assert (report.errors, report.is_over_limit, report.degraded) == ((), False, ())


def told(report: memctx.Report) -> str:
    """Return every printed form of a report."""
    return "\n".join([report.query, str(report), report.to_json(), repr(report)])


@pytest.mark.parametrize(
    "text", [f"Use {TOKEN} to push", f"Remember: {PROSE}"], ids=["token", "prose"]
)
def test_secrets_of_the_question_are_masked_in_reports(text: str, tmp_path: Path) -> None:
    messages = [{"role": "user", "content": text}]
    with opened(tmp_path, context_window=8_000) as memory:
        turn = memory.prepare(messages)
        assert "[REDACTED" in turn.report.query
        assert TOKEN not in told(turn.report)
        assert "k3jf9slw" not in told(turn.report)
        assert turn.messages == messages, "the model gets what the person said"


def test_the_configured_redactor_masks_reports(tmp_path: Path) -> None:
    text = f"ticket ACME-123456 of anna@example.com has {TOKEN} in it"
    masked = {"privacy": {"patterns": {"ticket": "ACME-[0-9]{6}"}, "pii": True}}
    asked = [{"role": "user", "content": text}]
    with opened(tmp_path / "masked", context_window=8_000, **masked) as memory:
        query = memory.prepare(asked).report.query
    assert "ACME-123456" not in query
    assert "anna@example.com" not in query
    with opened(tmp_path / "off", context_window=8_000, redaction="off") as memory:
        assert memory.prepare(asked).report.query == text


@pytest.mark.parametrize("before", [0, 480, 495, 505])
def test_a_long_query_is_cut_and_no_part_of_a_secret_shows(before: int, tmp_path: Path) -> None:
    text = "x " * (before // 2) + TOKEN + " and " + "so on, " * 20_000
    with opened(tmp_path, context_window=200_000) as memory:
        report = memory.prepare([{"role": "user", "content": text}]).report
    assert len(report.query) <= 500
    assert TOKEN[:12] not in told(report)


def test_no_part_of_a_secret_shows_behind_many_that_are_masked(tmp_path: Path) -> None:
    """Masks are shorter than what they stand for, so that more of a long text is shown than its first characters."""
    token = "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0" * 14 + "." + "dBjftJeZ4CVP" * 4
    text = " ".join([token] * 200)
    with opened(tmp_path, context_window=200_000) as memory:
        report = memory.prepare([{"role": "user", "content": text}]).report
    assert "[REDACTED" in report.query
    assert "eyJ" not in told(report)


def test_errors_and_logs_of_a_turn_are_masked_and_bounded(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """An error may quote the conversation, such as the exception of the host's own estimator."""

    def count(text: str) -> int:
        raise RuntimeError(f"cannot count {text}" * 50)

    asked = [{"role": "user", "content": f"Use {TOKEN}"}]
    with (
        caplog.at_level(logging.DEBUG),
        opened(tmp_path, context_window=8_000, trim={"estimator": count}) as memory,
    ):
        turn = memory.prepare(asked)
    assert turn.messages == asked
    (error,) = turn.report.errors
    assert error.startswith("RuntimeError: cannot count")
    assert len(error) <= 500
    assert TOKEN not in told(turn.report)
    assert TOKEN not in caplog.text
    assert "test_warnings.py" in caplog.text, "it says where"
