"""Search for passages in a workspace and in sessions, cited by their lines."""

from __future__ import annotations

import itertools
import os
import time
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctx import estimate_tokens
from memctx.config import WorkspaceSearchSettings
from memctx.errors import ConfigError
from memctx.hosts.openclaw import Workspace, WorkspaceSearch
from memctx.hosts.openclaw.passages import split_passages
from memctx.hosts.pi import Transcript

if TYPE_CHECKING:
    from pathlib import Path

NOTES = "# Payments\n\nThe webhook listens on port 8443.\n"


def cited(root: Path, name: str, start: int, end: int) -> str:
    return "\n".join((root / name).read_text().split("\n")[start - 1 : end])


@given(
    st.lists(st.text(st.sampled_from("abc 支付"), max_size=300), max_size=60),
    st.integers(20, 200),
    st.integers(0, 19),
)
def test_passages_cover_every_line_and_overlap(lines: list[str], tokens: int, overlap: int) -> None:
    found = list(split_passages(enumerate(lines, start=1), tokens, overlap))
    covered = {number for each in found for number in range(each.start, each.end + 1)}
    assert {number for number, line in enumerate(lines, start=1) if line.strip()} <= covered
    assert all(each.text.strip() for each in found)
    starts = [each.start for each in found]
    assert starts == sorted(starts)
    for each in found:
        # A line counts by itself, so what stands together is a little less; pieces of long lines are rounded.
        assert estimate_tokens(each.text, "script") <= tokens * 1.3 + 10
        if all(estimate_tokens(line, "script") <= tokens for line in lines):
            assert each.text == "\n".join(lines[each.start - 1 : each.end])
    for one, two in itertools.pairwise(found):
        assert two.start <= one.end + 1 or not "".join(lines[one.end : two.start - 1]).strip()


def test_the_end_of_a_passage_is_the_beginning_of_the_next() -> None:
    lines = ["one line of about ten tokens, or so"] * 200
    cost = estimate_tokens(lines[0], "script")
    found = list(split_passages(enumerate(lines, start=1), 400, 80))
    shared = {one.end - two.start + 1 for one, two in pairwise(found)}
    assert shared == {80 // cost}
    apart = list(split_passages(enumerate(lines, start=1), 400, 0))
    assert {one.end - two.start + 1 for one, two in pairwise(apart)} == {0}


def test_a_long_file_is_cited_by_its_lines(tmp_path: Path) -> None:
    lines = [f"Entry {number} of the log, about nothing in particular." for number in range(400)]
    lines[273] = "The payment webhook listens on port 8443."
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/2026-01-24.md").write_text("\n".join(lines))
    search = WorkspaceSearch(Workspace(tmp_path))
    best = search.search("which port has the payment webhook?")[0]
    assert best.start <= 274 <= best.end
    assert best.end - best.start < 60
    assert best.text == cited(tmp_path, best.path, best.start, best.end)
    assert best.citation == f"memory/2026-01-24.md#L{best.start}-L{best.end}"
    assert best.source == "memory"
    assert len(search) > 10


def test_every_file_of_the_workspace_is_searched(tmp_path: Path) -> None:
    (tmp_path / "TOOLS.md").write_text("The camera is at 10.0.0.7")
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/projects.md").write_text("飞书机器人的端口是 3000")
    search = WorkspaceSearch(Workspace(tmp_path))
    assert search.search("camera address")[0].citation == "TOOLS.md#L1-L1"
    assert search.search("机器人端口")[0].citation == "memory/projects.md#L1-L1"
    assert search.search("") == []


def settle(path: Path) -> None:
    """Make a file look as if it had been written long ago."""
    before = time.time() - 3600
    os.utime(path, (before, before))


def test_changed_files_are_read_again(tmp_path: Path) -> None:
    path = tmp_path / "memory.md"
    path.write_text(NOTES)
    settle(path)
    search = WorkspaceSearch(Workspace(tmp_path))
    assert search.refresh() == 1
    assert search.refresh() == 0
    path.write_text(NOTES.replace("8443", "9999"))
    assert "9999" in search.search("webhook port")[0].text
    (tmp_path / "USER.md").write_text("The webhook is mine")
    assert {hit.path for hit in search.search("webhook")} == {"memory.md", "USER.md"}
    path.unlink()
    assert {hit.path for hit in search.search("webhook")} == {"USER.md"}
    assert len(search) == 1


def test_a_file_of_the_same_size_and_time_is_read_again_while_it_is_new(tmp_path: Path) -> None:
    path = tmp_path / "memory.md"
    path.write_text(NOTES)
    now = time.time()
    os.utime(path, (now, now))
    search = WorkspaceSearch(Workspace(tmp_path))
    assert search.refresh() == 1
    path.write_text(NOTES.replace("8443", "9999"))
    os.utime(path, (now, now))
    assert "9999" in search.search("webhook port")[0].text


def test_a_file_that_was_only_touched_is_not_indexed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memory.md"
    path.write_text(NOTES)
    settle(path)
    search = WorkspaceSearch(Workspace(tmp_path))
    search.refresh()
    monkeypatch.setattr(search, "_read", lambda _: pytest.fail("it was read again"))
    os.utime(path, (1, 1))
    assert search.refresh() == 0


def said(path: Path) -> Transcript:
    opened = Transcript.open(path, sync=False)
    opened.append_messages(
        [
            {"role": "user", "content": "Where does the invoice service run?"},
            {
                "role": "assistant",
                "content": [{"type": "text", "text": "On host pay-7.\nIn Frankfurt."}],
            },
            {
                "role": "toolResult",
                "toolCallId": "c",
                "toolName": "read",
                "content": [{"type": "text", "text": "invoice tool output"}],
                "isError": False,
            },
        ]
    )
    return opened


def test_sessions_are_a_source_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w/memory.md").write_text("The invoice template is blue.")
    opened = said(tmp_path / "sessions/a.jsonl")
    settings = WorkspaceSearchSettings(
        sources=("memory", "sessions"), sessions=(tmp_path / "sessions",)
    )
    search = WorkspaceSearch(Workspace(tmp_path / "w"), settings)
    hits = search.search("invoice service host")
    assert {hit.source for hit in hits} == {"memory", "sessions"}
    assert hits[0].citation == "sessions/a.jsonl#L2-L3"
    assert "user: Where does the invoice service run?" in hits[0].text
    assert "Frankfurt" in hits[0].text
    assert "tool output" not in hits[0].text
    assert {hit.source for hit in search.search("invoice", sources=["memory"])} == {"memory"}
    first = opened.append_message({"role": "user", "content": "And the ledger?"})
    opened.append_compaction("The ledger runs on host pay-9.", first, 10)
    assert search.search("ledger host")[0].citation == "sessions/a.jsonl#L2-L6"


def test_sessions_are_searched_only_if_asked(tmp_path: Path) -> None:
    said(tmp_path / "sessions/a.jsonl")
    search = WorkspaceSearch(
        Workspace(tmp_path / "w"), WorkspaceSearchSettings(sessions=(tmp_path / "sessions",))
    )
    assert search.search("invoice") == []
    one = WorkspaceSearch(
        Workspace(tmp_path / "w"),
        WorkspaceSearchSettings(sources=("sessions",), sessions=(tmp_path / "sessions/a.jsonl",)),
    )
    assert one.search("invoice")[0].path == "sessions/a.jsonl"


def test_secrets_in_passages_are_masked(tmp_path: Path) -> None:
    (tmp_path / "TOOLS.md").write_text("The db password is k3jf9slw-Qp0 for the ledger")
    hit = WorkspaceSearch(Workspace(tmp_path)).search("ledger password")[0]
    assert "k3jf9slw" not in hit.text
    assert "[REDACTED:password]" in hit.text


def test_links_out_of_the_workspace_are_not_searched(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("The webhook key")
    (tmp_path / "w").mkdir()
    (tmp_path / "w/memory.md").symlink_to(tmp_path / "secret.md")
    assert WorkspaceSearch(Workspace(tmp_path / "w")).search("webhook key") == []


def test_daily_notes_decay_if_asked_and_lasting_notes_do_not(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    today = workspace.today()
    (tmp_path / "memory").mkdir()
    for days in (0, 100):
        day = today - timedelta(days=days)
        (tmp_path / f"memory/{day}.md").write_text("The webhook port")
    (tmp_path / "memory.md").write_text("The webhook port")
    plain = WorkspaceSearch(workspace).search("webhook port")
    assert len({round(hit.score, 6) for hit in plain}) == 1
    fading = WorkspaceSearch(workspace, WorkspaceSearchSettings(half_life_days=30.0))
    faded = fading.search("webhook port")
    scores: dict[str, Any] = {hit.path: hit.score for hit in faded}
    assert scores["memory.md"] == scores[f"memory/{today}.md"]
    old = scores[f"memory/{today - timedelta(days=100)}.md"]
    assert old == pytest.approx(scores["memory.md"] * 0.5 ** (100 / 30))
    assert len(fading.search("webhook port", min_score=0.5)) == 2


def test_invalid_search_sources_are_refused(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    search = WorkspaceSearch(workspace)
    with pytest.raises(ConfigError, match="sources has 'web'; expected some of"):
        search.search("x", sources=["web"])  # type: ignore[list-item]
    with pytest.raises(ConfigError, match="sources is empty"):
        search.search("x", sources=[])
    with pytest.raises(ConfigError, match=r"sources has \['sessions'\]; expected some of"):
        search.search("x", sources=["sessions"])
