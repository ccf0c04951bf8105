"""Very long messages: extraction time is bounded, and the beginning and the end are read."""

from __future__ import annotations

import logging
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memctx
from memctx.facts.extractors import Message
from memctx.facts.extractors.rules import find_facts
from memctx.facts.extractors.split import MAX_CHARACTERS, shorten

if TYPE_CHECKING:
    from pathlib import Path

    from memctx.facts.extractors import Request

DECIDED = "We decided to use Postgres for billing."
PORT = "The port of the webhook is 8443."
FILLER = "It was read and it was fine, as far as anyone could tell.\n"


def stated(text: str) -> list[str]:
    return [content for _, content in find_facts(Message("user", text, "s1"))]


@pytest.mark.timing
def test_a_message_of_fifty_megabytes_is_read_in_seconds() -> None:
    text = f"{DECIDED}\n{FILLER * (50_000_000 // len(FILLER))}{PORT}\n"
    began = time.monotonic()
    assert stated(text) == [DECIDED.rstrip("."), PORT.rstrip(".")]
    assert time.monotonic() - began < 5


HOSTILE = {
    "words without an end": "the port for " + "a" * 280,
    "words with dots": "the port for " + "a." * 140,
    "many short words": "the port for " + "a " * 140,
    "values": "the port is " + "a-" * 140,
    "openings": "ok so " * 48,
    "attributes": "端口" * 140 + "是",
    "ticks": "端口是" + "`" * 280,
    "a decision": "use " * 70,
    "causes": "root cause of " * 20,
    "brackets": "[a" * 140,
    "bullets": "- " * 140,
    "emphasis": "*_" * 140,
    "fences": "```\n~~~\n```",
    "tags": "<a b",
    "blanks": "." + " " * 280,
}


@pytest.mark.timing
@pytest.mark.parametrize("line", HOSTILE.values(), ids=HOSTILE)
def test_hostile_sentences_are_read_in_bounded_time(line: str) -> None:
    text = f"{line}\n" * (MAX_CHARACTERS // (len(line) + 1))
    began = time.monotonic()
    list(find_facts(Message("user", text, "s1")))
    assert time.monotonic() - began < 5


@given(
    st.lists(st.sampled_from(["a\n", "bb", "```\n", "\n", "c " * 9]), max_size=60).map("".join),
    st.integers(4, 60),
)
def test_shorten_keeps_the_head_and_the_tail(text: str, most: int) -> None:
    found = shorten(text, most)
    assert len(found) <= max(most + len("\n```\n"), 0) or found == text
    if len(text) <= most:
        assert found == text
    else:
        head = next(at for at in range(len(found), -1, -1) if text.startswith(found[:at]))
        assert head > 0
        assert found[-1] == text[-1]


def test_a_code_block_cut_by_shorten_is_not_read() -> None:
    code = f"```\n{PORT}\n" + "x = 1\n" * MAX_CHARACTERS + f"{PORT}\n```\n"
    assert stated(f"{DECIDED}\n{code}") == [DECIDED.rstrip(".")]
    assert stated(f"{code}{DECIDED}\n") == [DECIDED.rstrip(".")]
    assert stated(f"{FILLER * 9}\n{code}{FILLER * 5_000}{DECIDED}\n") == [DECIDED.rstrip(".")]


def test_a_message_that_is_too_long_is_logged_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("memctx.facts.extractors.split"), "_has_warned", False)
    with caplog.at_level(logging.WARNING, "memctx.facts.extractors"):
        for _ in range(3):
            shorten("word " * MAX_CHARACTERS)
    assert [record.getMessage() for record in caplog.records] == [
        "a message of 500,000 characters is too long; facts are extracted from the first and last 50,000 of them"
    ]


def test_a_long_message_costs_few_calls_in_the_background(tmp_path: Path) -> None:
    read: list[int] = []

    async def extract(request: Request) -> list[Any]:
        read.append(sum(len(message.text) for message in request.messages))
        return []

    said = f"{DECIDED}\n{FILLER * (5_000_000 // len(FILLER))}{PORT}\n"
    with memctx.open(
        tmp_path, session_id="s1", knowledge_extraction=True, extractor=extract
    ) as memory:
        memory.archive([{"role": "user", "content": said}])
        assert memory.wait_for_facts().result(timeout=60).is_complete
    assert 1 <= len(read) <= 8
    assert sum(read) <= MAX_CHARACTERS + 10
