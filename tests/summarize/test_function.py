"""Summaries by any callable."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from memctx import ConfigError, SummaryError
from memctx.summarize import FunctionSummarizer, SummaryRequest

REQUEST = SummaryRequest("[User]: Which port?")


def ask(function: Any) -> str:
    return asyncio.run(FunctionSummarizer(function).summarize(REQUEST))


def test_plain_and_asynchronous_functions_and_objects() -> None:
    async def slow(request: SummaryRequest) -> str:
        await asyncio.sleep(0)
        return request.kind

    class Model:
        async def __call__(self, request: SummaryRequest) -> str:
            return request.kind

    assert [ask(lambda request: request.kind), ask(slow), ask(Model())] == ["chunk"] * 3


def test_a_plain_function_does_not_hold_up_the_loop() -> None:
    threads: list[str] = []

    def model(_: object) -> str:
        threads.append(threading.current_thread().name)
        return "ok"

    ask(model)
    assert threads != [threading.current_thread().name]


def test_its_errors_are_ours_and_keep_their_cause() -> None:
    def model(_: object) -> str:
        raise ValueError("hunter2")

    with pytest.raises(SummaryError, match=r"failed \(ValueError\)") as caught:
        ask(model)
    assert "hunter2" not in str(caught.value)
    assert isinstance(caught.value.__cause__, ValueError)


def test_an_overflow_is_recognised() -> None:
    def model(_: object) -> str:
        raise ValueError("This model's maximum context length is 8192 tokens, you asked for 9000")

    with pytest.raises(SummaryError) as caught:
        ask(model)
    assert caught.value.is_overflow


def test_an_error_of_ours_passes_through() -> None:
    error = SummaryError("no", is_dead=True)

    def model(_: object) -> str:
        raise error

    with pytest.raises(SummaryError) as caught:
        ask(model)
    assert caught.value is error


@pytest.mark.parametrize(
    ("answer", "words"), [(None, "a NoneType"), (b"x", "a bytes"), (" ", "an empty text")]
)
def test_what_is_no_text_is_an_error(answer: Any, words: str) -> None:
    with pytest.raises(SummaryError, match=f"returned {words}"):
        ask(lambda _: answer)


def test_what_cannot_be_called() -> None:
    with pytest.raises(ConfigError, match="function must be callable, not str"):
        FunctionSummarizer("model")  # type: ignore[arg-type]
