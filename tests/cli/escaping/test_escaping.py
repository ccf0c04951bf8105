"""Text that others wrote takes no effect where it is shown, and JSON keeps its value."""

from __future__ import annotations

import io
import json
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import memctx
from memctx.cli import escaping, main
from memctx.cli.import_export import export_jsonl, export_markdown, import_transcripts
from memctx.cli.replay import html, replay

if TYPE_CHECKING:
    from pathlib import Path

CONTROLS = [
    *map(chr, (*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), *range(0x7F, 0xA0))),
    *"\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029\ufeff",
    "\ud800",
    "\udfff",
]
ATTACK = "port \x1b[31m\x9b2J\x07 \u202e3448\u202c \u2066x\u2069 <script>alert(1)</script> end"
texts = st.text(st.one_of(st.characters(), st.sampled_from([*CONTROLS, *"<>/!a`~ \n\t-*"])))


def unsafe(text: str) -> set[str]:
    return {each for each in text if each in CONTROLS or "\ud800" <= each <= "\udfff"}


@given(texts)
def test_json_has_no_control_characters_and_the_same_value(text: str) -> None:
    value = {"text": text, text: [text]}
    for indent in (None, 2):
        shown = escaping.json_text(value, indent=indent)
        assert unsafe(shown) == set()
        assert json.loads(shown) == value
        shown.encode("utf-8")


@pytest.mark.parametrize("character", CONTROLS, ids=ascii)
def test_every_control_character_is_neutralized(character: str) -> None:
    text = f"a{character}b"
    for shown in (escaping.terminal(text), escaping.plain(text), escaping.markdown(text)):
        assert unsafe(shown) == set()
        assert shown.startswith("a")
        assert shown.endswith("b")


@given(texts)
def test_terminal_text_keeps_scripts_and_lines(text: str) -> None:
    for shown in (escaping.terminal(text), escaping.plain(text), escaping.markdown(text)):
        assert unsafe(shown) == set()
    kept = "支付 הגדרה پورت 👩\N{ZERO WIDTH JOINER}🚀 é\n\tend"
    assert escaping.plain(kept) == escaping.markdown(kept) == kept


class Blocks:
    """A reading of fenced blocks that knows no containers: what stands outside of them may be HTML."""

    def __init__(self, text: str) -> None:
        self.outside: list[str] = []
        fence = ""
        for line in text.split("\n"):
            opening = re.match(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})", line)
            if fence:
                closing = re.match(r" {0,3}(`{3,}|~{3,})[ \t]*$", line)
                if closing and closing[1].startswith(fence):
                    fence = ""
            elif opening:
                fence = opening[1]
            else:
                self.outside.append(line)
        self.is_open = bool(fence)


lines = st.sampled_from(
    ["```", "````", "~~~", "  ```", "   ~~~", "    ```", "```py", "``` a`b", "\t```", "```  ", "```x",
     "<script>x</script>", "- ```", "> ```", "a", "", "<b onclick=x>", "</div>", "<!-- -->", "<?php"]
)  # fmt: skip


@given(st.lists(lines, max_size=12))
def test_no_html_stands_outside_of_a_block_of_code(drawn: list[str]) -> None:
    blocks = Blocks(escaping.markdown("\n".join(drawn)))
    assert not blocks.is_open
    assert not [line for line in blocks.outside if re.search(r"<[A-Za-z/!?]", line)]


def test_html_in_a_block_of_code_is_left_as_it_is() -> None:
    text = "Use this:\n\n```html\n<b>bold</b>\n```\n\nnot <b>this</b>, and 1 < 2"
    expected = text.replace("not <b>this</b>", "not &lt;b>this&lt;/b>")
    assert escaping.markdown(text) == expected


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with memctx.open(tmp_path / "store", session_id="s<b>1\x1b") as memory:
        memory.store.add(
            [
                ("user", f"The webhook {ATTACK}", 1.0, None),
                ("tool", f"read {ATTACK}\n```\n", 2.0, '{"tool":{"name":"a<i>\\u009b"}}'),
            ]
        )
        memory.facts.add("config", f"The webhook listens on {ATTACK}")
    return tmp_path / "store"


def test_json_of_every_verb_is_escaped(store: Path, tmp_path: Path) -> None:
    transcript = tmp_path / "talk.jsonl"
    said = [{"role": "user", "content": ATTACK}, {"role": "assistant", "content": ATTACK}]
    transcript.write_text("".join(f"{json.dumps(each)}\n" for each in said))
    at = ("--store", str(store))
    for command in (
        ("search", "webhook", *at),
        ("facts", "list", *at),
        ("facts", "search", "webhook", *at),
        ("status", *at),
        ("replay", str(transcript)),
        ("context", "detail", str(transcript)),
    ):
        plain = CliRunner().invoke(main, command)
        shown = CliRunner().invoke(main, [*command, "--json"])
        assert (plain.exit_code, shown.exit_code) == (0, 0), plain.output
        assert unsafe(shown.stdout) == unsafe(plain.stdout) == set()
        json.loads(shown.stdout)
    found = json.loads(CliRunner().invoke(main, ["search", "webhook", *at, "--json"]).stdout)
    assert any(ATTACK in hit["segment"]["content"] for hit in found["hits"])


def test_markdown_exports_are_harmless(store: Path) -> None:
    out = io.StringIO()
    export_markdown(store, out)
    shown = out.getvalue()
    assert unsafe(shown) == set()
    assert [line for line in Blocks(shown).outside if "<" in line] == []
    assert "&lt;script>" in shown
    assert "# Session s&lt;b>1\ufffd" in shown


def test_exported_lines_are_escaped_and_come_back_as_they_were(store: Path, tmp_path: Path) -> None:
    export_jsonl(store, tmp_path / "all.jsonl")
    shown = (tmp_path / "all.jsonl").read_text("utf-8")
    assert unsafe(shown) == set()
    import_transcripts(tmp_path / "other", tmp_path / "all.jsonl")
    first, second = (
        [
            (each.session_id, each.role, each.content)
            for each in memctx.lowlevel.LogReader(path).scan()
        ]
        for path in (store, tmp_path / "other")
    )
    assert first == second


def test_the_page_of_a_replay_is_harmless() -> None:
    said = [{"role": "user", "content": ATTACK}, {"role": "assistant", "content": ATTACK}]
    page = html(replay(said * 20, context_window=2_000))
    assert unsafe(page) == set()
    assert "<script>alert" not in page
    HTMLParser().feed(page)


def test_errors_on_a_terminal_are_harmless(tmp_path: Path) -> None:
    refused = CliRunner().invoke(main, ["status", "--store", str(tmp_path / "a\x1b[31m\u202eb")])
    assert refused.exit_code == 2
    assert unsafe(refused.stderr) == set()
