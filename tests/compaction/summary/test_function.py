"""Summarizers from functions."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from memctx import ConfigError
from memctx.compaction.summary import FunctionSummarizer, SummaryRequest
from memctx.errors import SummaryError

pytestmark = pytest.mark.timing  # timeouts of a fraction of a second

REQUEST = SummaryRequest("[User]: Which port?")


def ask(function: Any) -> str:
    return asyncio.run(FunctionSummarizer(function).summarize(REQUEST))


def test_functions_coroutines_and_objects_are_summarizers() -> None:
    async def slow(request: SummaryRequest) -> str:
        await asyncio.sleep(0)
        return request.kind

    class Model:
        async def __call__(self, request: SummaryRequest) -> str:
            return request.kind

    assert [ask(lambda request: request.kind), ask(slow), ask(Model())] == ["chunk"] * 3


def test_a_blocking_function_does_not_block_the_loop() -> None:
    threads: list[str] = []

    def model(_: object) -> str:
        threads.append(threading.current_thread().name)
        return "ok"

    ask(model)
    assert threads != [threading.current_thread().name]


def test_exceptions_of_a_function_become_summary_errors() -> None:
    def model(_: object) -> str:
        raise ValueError("hunter2")

    with pytest.raises(SummaryError, match=r"failed \(ValueError\)") as caught:
        ask(model)
    assert "hunter2" not in str(caught.value)
    assert isinstance(caught.value.__cause__, ValueError)


def test_an_overflow_of_a_function_is_recognized() -> None:
    def model(_: object) -> str:
        raise ValueError("This model's maximum context length is 8192 tokens, you asked for 9000")

    with pytest.raises(SummaryError) as caught:
        ask(model)
    assert caught.value.is_overflow


def test_a_summary_error_of_a_function_passes_through() -> None:
    error = SummaryError("no", is_permanent=True)

    def model(_: object) -> str:
        raise error

    with pytest.raises(SummaryError) as caught:
        ask(model)
    assert caught.value is error


@pytest.mark.parametrize(
    ("answer", "words"), [(None, "a NoneType"), (b"x", "a bytes"), (" ", "an empty text")]
)
def test_a_function_that_returns_no_text_is_an_error(answer: Any, words: str) -> None:
    with pytest.raises(SummaryError, match=f"returned {words}"):
        ask(lambda _: answer)


def test_a_summarizer_must_be_callable() -> None:
    with pytest.raises(ConfigError, match="function must be callable, not str"):
        FunctionSummarizer("model")  # type: ignore[arg-type]
