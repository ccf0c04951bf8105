"""A replay goes by the name that people know the session by; the file name is in the small print."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from cli.import_export import hosts
from cli.import_export.test_names import NAMES, SECRET, claude, claude_lines
from memctx import Config
from memctx.cli import main
from memctx.cli.replay import Recording, html, replay

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("alone")
SINGLE = sorted(set(hosts.HOSTS) - {"memory-context", "opencode-files"})
"""Hosts whose transcript is one file."""


def texts(page: str, element: str, kind: str = "") -> list[str]:
    start = f'<{element} class="{kind}">' if kind else f"<{element}>"
    return [unescape(each) for each in re.findall(f"{start}(.*?)</{element}>", page)]


@pytest.mark.parametrize("host", SINGLE)
def test_page_and_output_name_the_session_of_every_host(host: str, tmp_path: Path) -> None:
    write, form, session = hosts.HOSTS[host]
    path, page = write(tmp_path / "source"), tmp_path / "page.html"
    shown = CliRunner().invoke(main, ["replay", str(path), "--html", str(page)])
    assert shown.exit_code == 0, shown.output
    own = re.sub(r"\.jsonl?$", "", path.name)
    name = NAMES[form] or own
    text = page.read_text("utf-8")
    assert texts(text, "h1") == [name]
    assert f"<title>{name}, replayed</title>" in text
    lines = shown.output.splitlines()
    if NAMES[form]:
        assert lines[0] == name
        assert lines[1].startswith(own)
        assert session in lines[1]
        (small,) = texts(text, "p", "facts")
        assert small.startswith(own)
    else:
        assert lines[0].startswith(f"{own} · ")


def test_the_data_of_a_replay_has_the_name_and_the_file(tmp_path: Path) -> None:
    path = hosts.codex(tmp_path)
    shown = CliRunner().invoke(main, ["replay", str(path), "--json"])
    found = json.loads(shown.output)
    assert (found["name"], found["source"]) == (NAMES["codex"], path.stem)


@pytest.mark.parametrize("length", range(70, 110))
def test_secrets_in_a_name_are_masked_before_they_are_cut(length: int, tmp_path: Path) -> None:
    path = claude(tmp_path, *claude_lines(f"{'x' * length} {SECRET} is the key"))
    played = replay(path)
    assert SECRET[:6] not in html(played)
    assert SECRET[:6] not in str(played)
    assert len(played.name) <= len("claude-code · ") + 100


def test_the_settings_of_a_replay_decide_what_is_masked(tmp_path: Path) -> None:
    path = claude(tmp_path, *claude_lines("See ACME-123456"))
    config = Config.load(privacy={"patterns": {"ticket": "ACME-[0-9]{6}"}})
    assert replay(path, config=config).name == "claude-code · See [REDACTED:ticket]"
    assert replay(path).name == "claude-code · See ACME-123456"


def test_markup_and_controls_in_a_name_do_nothing(tmp_path: Path) -> None:
    title = {"type": "ai-title", "aiTitle": "<b>ポート\x1b[31m</b>", "sessionId": "s1"}
    path, page = claude(tmp_path, title, *claude_lines("Which port?")), tmp_path / "page.html"
    shown = CliRunner().invoke(main, ["replay", str(path), "--html", str(page)])
    assert "\x1b" not in shown.output
    assert "ポート" in shown.output
    assert texts(page.read_text("utf-8"), "h1") == ["claude-code · <b>ポート\ufffd[31m</b>"]
    assert "<b>ポ" not in page.read_text("utf-8")


def test_messages_without_a_file_keep_their_name() -> None:
    played = replay([{"role": "user", "content": "Which port?"}])
    assert (played.name, played.source) == ("session", "")
    assert replay(Recording("mine", [{"role": "user", "content": "Which?"}])).name == "mine"
