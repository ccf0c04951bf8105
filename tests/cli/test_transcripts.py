"""Import, export and replay, as a person types them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from click.testing import CliRunner

from memctx.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


SAID = [
    {"role": "user", "content": "The payment webhook listens on port 8443."},
    {"role": "assistant", "content": "Noted; the dashboard is next."},
    {"role": "user", "content": "Which port was it?"},
    {"role": "assistant", "content": "It was 8443."},
]


def transcript(folder: Path) -> Path:
    path = folder / "talk.jsonl"
    path.write_text("".join(f"{json.dumps(message)}\n" for message in SAID))
    return path


def run(*arguments: object) -> dict[str, object]:
    result = CliRunner().invoke(main, [*map(str, arguments), "--json"])
    assert result.exit_code == 0, result.output
    found: dict[str, object] = json.loads(result.output)
    return found


def test_imported_messages_are_searchable_and_exportable(tmp_path: Path) -> None:
    store = tmp_path / "memory"
    source = transcript(tmp_path)
    first = run("import", source, "--store", store)
    assert (first["messages"], first["added"], first["failed"]) == (4, 4, [])
    again = run("import", source, "--store", store)
    assert (again["added"], again["unchanged"]) == (0, 1)
    assert "8443" in json.dumps(run("search", "payment webhook port", "--store", store))
    assert run("export", tmp_path / "all.jsonl", "--store", store)["messages"] == 4
    copy = run("import", tmp_path / "all.jsonl", "--store", tmp_path / "copy")
    assert copy["added"] == 4
    run("export", tmp_path / "all.md", "--markdown", "--store", store)
    assert "The payment webhook listens on port 8443." in (tmp_path / "all.md").read_text()


def test_an_export_replaces_no_file_unless_forced(tmp_path: Path) -> None:
    store, target = tmp_path / "memory", tmp_path / "all.jsonl"
    run("import", transcript(tmp_path), "--store", store)
    target.write_text("mine")
    for more in ((), ("--markdown",)):
        command = ["export", str(target), *more, "--store", str(store)]
        refused = CliRunner().invoke(main, command)
        assert (refused.exit_code, refused.stdout, target.read_text()) == (2, "", "mine")
        assert str(target) in refused.stderr
        assert "--force" in refused.stderr
        assert CliRunner().invoke(main, [*command, "--force"]).exit_code == 0
        assert "8443" in target.read_text("utf-8")
        target.write_text("mine")
    folder = CliRunner().invoke(main, ["export", str(tmp_path), "--force", "--store", str(store)])
    assert folder.exit_code == 2


def test_import_reports_skips_by_reason(tmp_path: Path) -> None:
    said = [{"role": "system", "content": "Be brief."}, *SAID, {"role": "user", "content": "ok"}]
    path = tmp_path / "talk.jsonl"
    path.write_text("".join(f"{json.dumps(message)}\n" for message in said))
    found = run("import", path, "--store", tmp_path / "memory")
    reasons = found["skips"]
    assert isinstance(reasons, dict)
    assert found["skipped"] == sum(reasons.values()) > 0
    shown = CliRunner().invoke(main, ["import", str(path), "--store", str(tmp_path / "other")])
    for reason, count in reasons.items():
        assert f"  {reason}" in shown.stdout
        assert str(count) in shown.stdout


def test_import_of_a_picture_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "picture.png"
    source.write_bytes(b"\x89PNG\r\n\x1a\n")
    result = CliRunner().invoke(main, ["import", str(source), "--store", str(tmp_path / "memory")])
    assert result.exit_code != 0
    assert "picture.png" in result.output


def test_replay_prints_a_table_and_writes_a_page(tmp_path: Path) -> None:
    page = tmp_path / "talk.html"
    found = run("replay", transcript(tmp_path), "--window", 8_000, "--html", page)
    assert len(found["turns"]) == 2  # type: ignore[arg-type]
    assert page.read_text("utf-8").lower().startswith("<!doctype html>")
    plain = CliRunner().invoke(main, ["replay", str(transcript(tmp_path)), "--window", "8000"])
    assert plain.exit_code == 0
    assert "2 turns" in plain.output


def test_report_writes_only_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("report", transcript(tmp_path), "--window", 8_000) == {"page": "talk.html"}
    assert "<svg" in (tmp_path / "talk.html").read_text("utf-8")
    run("report", transcript(tmp_path), tmp_path / "other.html")
    assert (tmp_path / "other.html").exists()


def test_search_for_nonsense_finds_nothing_above_the_minimum_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCTX_EMBEDDING_MODEL", "hash")
    store = tmp_path / "memory"
    run("import", transcript(tmp_path), "--store", store)
    nothing = CliRunner().invoke(main, ["search", "zzzqqq", "--store", str(store)])
    assert nothing.exit_code == 1
    everything = ["search", "zzzqqq", "--min-score", "0", "--store", str(store)]
    assert CliRunner().invoke(main, everything).exit_code == 0


def test_min_score_filters_on_the_shown_score(tmp_path: Path) -> None:
    store = tmp_path / "memory"
    run("import", transcript(tmp_path), "--store", store)
    # So that no vector comes between two searches.
    CliRunner().invoke(main, ["reembed", "--store", str(store)])
    every = run("search", "webhook port", "--min-score", "0", "--store", store)["hits"]
    assert isinstance(every, list)
    matches = sorted(hit["score"] for hit in every)
    for least in (matches[0], matches[-1]):
        command = ["search", "webhook port", "--min-score", str(least), "--store", str(store)]
        shown = CliRunner().invoke(main, command).stdout.splitlines()
        assert shown[0].split() == ["id", "when", "role", "score", "text"]
        column = slice(shown[0].index("score"), shown[0].index("score") + 5)
        found = [float(line[column]) for line in shown[1:]]
        assert len(found) == sum(match >= least for match in matches)
        assert all(match >= round(least, 2) for match in found)
