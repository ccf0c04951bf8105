"""OpenClaw compatibility: `knowledge.jsonl` as the memory-context plugin writes and reads it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from memctx.facts import FACT_TYPES

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Opener

# An add, one with context, an update, a supersession and a deletion, byte for byte as JSON.stringify writes them.
WRITTEN = """\
{"id":"5a1c","type":"decision","content":"Use Redis for caching","timestamp":1770000001000}
{"id":"6b2d","type":"config","content":"port 3000","context":"dev set-up","timestamp":1770000002000}
{"id":"6b2d","type":"config","content":"port 3000 \\"TLS\\"\\n端口","context":"dev set-up","timestamp":1770000003000}
{"id":"7c3e","type":"decision","content":"Use Valkey for caching","timestamp":1770000004000}
{"id":"5a1c","type":"decision","content":"Use Redis for caching","timestamp":1770000001000,"supersededBy":"7c3e"}
{"id":"8d4f","type":"issue","content":"a mistake","timestamp":1770000005000}
{"id":"8d4f","type":"issue","content":"a mistake","timestamp":1770000005000,"_deleted":true}
"""


def load_as_openclaw(text: str) -> dict[str, dict[str, Any]]:
    """Return the facts that OpenClaw loads: the last line of each id, without invalid and deleted ones."""
    facts: dict[str, dict[str, Any]] = {}
    for line in text.splitlines():
        try:
            fact = json.loads(line)
        except ValueError:
            continue
        if not (fact.get("id") and fact.get("content") and fact.get("type")):
            continue
        if fact.get("_deleted"):
            facts.pop(fact["id"], None)
        else:
            facts[fact["id"]] = fact
    return facts


@pytest.fixture
def log(folder: Path) -> Path:
    """Return a log that OpenClaw wrote."""
    folder.mkdir(mode=0o700)
    log = folder / "knowledge.jsonl"
    log.write_text(WRITTEN, encoding="utf-8")
    return log


@pytest.mark.usefixtures("log")
def test_facts_written_by_openclaw_are_read(opened: Opener) -> None:
    store = opened(cross_session=True)
    assert [(fact.id, fact.revision) for fact in store.facts()] == [("7c3e", 0), ("6b2d", 1)]
    port = store.get("6b2d")
    assert port is not None
    assert (port.content, port.context) == ('port 3000 "TLS"\n端口', "dev set-up")
    assert (port.timestamp, port.session_id, port.sources) == (1770000003000.0, None, ())
    assert [fact.id for fact in store.history("7c3e")] == ["5a1c", "5a1c", "7c3e"]
    assert (store.get("8d4f"), len(store.history("8d4f"))) == (None, 2)
    assert store.health()["ok"]
    assert opened().facts() == [], "they belong to no session"


def test_facts_written_by_memctx_are_readable_by_openclaw(opened: Opener, log: Path) -> None:
    store = opened(cross_session=True)
    store.update("6b2d", "port 8443")
    store.supersede("7c3e", "decision", "Use Memcached for caching", new_id="9e5a")
    store.forget("6b2d")
    store.add("architecture", "Gateway before core 网关", context="talk", sources=["seg-1"])
    text = log.read_text(encoding="utf-8")
    assert text.startswith(WRITTEN), "nothing that was there changes"
    theirs = load_as_openclaw(text)
    active = {id_ for id_, fact in theirs.items() if not fact.get("supersededBy")}
    assert active == {fact.id for fact in store.facts()}
    assert theirs["7c3e"]["supersededBy"] == "9e5a"
    assert theirs["7c3e"]["timestamp"] == 1770000004000, "as OpenClaw leaves it"
    added = text.splitlines()[-1]
    assert list(json.loads(added)) == [
        "id",
        "type",
        "content",
        "context",
        "timestamp",
        "sessionId",
        "sources",
        "crc",
    ]
    assert '"content":"Gateway before core 网关"' in added, (
        "not escaped, as JSON.stringify leaves it"
    )


@pytest.mark.parametrize("type", FACT_TYPES)
def test_facts_of_every_type_are_readable_by_openclaw(opened: Opener, log: Path, type: str) -> None:
    """The plugin checks that there is a type, not which; two of ours are none of its six."""
    store = opened(cross_session=True)
    fact = store.add(type, "Answers are short")
    theirs = load_as_openclaw(log.read_text(encoding="utf-8"))
    assert (theirs[fact.id]["type"], theirs[fact.id]["content"]) == (type, "Answers are short")
    (found,) = store.search("short answers", types=[type])
    assert found.fact == fact
    assert opened(cross_session=True).get(fact.id) == fact


def test_invalid_lines_are_skipped_and_reported(opened: Opener, log: Path) -> None:
    with log.open("ab") as file:
        file.write(
            b'{"id":"","type":"config","content":"x"}\n[]\nnot json\n\xff\xfe\n\n{"id":"z"}\n'
        )
        file.write(b'{"id":"ok","type":"odd","content":"loose","timestamp":"x","context":5}\r\n')
    store = opened(cross_session=True)
    assert {fact.id for fact in store.facts()} == {"6b2d", "7c3e", "ok"}
    health = store.health()
    assert (health["ok"], health["skipped_lines"]) == (False, 5)
    assert [line["line"] for line in health["skipped"]] == [8, 9, 10, 11, 13]
    store.add("config", "after that")
    assert len(opened(cross_session=True)) == 4


def test_a_flipped_bit_fails_the_checksum(opened: Opener, folder: Path) -> None:
    store = opened()
    store.add("config", "port 8443")
    store.add("config", "port 8444")
    log = folder / "knowledge.jsonl"
    log.write_bytes(log.read_bytes().replace(b"port 8443", b"port 8442"))
    reopened = opened()
    assert [fact.content for fact in reopened.facts()] == ["port 8444"]
    assert reopened.health()["skipped"][0]["fault"] == "the checksum does not hold"


@pytest.mark.parametrize("cut", [1, 2, 18, 19, 40, 90])
def test_a_torn_tail_is_repaired_by_the_next_append(opened: Opener, folder: Path, cut: int) -> None:
    """Whatever a crash left of the last line, the next fact is whole and nothing before is touched."""
    store = opened()
    store.add("config", "first")
    store.add("config", "second")
    log = folder / "knowledge.jsonl"
    torn = log.read_bytes()[:-cut]
    log.write_bytes(torn)
    store = opened()
    store.add("config", "third")
    # Only its line feed was lost: then the line is whole.
    wanted = {"first", "second", "third"} if cut == 1 else {"first", "third"}
    assert {fact.content for fact in store.facts()} == wanted
    assert {fact.content for fact in opened().facts()} == wanted
    assert log.read_bytes().startswith(torn)
    assert store.health()["repaired"] == 1
