"""`memctx push`, `memctx pull` and `memctx fleet`, as commands."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import memctx
from memctx.cli.app import main
from memctx.errors import ServerUnavailableError
from memctx.postgres import Server
from memctx.replica import Transfer
from postgres.cluster import rows
from replica.conftest import address
from replica.test_sharing import contents, said

if TYPE_CHECKING:
    from pathlib import Path
    from uuid import UUID

    from memctx.postgres import Line, Page
    from memctx.postgres.records import Log
    from replica.conftest import Hosts


def run(*arguments: str, code: int = 0, given: str | None = None) -> dict[str, Any]:
    """Run a command with ``--json`` and return what it prints."""
    result = CliRunner().invoke(main, [*arguments, "--json"], input=given)
    assert result.exit_code == code, result.output + str(result.exception)
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def fill(folder: Path) -> None:
    for session in ("s1", "s2"):
        with memctx.open(folder, session_id=session, embedding_model="hash") as memory:
            memory.archive(
                said(*(f"Parcel {number} of {session} has gate {number}" for number in range(50)))
            )
            memory.facts.add("config", f"The port of {session} is 8443")


def test_a_directory_is_pushed_and_pulled_whole(hosts: Hosts, tmp_path: Path) -> None:
    fill(tmp_path / "from")
    space = hosts.space.name
    sent = run("push", hosts.address, "--namespace", space, "--store", str(tmp_path / "from"))
    assert (sent["sessions"], sent["segments"], sent["facts"], sent["problems"]) == (2, 100, 2, [])
    again = run("push", hosts.address, "--namespace", space, "--store", str(tmp_path / "from"))
    assert again == sent
    came = run("pull", hosts.address, "--namespace", space, "--store", str(tmp_path / "to"))
    assert came == sent
    came = run("pull", hosts.address, "--namespace", space, "--store", str(tmp_path / "to"))
    assert came == sent
    for session in ("s1", "s2"):
        found = []
        for folder in ("from", "to"):
            with memctx.open(
                tmp_path / folder, session_id=session, embedding_model="hash"
            ) as memory:
                found.append((contents(memory), [fact.content for fact in memory.facts]))
        assert found[0] == found[1]
    with hosts.open("a", "s2") as memory:
        assert len(contents(memory)) == 50


def test_an_interrupted_push_goes_on(hosts: Hosts, tmp_path: Path) -> None:
    fill(tmp_path / "from")
    lines = (tmp_path / "from" / "segments.jsonl").read_bytes().splitlines(keepends=True)
    shutil.copytree(tmp_path / "from", tmp_path / "half")
    (tmp_path / "half" / "segments.jsonl").write_bytes(b"".join(lines[:30]))
    space = hosts.space.name
    run("push", hosts.address, "--namespace", space, "--store", str(tmp_path / "half"))
    with (tmp_path / "half" / "segments.jsonl").open("ab") as file:
        file.write(b"".join(lines[30:]))
    sent = run("push", hosts.address, "--namespace", space, "--store", str(tmp_path / "half"))
    assert (sent["segments"], sent["problems"]) == (100, [])


def test_a_push_that_the_server_interrupts_goes_on_where_it_was(
    hosts: Hosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path / "from")
    sent: list[list[str]] = []
    append = Server.append

    def append_twice(server: Server, log: Log, lines: list[Line], *, origin: UUID) -> int:
        sent.append([line.id for line in lines])
        if len(sent) == 3:
            raise ServerUnavailableError("gone")
        return append(server, log, lines, origin=origin)

    monkeypatch.setattr("memctx.replica.shipper.BATCH", 20)
    monkeypatch.setattr(Server, "append", append_twice)
    with hosts.space.server() as server:
        with pytest.raises(ServerUnavailableError):
            Transfer(tmp_path / "from", server).push()
        done = Transfer(tmp_path / "from", server).push()
    assert (done.segments, done.facts, done.problems) == (100, 2, ())
    segments = [key for batch in [*sent[:2], *sent[3:]] for key in batch][:100]
    assert len(set(segments)) == 100, "nothing is sent twice"


def test_a_pull_that_the_server_interrupts_goes_on_where_it_was(
    hosts: Hosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path / "from")
    asked: list[tuple[str, int]] = []
    pull = Server.pull

    def pull_thrice(server: Server, session_id: str, log: Log, after: int, **given: Any) -> Page:
        asked.append((log, after))
        if len(asked) == 4:
            raise ServerUnavailableError("gone")
        return pull(server, session_id, log, after, **given)

    with hosts.space.server() as server:
        Transfer(tmp_path / "from", server).push()
        monkeypatch.setattr("memctx.replica.puller.PAGE", 10)
        monkeypatch.setattr(Server, "pull", pull_thrice)
        (tmp_path / "to").mkdir()
        with pytest.raises(ServerUnavailableError):
            Transfer(tmp_path / "to", server).pull()
        done = Transfer(tmp_path / "to", server).pull()
    assert asked[:5] == [("segments", each) for each in (0, 10, 20, 30, 30)]
    assert (done.segments, done.facts, done.problems) == (100, 2, ())


@pytest.mark.parametrize("first", ["foreign", "own"])
def test_a_pull_skips_no_line_between_own_ones(
    hosts: Hosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    for name in ("foreign", "own"):
        with memctx.open(tmp_path / name, session_id="s1", embedding_model="hash") as memory:
            memory.archive(
                said(*(f"Parcel {number} of {name} has gate {number}" for number in range(20)))
            )
            for number in range(20):
                memory.facts.add("config", f"The port of {name} {number} is {8_000 + number}")
    monkeypatch.setattr("memctx.postgres.log._PAGE_BYTES", 1_000)  # about five lines
    with hosts.space.server() as server:
        for name in (first, "own" if first == "foreign" else "foreign"):
            Transfer(tmp_path / name, server).push()
        done = Transfer(tmp_path / "own", server).pull()
    assert (done.segments, done.facts, done.problems) == (40, 40, ())


def test_lines_with_half_of_a_surrogate_pair_are_pushed_and_pulled(
    hosts: Hosts, tmp_path: Path
) -> None:
    fill(tmp_path / "from")
    path = tmp_path / "from" / "segments.jsonl"
    found = json.loads(path.read_text().splitlines()[0])
    del found["crc"]
    halves: dict[str, dict[str, Any]] = {  # as hosts in JavaScript write them
        "content": {"content": "half \ud83d of a pair"},
        "role": {"role": "us\ud83der"},
        "topics": {"metadata": {"topics": ["api \ud83d"]}},
        "id": {"id": "id \ud83d"},
    }
    with path.open("a") as file:
        for name, fields in halves.items():
            file.write(json.dumps({**found, "id": name, **fields}) + "\n")
    given = (hosts.address, "--namespace", hosts.space.name, "--store")
    sent = run("push", *given, str(tmp_path / "from"))
    assert (sent["segments"], sent["problems"]) == (104, [])
    assert run("push", *given, str(tmp_path / "from")) == sent
    assert run("pull", *given, str(tmp_path / "to")) == sent
    with memctx.open(tmp_path / "to", session_id="s1", embedding_model="hash") as memory:
        assert "half \ufffd of a pair" in contents(memory)


def test_lines_that_the_server_lost_or_changed_are_reported(hosts: Hosts, tmp_path: Path) -> None:
    fill(tmp_path / "from")
    given = (hosts.address, "--namespace", hosts.space.name, "--store", str(tmp_path / "from"))
    run("push", *given)
    key = hosts.space.server().session_key("s1")
    for change in (
        "DELETE FROM memctx.segments WHERE session = %s AND seq = 3",
        "UPDATE memctx.segments SET line = replace(line, 'gate', 'door') WHERE session = %s AND seq = 5",
        "DELETE FROM memctx.facts WHERE session = %s",
    ):
        rows(hosts.space.database.superuser_dsn, change, key)
    sent = run("push", *given, code=1)
    assert sent["problems"] == [
        "session 's1': 2 segments did not arrive",
        "session 's1': 1 facts did not arrive",
    ]


def test_the_fleet_is_administered_by_commands(hosts: Hosts, tmp_path: Path) -> None:
    owner = address(hosts.space.database.owner_dsn)
    space = hosts.space.name
    fill(tmp_path / "from")
    run("push", hosts.address, "--namespace", space, "--store", str(tmp_path / "from"))
    assert run("fleet", "migrate", owner)["version_before"] >= 1
    assert run("fleet", "verify", hosts.address, "--namespace", space)["problems"] == []
    assert run("fleet", "status", owner)
    assert run("fleet", "erase", owner, "--namespace", space, "--session", "s1") == {
        "is_done": False
    }
    erased = run("fleet", "erase", owner, "--namespace", space, "--session", "s1", "--yes")
    assert (erased["segments"], erased["facts"]) == (50, 1)
    assert run("fleet", "gc", owner, "--older-than", "30") == {"is_done": False}
    assert run("fleet", "gc", owner, "--older-than", "30", "--yes")["is_done"]
    came = run("pull", hosts.address, "--namespace", space, "--store", str(tmp_path / "to"))
    assert (came["sessions"], came["segments"]) == (1, 50)
    made = run(
        "fleet",
        "add",
        owner,
        f"{space} two",
        "--role",
        f"{hosts.space.role}_two",
        "--create-role",
        given="a-password\n",
    )
    assert made["role"].endswith("_two")
    assert run("fleet", "erase", owner, "--namespace", f"{space} two", "--yes")["is_done"]


def test_a_wrong_address_is_one_line(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["fleet", "status", "postgresql://127.0.0.1:1/none"])
    assert result.exit_code == 3
    assert "no connection" in result.stderr
    result = CliRunner().invoke(main, ["pull", "not an address", "--store", str(tmp_path)])
    assert result.exit_code == 2
