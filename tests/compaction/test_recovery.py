"""Recovery from context overflow, with the real SDK against a local server."""

from __future__ import annotations

import asyncio
import json
import re
from typing import TYPE_CHECKING, Any

import anthropic
import pytest

import memctx
from compaction.summary.models import OUTAGE, Scripted
from compaction.summary.server import BUSY, OVERFLOW, WRONG_KEY, Raw, Refused, Server, serving
from memctx import ContextOverflowError
from memctx.compaction import run_with_recovery, run_with_recovery_sync

from .talks import opened, talk

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from memctx.compaction import Recovered

TOO_LARGE = Refused(413, "request_too_large", "Request exceeds the maximum size")
OTHER = Refused(400, "invalid_request_error", "messages: roles must alternate")


def answer() -> Raw:
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": "done"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 2},
    }
    return Raw(json.dumps(message).encode(), "application/json")


def limited(most: int, error: Refused = OVERFLOW) -> Callable[[dict[str, Any]], Raw | Refused]:
    """Return a model with a window of so many messages."""
    return lambda request: error if len(request["messages"]) > most else answer()


def calling(server: Server) -> Callable[[list[Any]], str]:
    http = anthropic.DefaultHttpxClient(verify=False)  # certificates take longer than all else
    client = anthropic.Anthropic(api_key="k", base_url=server.url, max_retries=0, http_client=http)

    def call(messages: list[Any]) -> str:
        made = client.messages.create(model="m", max_tokens=10, messages=messages)
        return made.content[0].text  # type: ignore[union-attr]

    return call


def acalling(server: Server) -> Callable[[list[Any]], Any]:
    async def call(messages: list[Any]) -> str:
        http = anthropic.DefaultAsyncHttpxClient(verify=False)
        async with anthropic.AsyncAnthropic(
            api_key="k", base_url=server.url, max_retries=0, http_client=http
        ) as client:
            made = await client.messages.create(model="m", max_tokens=10, messages=messages)
        return made.content[0].text  # type: ignore[union-attr]

    return call


def run(server: Server, memory: memctx.Memory, messages: list[Any], kind: str) -> Recovered[str]:
    if kind == "sync":
        return run_with_recovery_sync(calling(server), messages, memory)
    if kind == "async":
        return asyncio.run(run_with_recovery(acalling(server), messages, memory))
    found: Recovered[str]

    async def beside() -> Recovered[str]:
        return run_with_recovery_sync(calling(server), messages, memory)  # a loop is running

    found = asyncio.run(beside())
    return found


kinds = pytest.mark.parametrize("kind", ["sync", "async", "beside"])


@kinds
@pytest.mark.parametrize("error", [OVERFLOW, TOO_LARGE])
def test_an_overflow_is_compacted_and_called_again(
    tmp_path: Path, kind: str, error: Refused
) -> None:
    messages = talk()
    with serving(rule=limited(10, error)) as server, opened(tmp_path) as memory:
        found = run(server, memory, messages, kind)
        assert found.answer == "done"
        assert found.compacted is not None
        assert found.compacted.reason == "overflow"
        assert found.messages is found.compacted.messages
        assert found.messages[-1] is messages[-1]
        assert [len(request["messages"]) for request in server.requests] == [
            len(messages),
            len(found.messages),
        ]
        assert memory.counters.compaction_count == 1


@kinds
def test_messages_that_fit_are_not_compacted(tmp_path: Path, kind: str) -> None:
    messages = talk()
    with serving(rule=limited(100)) as server, opened(tmp_path) as memory:
        found = run(server, memory, messages, kind)
        assert (found.answer, found.compacted) == ("done", None)
        assert [id(each) for each in found.messages] == [id(each) for each in messages]
        assert memory.stats()["segments"] == 0


@kinds
def test_a_second_overflow_is_reported(tmp_path: Path, kind: str) -> None:
    with serving(OVERFLOW) as server, opened(tmp_path) as memory:
        with pytest.raises(ContextOverflowError, match="not even compacted from") as caught:
            run(server, memory, talk(), kind)
        assert len(server.requests) == 2, "once more and no more"
    assert isinstance(caught.value.__cause__, anthropic.BadRequestError)
    first, then, last = caught.value.tried
    assert (first, last) == ("called the model: overflow", "called the model again: overflow")
    assert re.fullmatch(r"compacted \d+ messages, [\d,]+ to [\d,]+ tokens", then)


@kinds
def test_messages_that_cannot_be_compacted_are_reported(tmp_path: Path, kind: str) -> None:
    with serving(OVERFLOW) as server, opened(tmp_path) as memory:
        with pytest.raises(ContextOverflowError, match="nothing can be compacted") as caught:
            run(server, memory, talk(turns=0), kind)
        assert len(server.requests) == 1
    assert len(caught.value.tried) == 2


@kinds
@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (BUSY, anthropic.RateLimitError),
        (WRONG_KEY, anthropic.AuthenticationError),
        (OTHER, anthropic.BadRequestError),
    ],
)
def test_other_errors_propagate_unchanged(
    tmp_path: Path, kind: str, reply: Refused, error: type[Exception]
) -> None:
    with serving(reply) as server, opened(tmp_path) as memory:
        with pytest.raises(error):
            run(server, memory, talk(), kind)
        assert len(server.requests) == 1
        assert memory.counters.compaction_count == 0


@kinds
def test_another_error_of_the_second_call_propagates(tmp_path: Path, kind: str) -> None:
    with (
        serving(OVERFLOW, WRONG_KEY) as server,
        opened(tmp_path) as memory,
        pytest.raises(anthropic.AuthenticationError),
    ):
        run(server, memory, talk(), kind)


@kinds
def test_an_outage_of_the_summarizer_does_not_matter(tmp_path: Path, kind: str) -> None:
    with (
        serving(rule=limited(10)) as server,
        opened(tmp_path, Scripted(lambda _: OUTAGE)) as memory,
    ):
        found = run(server, memory, talk(), kind)
    assert found.answer == "done"
    assert found.compacted is not None
    assert found.compacted.fallback_level == "fixed"


@kinds
def test_the_overflow_propagates_where_compaction_is_off(tmp_path: Path, kind: str) -> None:
    with (
        serving(OVERFLOW) as server,
        opened(tmp_path, compaction={"enabled": False}) as memory,
        pytest.raises(anthropic.BadRequestError),
    ):
        run(server, memory, talk(), kind)


@kinds
def test_a_failed_compaction_is_reported(tmp_path: Path, kind: str) -> None:
    with serving(OVERFLOW) as server:
        memory = opened(tmp_path)
        memory.close()
        with pytest.raises(ContextOverflowError, match="compaction failed: StoreError") as caught:
            run(server, memory, talk(), kind)
    assert isinstance(caught.value.__cause__, anthropic.BadRequestError)
