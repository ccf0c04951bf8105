"""`memctx.lowlevel.ingest`."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from memctx import ConfigError
from memctx.lowlevel.ingest import Entity, Topics, entities, is_noise, strip_channel_prefix

from . import golden
from .strategies import for_all, texts

if TYPE_CHECKING:
    from collections.abc import Callable

JS_SPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)


def as_written(text: str) -> list[dict[str, object]]:
    """Return the entities of a text as OpenClaw's golden files have them."""
    return [{"type": e.kind, "value": e.value, "offset": e.offset} for e in entities(text)]


TOPICS = Topics()
RULES: dict[str, Callable[[str], Any]] = {
    "entities": as_written,
    "noise": is_noise,
    "strip": strip_channel_prefix,
    "topics": TOPICS.of,
}


@pytest.mark.parametrize("rule", RULES)
def test_golden_values(rule: str) -> None:
    """Every rule gives what OpenClaw's plugin gives, the same cases that the Rust tests read."""
    cases = golden.load("ingest.json")[rule]
    assert len(cases) >= 20
    for text, expected in cases:
        assert RULES[rule](text) == expected, text


@settings(max_examples=300)
@for_all(texts)
def test_ingest_accepts_any_text(text: str) -> None:
    """Whatever a text holds, lone surrogates included, each rule gives what its type says."""
    plain = re.sub("[\ud800-\udfff]", "\ufffd", text)
    assert strip_channel_prefix(text) == plain.strip(JS_SPACE)
    assert is_noise(text) == (len(plain.strip(JS_SPACE).encode("utf-16-le")) <= 12)
    assert set(TOPICS.of(text)) <= set(TOPICS.names())
    for entity in entities(text):
        assert entity.value in plain


def test_entities_compare_hash_and_print() -> None:
    first, second = entities("src/pay.rs"), entities("😀 src/pay.rs")
    assert first == entities("src/pay.rs") != second
    assert len({*first, *entities("src/pay.rs"), *second}) == 2
    assert second[0].offset == 3
    assert repr(first[0]) == 'Entity(kind="project", value="src/pay.rs", offset=0)'
    with pytest.raises(AttributeError):
        first[0].offset = 1  # type: ignore[misc]
    with pytest.raises(TypeError):
        Entity()


def test_entities_are_bounded() -> None:
    found = entities(" ".join(f"dir/file{number}.rs" for number in range(1000)))
    assert len(found) == 256
    assert found[-1].value == "dir/file255.rs"


def test_topics_are_added_and_extended() -> None:
    topics = Topics()
    assert len(topics.names()) == 12
    topics.add("deploy", ["Kubernetes", "上线"])
    topics.add("deploy", (word for word in ("helm",)))
    assert topics.names()[-1] == "deploy"
    assert topics.of("HELM, code") == ["programming", "deploy"]
    assert topics.of("今天上线吗") == ["deploy"]
    assert Topics().of("helm") == []


@pytest.mark.parametrize(
    ("name", "keywords", "message"),
    [
        (" ", ["x"], 'the name of a topic must be more than white space, not " "'),
        ("x", [], 'keywords must be one or more, not none, for topic "x"'),
        ("x", ["y", "\t"], r'each keyword must be more than white space, not "\t", for topic "x"'),
    ],
)
def test_unusable_topics_are_refused(name: str, keywords: list[str], message: str) -> None:
    topics = Topics()
    with pytest.raises(ConfigError, match=f"^{re.escape(message)}$"):
        topics.add(name, keywords)
    assert len(topics.names()) == 12
    assert topics.of("x y") == []


def test_one_string_is_no_list_of_keywords() -> None:
    with pytest.raises(TypeError, match="put it in a list"):
        Topics().add("x", "kubernetes")


@pytest.mark.parametrize("rule", RULES)
def test_bytes_are_no_text(rule: str) -> None:
    with pytest.raises(TypeError):
        RULES[rule](b"text")  # type: ignore[arg-type]


@pytest.mark.timing
@pytest.mark.thread_unsafe(reason="long, and says nothing about threads")
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    "unit", ["a@", "1,", "c", "是", "a/", "Aa", "[2026-02-15 ", " ", "ai ", "@ "]
)
def test_a_hostile_megabyte_takes_no_second(rule: str, unit: str) -> None:
    text = unit * ((1 << 20) // len(unit))
    start = time.perf_counter()
    RULES[rule](text)
    assert time.perf_counter() - start < 1
