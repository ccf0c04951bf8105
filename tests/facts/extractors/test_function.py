"""`FunctionExtractor`: a user's function as an extractor."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctx import ConfigError
from memctx.errors import ExtractionError
from memctx.facts import FACT_TYPES, CandidateFact
from memctx.facts.extractors import ExtractionResult, FunctionExtractor, Request, Usage

from .cases import REQUEST
from .strategies import json_values, maybe_facts

pytestmark = pytest.mark.timing  # timeouts of a fraction of a second


def extract(function: Any, request: Request = REQUEST) -> ExtractionResult:
    return asyncio.run(FunctionExtractor(function).extract(request))


def test_a_plain_function_runs_in_a_thread() -> None:
    threads: list[threading.Thread] = []

    def function(_: Request) -> list[CandidateFact]:
        threads.append(threading.current_thread())
        return [CandidateFact("config", "Port 8443 is used")]

    (candidate,) = extract(function).candidates
    assert (candidate.content, candidate.sources) == ("Port 8443 is used", ("s1", "s2"))
    assert threads != [threading.current_thread()]


def test_an_asynchronous_function_runs_on_the_loop() -> None:
    async def function(_: Request) -> list[dict[str, object]]:
        await asyncio.sleep(0)
        assert threading.current_thread() is threading.main_thread()
        return [
            {
                "type": "issue",
                "content": " x ",
                "action": "update",
                "target": "t",
                "sources": ["s2"],
            }
        ]

    class Callable:
        async def __call__(self, request: Request) -> list[dict[str, object]]:
            return await function(request)

    def hands_on(request: Request) -> object:
        return function(request)

    for given_one in (function, Callable(), hands_on):
        (candidate,) = extract(given_one).candidates
        assert (candidate.content, candidate.action, candidate.target) == ("x", "update", "t")
        assert candidate.sources == ("s2",)


def test_an_extraction_result_keeps_its_usage_and_problems() -> None:
    candidate = CandidateFact(
        "decision", "Use SQLite", sources=("s2",), action="supersede", target="old"
    )
    given_one = ExtractionResult((candidate,), Usage(calls=2, cost=0.5), ("one was odd",))
    assert extract(lambda _: given_one) == given_one


@given(st.lists(maybe_facts | json_values, max_size=25) | json_values, st.integers(0, 15))
def test_any_return_value_gives_only_valid_candidates(returned: Any, most: int) -> None:
    request = Request(REQUEST.messages, most=most)
    if not isinstance(returned, list):
        with pytest.raises(ExtractionError, match="expected an ExtractionResult or a list"):
            extract(lambda _: returned, request)
        return
    extraction = extract(lambda _: returned, request)
    assert len(extraction.candidates) <= most
    assert all(
        candidate.type in FACT_TYPES and candidate.content.strip()
        for candidate in extraction.candidates
    )
    assert all(candidate.sources for candidate in extraction.candidates)


def test_errors_of_a_function_do_not_quote_the_conversation() -> None:
    def fails(request: Request) -> list[CandidateFact]:
        raise KeyError(request.messages[0].text)

    with pytest.raises(ExtractionError, match=r"fails raised KeyError$") as raised:
        extract(fails)
    assert isinstance(raised.value.__cause__, KeyError)
    assert raised.value.is_retryable


def test_an_extraction_error_of_a_function_is_passed_on() -> None:
    def fails(_: Request) -> list[CandidateFact]:
        raise ExtractionError("later", retry_after=5)

    with pytest.raises(ExtractionError, match="later") as raised:
        extract(fails)
    assert raised.value.retry_after == 5


def test_a_function_that_is_not_callable_is_refused() -> None:
    with pytest.raises(ConfigError, match="function must be callable, not int"):
        FunctionExtractor(5)  # type: ignore[arg-type]
