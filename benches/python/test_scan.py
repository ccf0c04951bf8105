"""Reading a conversation again, as every turn does, against what hosts do with it anyway."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from benchmark import Entry

from memctx._core import MessageReader

if TYPE_CHECKING:
    from benchmark import Benchmark
    from corpus import Corpus

CHARACTERS = 1500


def conversation(corpus: Corpus, count: int) -> list[dict[str, Any]]:
    """Return questions, calls, results and answers in turn, each of about 500 tokens."""
    texts = iter(stretched(corpus.texts))
    messages: list[dict[str, Any]] = []
    while len(messages) < count:
        key = f"toolu_{len(messages):024}"
        asked = {"path": f"src/{key}.py", "lines": [1, 200], "why": next(texts)[:100]}
        call = {"type": "tool_use", "id": key, "name": "read_file", "input": asked}
        result = {"type": "tool_result", "tool_use_id": key, "content": [said(next(texts))]}
        messages += [
            {"role": "user", "content": next(texts)},
            {"role": "assistant", "content": [said(next(texts)), call]},
            {"role": "user", "content": [result]},
            {"role": "assistant", "content": [said(next(texts))]},
        ]
    return messages[:count]


def said(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def stretched(texts: list[str]) -> list[str]:
    """Return the texts of a corpus, joined until each is long enough."""
    long: list[str] = []
    held = ""
    for text in texts:
        held += text + "\n"
        if len(held) >= CHARACTERS:
            long.append(held[:CHARACTERS])
            held = ""
    return long


def test_scan_again(benchmark: Benchmark, corpus: Corpus) -> None:
    """Every text is known, as on any turn but the first. The peer only writes the messages."""
    for count in (1_000, 2_000):
        messages = conversation(corpus, count)
        reader = MessageReader()
        assert len(reader.read(messages)) == count
        peers = {
            "json.dumps": Entry(lambda messages=messages: json.dumps(messages), limit=1 / 2),
        }
        scan = Entry(lambda messages=messages, reader=reader: reader.read(messages))
        benchmark(f"scanning {count} messages again", scan, peers)
