"""Fallback levels of summaries: each is reached by the failures that it is for."""

from __future__ import annotations

import asyncio
import copy
import threading
import time
from typing import Any

import pytest

from memctx import ConfigError, Redactor
from memctx.compaction.summary import (
    REQUIRED_SECTIONS,
    SUMMARY_CHARS,
    AnthropicSummarizer,
    ClientOptions,
    FunctionSummarizer,
    Summary,
    SummaryOptions,
    Usage,
    count_usage,
    summarize_with_fallback,
)
from memctx.providers import retry

from .models import DEAD, OUTAGE, OVERFLOW, Scripted, failing, within
from .server import OVERFLOW as TOO_LONG
from .server import OVERLOADED, WRONG_KEY, Reply, Streamed, serving

pytestmark = pytest.mark.timing  # timeouts of a fraction of a second

GOOD = "\n".join(
    f"## {heading}\nwebhook 8443 src/pay.rs src/conf.toml" for heading in REQUIRED_SECTIONS
)


def user(text: str, times: int = 1) -> dict[str, Any]:
    return {"role": "user", "content": text * times}


def tool(name: str, path: str, result: str, *, is_error: bool = False) -> list[dict[str, Any]]:
    call = {"type": "tool_use", "id": f"{name}-{path}", "name": name, "input": {"path": path}}
    answer = {"type": "tool_result", "tool_use_id": call["id"], "content": result}
    return [
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [{**answer, "is_error": is_error}]},
    ]


ARGUMENTS = ("previous_summary", "prefix", "ask", "on_text")
SAID = [
    user("Move the webhook to port 8443"),
    *tool("read", "src/pay.rs", "port = 8080"),
    *tool("edit", "src/conf.toml", "permission denied", is_error=True),
    {"role": "assistant", "content": "I could not write it."},
]


def summarize(messages: list[dict[str, Any]], model: Any, **options: Any) -> Summary:
    """Summarize with options and other arguments given side by side."""
    given = {name: options.pop(name) for name in ARGUMENTS if name in options}
    return asyncio.run(summarize_with_fallback(messages, model, SummaryOptions(**options), **given))


def test_a_good_summary_has_the_full_level() -> None:
    model = Scripted(lambda _: GOOD)
    summary = summarize(SAID, model)
    assert (summary.fallback_level, summary.attempts, summary.problems) == ("full", 1, ())
    assert summary.text.startswith(GOOD)
    assert "## Pending user asks" in (model.requests[0].instructions or "")


def test_default_mode_asks_for_no_sections_and_reads_all_at_once() -> None:
    model = Scripted(lambda _: "Fine.")
    said = [user(letter, 9_000) for letter in "abcdef"]
    summary = summarize(said, model, mode="default", window=40_000)
    assert (summary.fallback_level, model.kinds, summary.problems) == ("full", ["chunk"], ())
    assert model.requests[0].instructions is None
    assert summarize(said, model, window=40_000).fallback_level == "full"
    assert model.kinds[1:] == ["chunk", "chunk", "merge", "merge"]


def test_default_mode_reads_long_histories_in_chunks() -> None:
    model = within(30_000)
    said = [user(letter, 9_000) for letter in "abcdefghijkl"]
    summary = summarize(said, model, mode="default", window=30_000)
    assert summary.fallback_level == "full"
    assert len(model.requests) > 1
    assert set(model.kinds) == {"chunk"}


def test_preserved_sections_stand_behind_every_summary() -> None:
    for model in (Scripted(lambda _: GOOD), failing(*[OUTAGE] * 99)):
        text = summarize(SAID, model).text
        assert "## Tool Failures\n- " in text
        assert "permission denied" in text
        assert "<read-files>\nsrc/pay.rs\n</read-files>" in text
        assert "<latest-ask>\nMove the webhook to port 8443\n</latest-ask>" in text


def test_a_result_costs_its_shown_part() -> None:
    """A hundred results of 30,000 characters, of which 2,000 each are read."""
    said = [user("Read all of it")]
    for number in range(100):
        said += tool("read", f"src/m{number}.py", "x" * 30_000)
    model = Scripted(lambda _: GOOD)
    assert summarize(said, model, quality_retries=0).attempts == 2
    assert model.kinds == ["chunk", "chunk"]
    assert not summarize([user("a"), *tool("read", "a", "x" * 900_000)], model).text.count(
        "omitted"
    )


def test_oversized_messages_are_left_out_first() -> None:
    said = [user("a"), user("b", 60_000), user("c")]
    summary = summarize(said, within(20_000), window=20_000, mode="default")
    assert summary.fallback_level == "without-oversized"
    assert "[Large user (~20K tokens) omitted from summary]" in summary.text
    assert summary.problems == ("full: too long",)


def test_smaller_chunks_are_tried_next() -> None:
    """The window is smaller than the host believes."""
    said = [user(letter, 9_000) for letter in "abcdefgh"]
    model = within(7_000)
    summary = summarize(said, model, window=40_000, mode="default")
    assert summary.fallback_level == "smaller-chunks"
    assert all(letter * 9_000 in str(model.requests) for letter in "abcdefgh")


def test_smaller_chunks_are_smaller_even_where_all_seems_to_fit() -> None:
    said = [user(letter, 9_000) for letter in "abcdefgh"]
    model = within(34_000)
    summary = summarize(said, model, window=200_000, mode="default")
    assert (summary.fallback_level, len(model.requests)) == ("smaller-chunks", 4)


def test_the_simple_prompt_is_tried_last() -> None:
    model = Scripted(lambda request: "Plain." if request.kind == "simple" else OUTAGE)
    summary = summarize(SAID, model, previous_summary="Before.")
    assert summary.fallback_level == "simple"
    assert summary.text.startswith("Plain.")
    assert model.requests[-1].previous_summary == "Before."
    assert model.requests[-1].instructions is None


@pytest.mark.parametrize("mode", ["default", "safeguard"])
def test_a_finished_part_is_used_with_a_note(mode: Any) -> None:
    """The finished part is used, with the previous summary, and says how far it goes."""

    def rule(request: Any) -> Any:
        return "About a." if "aaa" in request.conversation_text[:20] else OUTAGE

    said = [user(letter, 6_000) for letter in "abcd"]
    model = Scripted(rule)
    model.rule = lambda request: OUTAGE if request.kind == "simple" else rule(request)
    summary = summarize(said, model, window=8_000, mode=mode, previous_summary="Before.")
    assert summary.fallback_level == "partial"
    assert "About a." in summary.text
    assert "[Partial summary of the first 1 of 4 messages;" in summary.text
    assert ("Before." in summary.text) == (mode == "safeguard")  # else it went into the model
    assert "the service is down" in summary.text


def test_parts_that_cannot_be_merged_are_kept_side_by_side() -> None:
    def rule(request: Any) -> Any:
        return f"About {request.conversation_text[8]}." if request.kind == "chunk" else OUTAGE

    said = [user(letter, 2_400) for letter in "abcd"]
    summary = summarize(said, Scripted(rule), window=8_000)
    assert summary.fallback_level == "partial"
    assert "About b.\n\nAbout d.\n\n[Summaries of the parts" in summary.text


def test_a_fixed_text_is_the_last_level() -> None:
    summary = summarize(SAID, failing(*[OUTAGE] * 99), previous_summary="Before.")
    assert summary.fallback_level == "fixed"
    assert summary.text.startswith(
        "Before.\n\n[Summary unavailable (the service is down). 6 messages (1 user, 3 assistant"
    )
    assert not summary.is_by_model


def test_a_permanent_failure_ends_the_calls() -> None:
    model = failing(*[DEAD] * 99)
    assert summarize(SAID, model).fallback_level == "fixed"
    assert len(model.requests) == 1


def test_the_time_limit_ends_a_model_that_never_answers() -> None:
    async def forever(_: object) -> str:
        await asyncio.sleep(3_600)
        return "late"

    summary = summarize(SAID, FunctionSummarizer(forever), time_limit=0.2)
    assert summary.fallback_level == "fixed"
    assert summary.attempts == 1
    assert "there was no time left" in summary.problems[0]


@pytest.mark.parametrize(
    "error", [RuntimeError("bug"), OSError("gone"), ValueError(), TimeoutError()]
)
def test_any_exception_of_a_summarizer_ends_in_a_summary(error: Exception) -> None:
    assert summarize(SAID, failing(*[error] * 99)).fallback_level == "fixed"


def test_a_function_that_hangs_does_not_block() -> None:
    hanging = threading.Event()
    started = time.perf_counter()

    def hang(_: object) -> str:
        hanging.wait()
        return "late"

    try:
        summary = summarize(SAID, FunctionSummarizer(hang), time_limit=0.2)
    finally:
        hanging.set()
    assert summary.fallback_level == "fixed"
    assert time.perf_counter() - started < 5


def test_cancellation_of_a_summary_propagates() -> None:
    with pytest.raises(asyncio.CancelledError):
        summarize(SAID, failing(asyncio.CancelledError()))


def test_summarized_messages_are_not_changed() -> None:
    said = copy.deepcopy(SAID)
    summarize(said, failing(*[OUTAGE] * 99))
    assert said == SAID


def test_a_poor_summary_is_retried_with_its_faults() -> None:
    answers = ["Nothing happened.", GOOD]
    model = Scripted(lambda _: answers.pop(0))
    summary = summarize(SAID, model)
    assert (summary.text.startswith(GOOD), summary.problems, summary.attempts) == (True, (), 2)
    instructions = model.requests[1].instructions or ""
    assert "it lacked the headings Decisions, Open TODOs" in instructions
    assert "identifiers that the last note in the record lists" in instructions
    assert "did not mention the last thing the person asked for" in instructions
    note = "[Host note]: identifiers that were used: src/conf.toml src/pay.rs"
    assert model.requests[1].conversation_text.endswith(note)


def test_the_better_of_two_poor_summaries_is_used() -> None:
    answers = ["## Decisions\nport 8443, webhook", "Nothing happened."]
    summary = summarize(SAID, Scripted(lambda _: answers.pop(0)))
    assert summary.text.startswith("## Decisions\n")
    assert summary.fallback_level == "full"
    assert summary.problems[0].startswith("these sections are missing: Open TODOs")


def test_only_the_last_call_is_repeated_for_quality() -> None:
    said = [user(letter, 2_400) for letter in "abcd"]
    model = Scripted(lambda request: f"<{request.kind}>")
    summarize(said, model, window=8_000)
    assert model.kinds == ["chunk", "chunk", "chunk", "chunk", "merge", "merge"]
    assert summarize(said, Scripted(), window=8_000, quality_retries=0).attempts == 5


def test_a_failed_retry_keeps_the_first_summary() -> None:
    model = Scripted()
    model.rule = lambda _: "First." if len(model.requests) == 1 else OUTAGE
    summary = summarize(SAID, model)
    assert (summary.text.startswith("First."), summary.fallback_level) == (True, "full")
    assert "second version: the service is down" in summary.problems


def test_a_split_turn_is_summarized_separately() -> None:
    model = Scripted(lambda request: "It began." if request.kind == "prefix" else GOOD)
    summary = summarize(SAID, model, prefix=[user("Now the tests"), *tool("read", "t.py", "ok")])
    assert "**Turn Context (split turn):**\n\nIt began." in summary.text
    assert "<latest-ask>\nNow the tests\n" in summary.text
    assert model.kinds == ["chunk", "prefix"]


def test_a_split_turn_that_cannot_be_summarized_says_so() -> None:
    model = Scripted(lambda request: DEAD if request.kind == "prefix" else GOOD)
    summary = summarize(SAID, model, prefix=[user("Now the tests")])
    assert summary.fallback_level == "full"
    assert "(split turn):**\n\n[Summary unavailable (wrong key). 1 messages" in summary.text
    assert summary.problems == ("turn context (fixed): full: wrong key",)


def test_a_previous_summary_keeps_only_the_files_of_its_sections() -> None:
    first = summarize(SAID, failing(*[DEAD] * 9)).text
    model = Scripted(lambda _: GOOD)
    said = [user("Go on"), *tool("edit", "src/b.rs", "ok")]
    second = summarize(said, model, previous_summary=first)
    assert "<modified-files>\nsrc/b.rs\n</modified-files>" in second.text
    assert "<read-files>\nsrc/pay.rs\n</read-files>" in second.text
    said = [user("Go on"), *tool("edit", "src/pay.rs", "ok")]
    second = summarize(said, model, previous_summary=second.text)
    assert "<modified-files>\nsrc/b.rs\nsrc/pay.rs\n</modified-files>" in second.text
    assert "<read-files>" not in second.text
    assert "permission denied" not in second.text
    given = model.requests[0].previous_summary or ""
    assert "Summary unavailable" in given
    assert "files>" not in given
    assert "latest-ask" not in given


def test_nothing_to_summarize_is_no_call() -> None:
    model = Scripted()
    assert summarize([], model) == Summary("No prior history.", "full")
    assert summarize([], model, previous_summary="Before.").text == "Before."
    assert model.requests == []


def test_secrets_reach_neither_the_model_nor_the_summary() -> None:
    said = [
        user("the db password is k3jf9slw-Qp0, use it"),
        *tool("bash", "x", "password is k3jf9slw-Qp0", is_error=True),
    ]
    model = Scripted(lambda request: request.conversation_text)
    summary = summarize(said, model, redactor=Redactor())
    assert "k3jf9slw" not in summary.text + str(model.requests)
    assert "[REDACTED:password]" in summary.text


@pytest.mark.parametrize("mode", ["default", "safeguard"])
def test_secrets_of_instructions_and_earlier_summaries_do_not_reach_the_model(mode: str) -> None:
    model = Scripted(lambda _: GOOD)
    summarize(
        SAID,
        model,
        mode=mode,
        redactor=Redactor(),
        instructions="Log in with the db password k3jf9slw-Qp0 and keep the ports",
        previous_summary="So far: the db password is k3jf9slw-Qp0, the port is 8443.",
    )
    assert model.requests
    for request in model.requests:
        assert "k3jf9slw" not in str(request)
        assert "[REDACTED:password]" in (request.instructions or "")
        assert "8443" in (request.previous_summary or "8443")


def test_a_secret_that_the_cut_of_instructions_would_split_is_masked_whole() -> None:
    model = Scripted(lambda _: GOOD)
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    summarize(SAID, model, instructions="y " * 390 + token, mode="default", redactor=Redactor())
    assert "ghp_" not in str(model.requests)


def test_instructions_are_passed_on_and_cut() -> None:
    model = Scripted(lambda _: GOOD)
    summarize(SAID, model, instructions="Focus on decisions " + "x" * 2_000, mode="default")
    assert model.requests[0].instructions == ("Focus on decisions " + "x" * 2_000)[:800]


def test_usage_counts_every_call_of_this_summary_alone() -> None:
    def model(_: object) -> str:
        count_usage(Usage(input_tokens=10, output_tokens=2))
        return "poor"

    async def both() -> list[Summary]:
        return await asyncio.gather(
            *(summarize_with_fallback(SAID, FunctionSummarizer(model)) for _ in range(3))
        )

    for summary in asyncio.run(both()):
        assert summary.usage == Usage(calls=2, input_tokens=20, output_tokens=4)


def test_exceptions_of_on_text_are_ignored() -> None:
    heard: list[str] = []
    summarize(SAID, Scripted(lambda _: GOOD), on_text=heard.append)
    assert heard == [GOOD]

    def broken(_: str) -> None:
        raise ValueError

    assert summarize(SAID, Scripted(lambda _: GOOD), on_text=broken).fallback_level == "full"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mode": "best"}, "mode must be 'default' or 'safeguard', not 'best'"),
        ({"quality_retries": 4}, "quality_retries must be 0 to 3, not 4"),
        ({"time_limit": 0}, "time_limit must be a number of seconds above 0, not 0"),
        ({"window": 0}, "window is 0; expected at least 1"),
    ],
)
def test_invalid_summary_options_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        summarize(SAID, Scripted(), **options)


def test_a_long_ask_keeps_its_beginning_and_its_end() -> None:
    ask = f"first {'x' * 30_000} last"
    summary = summarize([user(ask)], Scripted(lambda _: GOOD * 99), mode="default")
    assert len(summary.text) <= SUMMARY_CHARS
    assert "<latest-ask>\nfirst xx" in summary.text
    assert summary.text.endswith("xx last\n</latest-ask>")


@pytest.mark.parametrize(
    ("replies", "fallback_level"),
    [
        ([Streamed(GOOD)], "full"),
        ([OVERLOADED, OVERLOADED, Streamed(GOOD)], "full"),
        ([TOO_LONG, Streamed(GOOD)], "smaller-chunks"),
        ([OVERLOADED], "fixed"),
        ([TOO_LONG], "fixed"),
        ([WRONG_KEY], "fixed"),
        ([Streamed("")], "fixed"),
        ([Streamed(GOOD, breaks_after=2)], "fixed"),
        ([*[Streamed(GOOD, breaks_after=2)] * 3, Streamed(GOOD)], "smaller-chunks"),
        ([Streamed("I will not", "refusal")], "fixed"),
    ],
    ids=lambda value: value if isinstance(value, str) else repr(value)[:60],
)
def test_fallbacks_against_a_server(
    replies: list[Reply], fallback_level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retry, "FIRST_DELAY", 0.0)
    with serving(*replies) as server:
        model = AnthropicSummarizer("m", options=ClientOptions(api_key="key", base_url=server.url))
        summary = summarize(SAID, model)
        assert summary.fallback_level == fallback_level
        assert summary.text.strip()
        assert summary.usage.calls == len(server.requests)
    assert (summary.problems == ()) == (fallback_level == "full")


def test_fallbacks_cope_with_a_wrong_window() -> None:
    """The server's window is a tenth of the one in the options."""

    def rule(request: dict[str, Any]) -> Reply:
        size = len(request["messages"][0]["content"]) // 3 + request["max_tokens"]
        return TOO_LONG if size > 20_000 else Streamed(GOOD)

    said = [user(f"{letter} src/pay.rs webhook port 8443 ", 600) for letter in "abcdefgh"]
    with serving(rule=rule) as server:
        model = AnthropicSummarizer("m", options=ClientOptions(api_key="key", base_url=server.url))
        summary = summarize(said, model, window=200_000)
    assert summary.fallback_level in {"smaller-chunks", "simple"}
    assert summary.is_by_model


def test_cancelling_mid_stream_leaves_nothing_running() -> None:
    async def cancelled(url: str) -> None:
        started = asyncio.Event()
        model = AnthropicSummarizer("m", options=ClientOptions(api_key="key", base_url=url))
        task = asyncio.create_task(
            summarize_with_fallback(SAID, model, on_text=lambda _: started.set())
        )
        await asyncio.wait_for(started.wait(), 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with serving(Streamed("A text of some length.", hangs_after=1)) as server:
        asyncio.run(cancelled(server.url))
        assert server.gone.wait(10)
        assert len(server.requests) == 1


def test_an_overflow_leads_to_smaller_chunks() -> None:
    assert summarize(SAID, failing(OVERFLOW, then=GOOD)).fallback_level == "smaller-chunks"
