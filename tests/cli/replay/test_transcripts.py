"""A transcript of any host replays as the messages in it do, and every verb reads what `import` reads."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from cli.import_export import hosts
from context.rendering import Rendering
from context.script import Assistant, Call, Result, Results, Script, User
from memctx import Config, ConfigError, MessageFormatError
from memctx.cli import main
from memctx.cli.import_export import FORMATS
from memctx.cli.import_export.sources import find_sources
from memctx.cli.replay import Recording, Replay, replay
from memctx.cli.verbs.model_context import read_model_context

if TYPE_CHECKING:
    from pathlib import Path

    from context.script import FormatName

WINDOW = 6_000


def script() -> Script:
    """Script an agent that reads files until its window is full, and is then asked for what it read first."""
    steps: list[Any] = []
    for step in range(40):
        calls = tuple(
            Call(f"call_{step}_{n}", "read", {"path": f"{step}.py"}) for n in range(1 + step % 2)
        )
        rows = "\n".join(f"tolerance_{step}_{row} = rounded(amount, {row})" for row in range(25))
        steps += [
            User((f"Now look at module {step} of the ledger.",)),
            Assistant((), calls),
            Results(tuple(Result(call.id, "read", rows) for call in calls)),
            Assistant((f"Module {step} rounds half to even.",)),
        ]
    return (*steps, User(("What is tolerance_3_7 set to?",)))


def claude_code(folder: Path, messages: list[dict[str, Any]]) -> Path:
    """Write one line for each block of an answer and for each result, as Claude Code does."""
    lines: list[dict[str, Any]] = [{"type": "summary", "leafUuid": "u1", "summary": "Ledger"}]
    parent = None
    for at, message in enumerate(messages):
        head = {"parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": "/shop"}
        about = {"uuid": f"u{at}", "sessionId": "s1", "timestamp": hosts.iso(0)}
        lines.append({**head, "type": message["role"], "message": message, **about})
        parent = f"u{at}"
    return hosts.write_lines(folder / "s1.jsonl", lines)


def codex(folder: Path, messages: list[dict[str, Any]]) -> Path:
    head = {"timestamp": hosts.iso(0), "type": "session_meta", "payload": {"id": "s1"}}
    items = [
        {"timestamp": hosts.iso(0), "type": "response_item", "payload": message}
        for message in messages
    ]
    said = {"type": "event_msg", "payload": {"type": "user_message", "message": "said again"}}
    return hosts.write_lines(folder / "rollout-s1.jsonl", [head, *items, said])


def pi_lines(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    head = {"type": "session", "version": 3, "id": "s1", "timestamp": hosts.iso(0), "cwd": "/"}
    return [
        head,
        *(
            {
                "type": "message",
                "id": f"e{at}",
                "parentId": f"e{at - 1}" if at else None,
                "timestamp": hosts.iso(0),
                "message": message,
            }
            for at, message in enumerate(messages)
        ),
    ]


def pi(folder: Path, messages: list[dict[str, Any]]) -> Path:
    return hosts.write_lines(folder / "s1.jsonl", pi_lines(messages))


def openclaw(folder: Path, messages: list[dict[str, Any]]) -> Path:
    path = folder / "openclaw-agent.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT)"
        )
        rows = [("s1", at, json.dumps(line)) for at, line in enumerate(pi_lines(messages))]
        connection.executemany("INSERT INTO transcript_events VALUES (?, ?, ?)", rows)
        connection.commit()
    return path


def lines(folder: Path, messages: list[dict[str, Any]]) -> Path:
    return hosts.write_lines(folder / "s1.jsonl", messages)


WRAPPED: list[tuple[Any, FormatName]] = [
    (claude_code, "anthropic"),
    (codex, "responses"),
    (pi, "pi"),
    (openclaw, "pi"),
    (lines, "openai"),
    (lines, "anthropic"),
    (lines, "gemini"),
]


def figures(played: Replay) -> dict[str, Any]:
    turns = tuple(replace(turn, milliseconds={}) for turn in played.turns)
    return replace(played, turns=turns, seconds=0.0, name="", source="").to_dict()


@pytest.mark.parametrize(
    ("wrap", "format"), WRAPPED, ids=lambda each: getattr(each, "__name__", each)
)
@pytest.mark.slow
def test_a_wrapped_session_replays_as_its_messages_do(
    wrap: Any, format: FormatName, tmp_path: Path
) -> None:
    """Hashing takes no time, by which scores would differ."""
    messages = Rendering(script(), format).whole()
    config = Config(context_window=WINDOW, embedding_model="hash")
    expected = replay(messages, format=format, config=config)
    totals = expected.to_dict()["totals"]
    assert totals["trims"] > 0
    assert totals["pruned"] + totals["trimmed_messages"] > 0
    assert totals["recalled"] > 0
    path = wrap(tmp_path, messages)
    assert figures(replay(path, config=config)) == figures(expected)
    result = CliRunner().invoke(main, ["replay", str(path), "--window", str(WINDOW), "--json"])
    assert json.loads(result.stdout)["totals"]["pruned"] == totals["pruned"]


@pytest.mark.parametrize("host", sorted(hosts.HOSTS))
def test_every_verb_reads_every_format(host: str, tmp_path: Path) -> None:
    (file,) = find_sources(hosts.HOSTS[host][0](tmp_path), None)
    store = ("--store", str(tmp_path / "store"))
    for command in (
        ("replay", file.path),
        ("replay", file.path, "--html", tmp_path / "page.html"),
        ("context", "list", file.path),
        ("context", "detail", file.path),
        ("compact", file.path, *store),
    ):
        result = CliRunner().invoke(main, [*map(str, command), "--json"])
        assert result.exit_code == 0, (command, result.output)
    texts = json.dumps(Recording.read(file.path).messages)
    assert hosts.ASKED in texts
    assert hosts.LATER in texts
    assert hosts.LEFT not in texts
    played = replay(file.path, context_window=8_000)
    assert (played.errors, played.skipped) == (0, int(host == "claude-code"))
    assert len(played.turns) >= 2


@pytest.mark.parametrize(
    "data", [b"", b"hello\n", b'{"color": "blue"}\n', b"[1, 2]", b"\x89PNG\r\n\x1a\n\x00" * 90]
)
def test_an_unrecognized_file_is_exit_code_2_and_names_the_formats(
    data: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "file.jsonl"
    path.write_bytes(data)
    store = ("--store", str(tmp_path / "store"))
    for command in (
        ("import", path, *store),
        ("replay", path),
        ("context", "list", path),
        ("context", "detail", path),
        ("compact", path, *store),
    ):
        refused = CliRunner().invoke(main, [str(each) for each in command])
        assert (refused.exit_code, refused.stdout) == (2, ""), command
        assert all(name in refused.stderr for name in ("file.jsonl", *FORMATS))
    assert not (tmp_path / "page.html").exists()


def test_a_file_with_several_sessions_needs_session(tmp_path: Path) -> None:
    said = [
        {"session_id": name, "role": "user", "content": f"Which port has {name}?"}
        for name in ("shop", "blog", "shop")
    ]
    path = hosts.write_lines(tmp_path / "talk.jsonl", said)
    with pytest.raises(ConfigError, match=r"name a session with --session; it has 2: shop, blog"):
        Recording.read(path)
    with pytest.raises(ConfigError, match=r"session is 'shp'; .* has 2: shop, blog"):
        Recording.read(path, session="shp")
    assert len(Recording.read(path, session="shop").messages) == 2
    for command in (("replay",), ("context", "list"), ("context", "detail")):
        options = ["--session", "blog", "--json"]
        assert CliRunner().invoke(main, [*command, str(path), *options]).exit_code == 0
        assert CliRunner().invoke(main, [*command, str(path)]).exit_code == 2


def test_model_context_begins_at_the_last_compaction(tmp_path: Path) -> None:
    seen = [
        json.dumps(read_model_context(hosts.HOSTS[host][0](tmp_path / host)).messages)
        for host in ("claude-code", "codex")
    ]
    assert all("A summary" in texts and hosts.LATER in texts for texts in seen)
    assert all(hosts.ASKED not in texts for texts in seen)


def test_a_recognized_file_without_messages_is_refused(tmp_path: Path) -> None:
    line = {"type": "summary", "summary": "Ports", "leafUuid": "u1"}
    with pytest.raises(MessageFormatError, match="no message in it"):
        Recording.read(hosts.write_lines(tmp_path / "s1.jsonl", [line]))
