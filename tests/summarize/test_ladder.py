"""The ladder: every rung is reached by what it is for, and the last by everything."""

from __future__ import annotations

import asyncio
import copy
import threading
import time
from typing import Any

import pytest

from memctx import ConfigError, Redactor
from memctx.summarize import (
    REQUIRED_SECTIONS,
    SUMMARY_CHARS,
    AnthropicSummarizer,
    FunctionSummarizer,
    Summary,
    Usage,
    count_usage,
    summarize_with_fallback,
)
from memctx.summarize import anthropic as module

from .models import DEAD, OUTAGE, OVERFLOW, Scripted, failing, within
from .server import OVERFLOW as TOO_LONG
from .server import OVERLOADED, WRONG_KEY, Reply, Streamed, serving

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


SAID = [
    user("Move the webhook to port 8443"),
    *tool("read", "src/pay.rs", "port = 8080"),
    *tool("edit", "src/conf.toml", "permission denied", is_error=True),
    {"role": "assistant", "content": "I could not write it."},
]


def ladder(messages: list[dict[str, Any]], model: Any, **options: Any) -> Summary:
    return asyncio.run(summarize_with_fallback(messages, model, **options))


def test_the_usual_way() -> None:
    model = Scripted(lambda _: GOOD)
    summary = ladder(SAID, model)
    assert (summary.rung, summary.attempts, summary.problems) == ("full", 1, ())
    assert summary.text.startswith(GOOD)
    assert "## Pending user asks" in (model.requests[0].instructions or "")


def test_default_mode_asks_for_no_sections_and_reads_all_at_once() -> None:
    model = Scripted(lambda _: "Fine.")
    said = [user(letter, 9_000) for letter in "abcdef"]
    summary = ladder(said, model, mode="default", window=40_000)
    assert (summary.rung, model.kinds, summary.problems) == ("full", ["chunk"], ())
    assert model.requests[0].instructions is None
    assert ladder(said, model, window=40_000).rung == "full"
    assert model.kinds[1:] == ["chunk", "chunk", "merge", "merge"]


def test_default_mode_reads_in_chunks_what_does_not_fit() -> None:
    model = within(30_000)
    said = [user(letter, 9_000) for letter in "abcdefghijkl"]
    summary = ladder(said, model, mode="default", window=30_000)
    assert summary.rung == "full"
    assert len(model.requests) > 1
    assert set(model.kinds) == {"chunk"}


def test_what_is_carried_over_stands_behind_every_summary() -> None:
    for model in (Scripted(lambda _: GOOD), failing(*[OUTAGE] * 99)):
        text = ladder(SAID, model).text
        assert "## Tool Failures\n- " in text
        assert "permission denied" in text
        assert "<read-files>\nsrc/pay.rs\n</read-files>" in text
        assert "<latest-ask>\nMove the webhook to port 8443\n</latest-ask>" in text


def test_a_result_costs_what_is_shown_of_it() -> None:
    """A hundred results of 30,000 characters, of which 2,000 each are read."""
    said = [user("Read all of it")]
    for number in range(100):
        said += tool("read", f"src/m{number}.py", "x" * 30_000)
    model = Scripted(lambda _: GOOD)
    assert ladder(said, model, quality_retries=0).attempts == 2
    assert model.kinds == ["chunk", "chunk"]
    assert not ladder([user("a"), *tool("read", "a", "x" * 900_000)], model).text.count("omitted")


def test_without_oversized() -> None:
    said = [user("a"), user("b", 60_000), user("c")]
    summary = ladder(said, within(20_000), window=20_000, mode="default")
    assert summary.rung == "without-oversized"
    assert "[Large user (~20K tokens) omitted from summary]" in summary.text
    assert summary.problems == ("full: too long",)


def test_smaller_chunks() -> None:
    """The window is smaller than the host believes."""
    said = [user(letter, 9_000) for letter in "abcdefgh"]
    model = within(7_000)
    summary = ladder(said, model, window=40_000, mode="default")
    assert summary.rung == "smaller-chunks"
    assert all(letter * 9_000 in str(model.requests) for letter in "abcdefgh")


def test_smaller_chunks_are_smaller_even_where_all_seems_to_fit() -> None:
    said = [user(letter, 9_000) for letter in "abcdefgh"]
    model = within(34_000)
    summary = ladder(said, model, window=200_000, mode="default")
    assert (summary.rung, len(model.requests)) == ("smaller-chunks", 4)


def test_simple() -> None:
    model = Scripted(lambda request: "Plain." if request.kind == "simple" else OUTAGE)
    summary = ladder(SAID, model, previous_summary="Before.")
    assert summary.rung == "simple"
    assert summary.text.startswith("Plain.")
    assert model.requests[-1].previous_summary == "Before."
    assert model.requests[-1].instructions is None


@pytest.mark.parametrize("mode", ["default", "safeguard"])
def test_partial(mode: Any) -> None:
    """What was finished is used, with the previous summary, and says how far it goes."""

    def rule(request: Any) -> Any:
        return "About a." if "aaa" in request.conversation_text[:20] else OUTAGE

    said = [user(letter, 6_000) for letter in "abcd"]
    model = Scripted(rule)
    model.rule = lambda request: OUTAGE if request.kind == "simple" else rule(request)
    summary = ladder(said, model, window=8_000, mode=mode, previous_summary="Before.")
    assert summary.rung == "partial"
    assert "About a." in summary.text
    assert "[Partial summary of the first 1 of 4 messages;" in summary.text
    assert ("Before." in summary.text) == (mode == "safeguard")  # else it went into the model
    assert "nobody there" in summary.text


def test_parts_that_cannot_be_merged_are_kept_side_by_side() -> None:
    def rule(request: Any) -> Any:
        return f"About {request.conversation_text[8]}." if request.kind == "chunk" else OUTAGE

    said = [user(letter, 2_400) for letter in "abcd"]
    summary = ladder(said, Scripted(rule), window=8_000)
    assert summary.rung == "partial"
    assert "About b.\n\nAbout d.\n\n[Summaries of the parts" in summary.text


def test_fixed() -> None:
    summary = ladder(SAID, failing(*[OUTAGE] * 99), previous_summary="Before.")
    assert summary.rung == "fixed"
    assert summary.text.startswith(
        "Before.\n\n[Summary unavailable (nobody there). 6 messages (1 user, 3 assistant"
    )
    assert not summary.is_by_model


def test_a_dead_end_is_not_walked_twice() -> None:
    model = failing(*[DEAD] * 99)
    assert ladder(SAID, model).rung == "fixed"
    assert len(model.requests) == 1


def test_a_model_that_never_answers_is_left_in_time() -> None:
    async def forever(_: object) -> str:
        await asyncio.sleep(3_600)
        return "late"

    summary = ladder(SAID, FunctionSummarizer(forever), time_limit=0.2)
    assert summary.rung == "fixed"
    assert summary.attempts == 1
    assert "there was no time left" in summary.problems[0]


@pytest.mark.parametrize(
    "error", [RuntimeError("bug"), OSError("gone"), ValueError(), TimeoutError()]
)
def test_whatever_a_summarizer_raises_the_ladder_ends(error: Exception) -> None:
    assert ladder(SAID, failing(*[error] * 99)).rung == "fixed"


def test_a_function_that_hangs_holds_nobody_up() -> None:
    hanging = threading.Event()
    started = time.perf_counter()

    def hang(_: object) -> str:
        hanging.wait()
        return "late"

    try:
        summary = ladder(SAID, FunctionSummarizer(hang), time_limit=0.2)
    finally:
        hanging.set()
    assert summary.rung == "fixed"
    assert time.perf_counter() - started < 5


def test_cancelling_is_not_a_failure() -> None:
    with pytest.raises(asyncio.CancelledError):
        ladder(SAID, failing(asyncio.CancelledError()))


def test_messages_stay_as_they_are() -> None:
    said = copy.deepcopy(SAID)
    ladder(said, failing(*[OUTAGE] * 99))
    assert said == SAID


def test_a_poor_summary_is_asked_for_once_more_with_what_it_lacks() -> None:
    answers = ["Nothing happened.", GOOD]
    model = Scripted(lambda _: answers.pop(0))
    summary = ladder(SAID, model)
    assert (summary.text.startswith(GOOD), summary.problems, summary.attempts) == (True, (), 2)
    told = model.requests[1].instructions or ""
    assert "it lacked the headings Decisions, Open TODOs" in told
    assert "identifiers that the last note in the record lists" in told
    assert "did not mention the last thing the person asked for" in told
    note = "[Host note]: identifiers that were used: src/conf.toml src/pay.rs"
    assert model.requests[1].conversation_text.endswith(note)


def test_the_better_of_two_poor_summaries_is_used() -> None:
    answers = ["## Decisions\nport 8443, webhook", "Nothing happened."]
    summary = ladder(SAID, Scripted(lambda _: answers.pop(0)))
    assert summary.text.startswith("## Decisions\n")
    assert summary.rung == "full"
    assert summary.problems[0].startswith("these sections are missing: Open TODOs")


def test_only_the_last_call_is_repeated_for_quality() -> None:
    said = [user(letter, 2_400) for letter in "abcd"]
    model = Scripted(lambda request: f"<{request.kind}>")
    ladder(said, model, window=8_000)
    assert model.kinds == ["chunk", "chunk", "chunk", "chunk", "merge", "merge"]
    assert ladder(said, Scripted(), window=8_000, quality_retries=0).attempts == 5


def test_a_second_version_that_fails_leaves_the_first() -> None:
    model = Scripted()
    model.rule = lambda _: "First." if len(model.requests) == 1 else OUTAGE
    summary = ladder(SAID, model)
    assert (summary.text.startswith("First."), summary.rung) == (True, "full")
    assert "second version: nobody there" in summary.problems


def test_a_split_turn_is_summarised_apart() -> None:
    model = Scripted(lambda request: "It began." if request.kind == "prefix" else GOOD)
    summary = ladder(SAID, model, prefix=[user("Now the tests"), *tool("read", "t.py", "ok")])
    assert "**Turn Context (split turn):**\n\nIt began." in summary.text
    assert "<latest-ask>\nNow the tests\n" in summary.text
    assert model.kinds == ["chunk", "prefix"]


def test_a_split_turn_that_cannot_be_summarised_says_so() -> None:
    model = Scripted(lambda request: DEAD if request.kind == "prefix" else GOOD)
    summary = ladder(SAID, model, prefix=[user("Now the tests")])
    assert summary.rung == "full"
    assert "(split turn):**\n\n[Summary unavailable (wrong key). 1 messages" in summary.text
    assert summary.problems == ("turn context (fixed): full: wrong key",)


def test_a_previous_summary_hands_on_its_files_and_nothing_else_of_its_suffix() -> None:
    first = ladder(SAID, failing(*[DEAD] * 9)).text
    model = Scripted(lambda _: GOOD)
    said = [user("Go on"), *tool("edit", "src/b.rs", "ok")]
    second = ladder(said, model, previous_summary=first)
    assert "<modified-files>\nsrc/b.rs\n</modified-files>" in second.text
    assert "<read-files>\nsrc/pay.rs\n</read-files>" in second.text
    said = [user("Go on"), *tool("edit", "src/pay.rs", "ok")]
    second = ladder(said, model, previous_summary=second.text)
    assert "<modified-files>\nsrc/b.rs\nsrc/pay.rs\n</modified-files>" in second.text
    assert "<read-files>" not in second.text
    assert "permission denied" not in second.text
    given = model.requests[0].previous_summary or ""
    assert "Summary unavailable" in given
    assert "files>" not in given
    assert "latest-ask" not in given


def test_nothing_to_summarise_is_no_call() -> None:
    model = Scripted()
    assert ladder([], model) == Summary("No prior history.", "full")
    assert ladder([], model, previous_summary="Before.").text == "Before."
    assert model.requests == []


def test_secrets_reach_neither_the_model_nor_the_summary() -> None:
    said = [
        user("the db password is k3jf9slw-Qp0, use it"),
        *tool("bash", "x", "password is k3jf9slw-Qp0", is_error=True),
    ]
    model = Scripted(lambda request: request.conversation_text)
    summary = ladder(said, model, redactor=Redactor())
    assert "k3jf9slw" not in summary.text + str(model.requests)
    assert "[REDACTED:password]" in summary.text


def test_instructions_are_passed_on_and_cut() -> None:
    model = Scripted(lambda _: GOOD)
    ladder(SAID, model, instructions="Focus on decisions " + "x" * 2_000, mode="default")
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


def test_progress_is_shown_and_its_faults_are_not() -> None:
    heard: list[str] = []
    ladder(SAID, Scripted(lambda _: GOOD), on_text=heard.append)
    assert heard == [GOOD]

    def broken(_: str) -> None:
        raise ValueError

    assert ladder(SAID, Scripted(lambda _: GOOD), on_text=broken).rung == "full"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mode": "best"}, "mode must be 'default' or 'safeguard', not 'best'"),
        ({"quality_retries": 4}, "quality_retries must be 0 to 3, not 4"),
        ({"time_limit": 0}, "time_limit must be a number of seconds above 0, not 0"),
        ({"window": 0}, "window is 0; expected at least 1"),
    ],
)
def test_arguments_that_cannot_be_used(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        ladder(SAID, Scripted(), **options)


def test_a_long_ask_keeps_its_beginning_and_its_end() -> None:
    ask = f"first {'x' * 30_000} last"
    summary = ladder([user(ask)], Scripted(lambda _: GOOD * 99), mode="default")
    assert len(summary.text) <= SUMMARY_CHARS
    assert "<latest-ask>\nfirst xx" in summary.text
    assert summary.text.endswith("xx last\n</latest-ask>")


@pytest.mark.parametrize(
    ("replies", "rung"),
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
def test_the_ladder_over_the_wire(
    replies: list[Reply], rung: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE", 0.0)
    monkeypatch.setattr(module, "LONGEST_PAUSE", 0.0)
    with serving(*replies) as server:
        model = AnthropicSummarizer("m", api_key="key", base_url=server.url)
        summary = ladder(SAID, model)
        assert summary.rung == rung
        assert summary.text.strip()
        assert summary.usage.calls == len(server.requests)
    assert (summary.problems == ()) == (rung == "full")


def test_an_overflow_of_a_host_that_is_wrong_about_its_window() -> None:
    """The server counts what it reads, and takes a tenth of what it is said to."""

    def rule(request: dict[str, Any]) -> Reply:
        size = len(request["messages"][0]["content"]) // 3 + request["max_tokens"]
        return TOO_LONG if size > 20_000 else Streamed(GOOD)

    said = [user(f"{letter} src/pay.rs webhook port 8443 ", 600) for letter in "abcdefgh"]
    with serving(rule=rule) as server:
        model = AnthropicSummarizer("m", api_key="key", base_url=server.url)
        summary = ladder(said, model, window=200_000)
    assert summary.rung in {"smaller-chunks", "simple"}
    assert summary.is_by_model


def test_cancelling_mid_stream_leaves_nothing_running() -> None:
    async def cancelled(url: str) -> None:
        started = asyncio.Event()
        model = AnthropicSummarizer("m", api_key="key", base_url=url)
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


def test_overflow_alone_does_not_mean_the_end() -> None:
    assert ladder(SAID, failing(OVERFLOW, then=GOOD)).rung == "smaller-chunks"
