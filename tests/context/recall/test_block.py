"""`memctx._core.build_block`, `parse_block` and `is_block`."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memctx import ConfigError, estimate_tokens
from memctx._core import build_block, is_block, parse_block

if TYPE_CHECKING:
    from memctx._core import Estimator

FIRST = 1_770_733_919_000.0  # 2026-02-10 14:31:59 UTC
HOUR = 3_600_000.0
MINUTE = 60_000.0
OPEN = '<recalled-context source="memory-context">'
CLOSE = "</recalled-context>"
GOLDEN = f"""{OPEN}

<knowledge>
- [decision] Use A
- [config] port 3000
</knowledge>

<detail>
[2026-02-10 14:31 assistant] first

[2026-02-10 15:31 user] second
  indented
</detail>

{CLOSE}"""

Detail = tuple[str, float, str, str, int, int, float]

_pieces = st.one_of(
    st.sampled_from(
        [
            OPEN,
            CLOSE,
            "</detail>",
            "<\\/detail>",
            "< / DETAIL >",
            "".join(chr(ord(c) + 0xFEE0) for c in "</detail>"),
            "</de\u200btail>",
            "<\x00/detail>",
            "</knowledge>",
            "<knowledge>",
            "\n[2026-02-10 14:31 user] ",
            "\n\n\\[2026-02-10 14:31 user] ",
            "\n- [config] ",
            "\\",
            "\\u{7}",
            "u{7}",
            "\x07",
            "\u202e",
            "\U000e0041",
            "\r",
            "\n",
            "\u2028",
        ]
    ),
    st.text(max_size=4),
)
contents = st.lists(_pieces, max_size=8).map("".join).filter(lambda text: not _is_lone(text))
scores = st.floats(0, 1)
estimators: tuple[Estimator, ...] = ("script", "utf16")


def _is_lone(text: str) -> bool:
    """Return True if a text holds half of a surrogate pair, which reads as U+FFFD."""
    return any(unicodedata.category(c) == "Cs" for c in text)


def _detail(role: str, content: str, timestamp: float = FIRST, score: float = 1.0) -> Detail:
    return ("id", timestamp, role, content, 0, len(content), score)


def test_the_golden_block() -> None:
    """OpenClaw's block at a cap of 200, token for token."""
    facts = [("decision", "Use A", 1.0), ("config", "port 3000", 1.0)]
    details = [
        _detail("user", "second\n  indented", FIRST + HOUR, 0.9),
        _detail("assistant", "first", FIRST, 0.5),
    ]
    for estimator in estimators:
        block = build_block(facts, details, cap=200, estimator=estimator)
        assert block.text == GOLDEN
        assert (block.tokens, block.facts, block.details, block.cut) == (76, [0, 1], [1, 0], [])
        assert repr(block) == "Block(tokens=76, facts=2, details=2)"


def test_a_block_of_nothing_is_empty() -> None:
    """Without records, or without room, there is no block at all."""
    for block in (
        build_block([], [], cap=4000),
        build_block([("config", "port 3000", 1.0)], [_detail("user", "hello there")], cap=25),
    ):
        assert (block.text, block.tokens, block.facts, block.details) == ("", 0, [], [])


def test_a_negative_cap_is_refused() -> None:
    with pytest.raises(ConfigError, match="cap must be 0 or more tokens, not -1"):
        build_block([], [], cap=-1)


@settings(max_examples=300)
@given(
    st.lists(st.tuples(contents, contents, scores), max_size=4),
    st.lists(st.tuples(st.integers(0, 10**8), contents, contents, scores), max_size=4),
)
@pytest.mark.slow
def test_a_block_round_trips(
    facts: list[tuple[str, str, float]], said: list[tuple[int, str, str, float]]
) -> None:
    """Whatever is stored, a block read back holds those records, byte for byte, and ends where it ends."""
    details = [_detail(role, text, at * MINUTE, score) for at, role, text, score in said]
    block = build_block(facts, details, cap=100_000)
    told_facts = [facts[at][:2] for at in block.facts]
    told_details = [(details[at][1], details[at][2], details[at][3]) for at in block.details]
    assert set(told_facts) == {fact[:2] for fact in facts}
    assert {entry[1:] for entry in told_details} == {entry[2:4] for entry in details}
    if not block.text:
        return
    assert parse_block(block.text) == (told_facts, told_details)
    assert is_block(f"\n {block.text}\n")
    seen = "".join(unicodedata.normalize("NFKC", block.text).lower().split()).replace("\u200b", "")
    assert (seen.count(CLOSE), seen.count("<recalled-context")) == (1, 1)
    assert seen.endswith(CLOSE)
    assert seen.count("</detail>") == bool(details)
    hidden = {c for c in block.text if unicodedata.category(c) in {"Cc", "Zl", "Zp"}}
    assert hidden <= {"\n", "\t", "\r"}
    assert not {"\u202e", "\U000e0041"} & set(block.text)


@settings(max_examples=200)
@given(st.lists(st.tuples(contents, st.integers(1, 60)), max_size=6), st.integers(0, 300))
def test_the_cap_is_never_exceeded(texts: list[tuple[str, int]], cap: int) -> None:
    """The cost of a block, measured on the finished text, is at most its cap; cut details are excerpts."""
    details = [
        _detail("tool", text * times, FIRST + at, 1 / (1 + at))
        for at, (text, times) in enumerate(texts)
    ]
    facts = [("note", text, 1.0) for text, _ in texts]
    for estimator in estimators:
        block = build_block(facts, details, cap=cap, query="detail user", estimator=estimator)
        assert block.tokens <= cap
        assert block.tokens == (estimate_tokens(block.text, estimator) if block.text else 0)
        parsed = parse_block(block.text)
        if parsed is None:
            assert not block.text
            continue
        for at, (_, _, content) in zip(block.details, parsed[1], strict=True):
            whole = details[at][3]
            assert (content != whole) == (at in block.cut)
            assert content.removeprefix("…").removesuffix("…") in whole


def test_a_long_detail_is_cut_to_the_passage_of_the_query() -> None:
    """One oversized result neither takes the whole block nor drops out of it, as it did in OpenClaw's plugin."""
    log = "\n".join(f"line {number} of the log says nothing new" for number in range(3000))
    found = log.replace("line 1777 of the log", "line 1777: pay.rs panicked at the disco")
    start = found.index("line 1770")
    details: list[Detail] = [
        ("a", FIRST, "tool", found, start, start + 2000, 0.9),
        _detail("user", "the panic is in pay.rs", FIRST + 1, 0.5),
    ]
    block = build_block([], details, cap=300, query="where did pay.rs panic")
    assert (block.details, block.cut) == ([0, 1], [0])
    assert "pay.rs panicked at the disco" in block.text
    assert 250 <= block.tokens <= 300


def test_text_of_a_person_is_no_block() -> None:
    """A text that quotes a block, or is nearly one, is a person's."""
    assert is_block(GOLDEN)
    for text in (
        f"Why do you see this?\n{GOLDEN}",
        f"{GOLDEN}\n\nand now?",
        GOLDEN.replace("14:31", "25:61"),
        GOLDEN.replace("memory-context", "elsewhere"),
        GOLDEN.replace("second", "sec</detail>ond"),
        f"{OPEN}\n\n\n\n{CLOSE}",
        OPEN,
        "",
    ):
        assert not is_block(text)
        assert parse_block(text) is None
