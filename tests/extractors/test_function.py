"""A function as an extractor."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctx import ConfigError, ExtractionError
from memctx.extractors import Extraction, FunctionExtractor, Request, Usage
from memctx.knowledge import FACT_TYPES, Draft

from .cases import REQUEST
from .strategies import json_values, maybe_facts


def extract(function: Any, request: Request = REQUEST) -> Extraction:
    return asyncio.run(FunctionExtractor(function).extract(request))


def test_a_plain_function_runs_in_a_thread() -> None:
    threads: list[threading.Thread] = []

    def function(_: Request) -> list[Draft]:
        threads.append(threading.current_thread())
        return [Draft("config", "Port 8443 is used")]

    (draft,) = extract(function).drafts
    assert (draft.content, draft.sources) == ("Port 8443 is used", ("s1", "s2"))
    assert threads != [threading.current_thread()]


def test_an_asynchronous_one_runs_on_the_loop() -> None:
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
        (draft,) = extract(given_one).drafts
        assert (draft.content, draft.action, draft.target) == ("x", "update", "t")
        assert draft.sources == ("s2",)


def test_an_extraction_keeps_its_usage_and_problems() -> None:
    draft = Draft("decision", "Use SQLite", sources=("s2",), action="supersede", target="old")
    given_one = Extraction((draft,), Usage(calls=2, cost=0.5), ("one was odd",))
    assert extract(lambda _: given_one) == given_one


@given(st.lists(maybe_facts | json_values, max_size=25) | json_values, st.integers(0, 15))
def test_whatever_it_returns_only_facts_come_of_it(returned: Any, most: int) -> None:
    request = Request(REQUEST.messages, most=most)
    if not isinstance(returned, list):
        with pytest.raises(ExtractionError, match="expected an Extraction or a list"):
            extract(lambda _: returned, request)
        return
    extraction = extract(lambda _: returned, request)
    assert len(extraction.drafts) <= most
    assert all(draft.type in FACT_TYPES and draft.content.strip() for draft in extraction.drafts)
    assert all(draft.sources for draft in extraction.drafts)


def test_what_it_raises_does_not_repeat_what_was_said() -> None:
    def fails(request: Request) -> list[Draft]:
        raise KeyError(request.messages[0].text)

    with pytest.raises(ExtractionError, match=r"fails raised KeyError$") as raised:
        extract(fails)
    assert isinstance(raised.value.__cause__, KeyError)
    assert not raised.value.is_final


def test_its_own_word_on_what_to_do_is_kept() -> None:
    def fails(_: Request) -> list[Draft]:
        raise ExtractionError("later", retry_after=5)

    with pytest.raises(ExtractionError, match="later") as raised:
        extract(fails)
    assert raised.value.retry_after == 5


def test_what_cannot_be_called_is_refused() -> None:
    with pytest.raises(ConfigError, match="function must be callable, not int"):
        FunctionExtractor(5)  # type: ignore[arg-type]
