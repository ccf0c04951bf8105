"""The resident helper in processes of its own, over real sockets."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

import process
from memctx.serve import client

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Launch = Callable[..., subprocess.Popen[str]]

SPOKEN: dict[str, Any] = {"host": "pi", "project": "/src/shop", "conversation": "c1"}
FACT = "The payment webhook of the shop listens on port 8443"


def connect(root: str, seconds: float = 20) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(seconds)
    connection.connect(client.socket_path(root))
    return connection


def exchange(root: str, sent: bytes) -> dict[str, Any]:
    with connect(root) as connection, connection.makefile("rb") as answers:
        connection.sendall(sent)
        return cast("dict[str, Any]", json.loads(answers.readline()))


def wait_for(condition: Callable[[], object], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_hook_is_answered(launch: Launch, root: str) -> None:
    launch()
    params: dict[str, Any] = {
        "host": "claude-code",
        "event": "Stop",
        "payload": {"prompt": "héllo"},
    }
    stdout = f"claude-code Stop {client.store_root(root)} héllo"
    assert client.ask("hook", params, root=root) == {"stdout": stdout, "exit_code": 2}


def test_archived_messages_are_recalled_and_found_by_tools(launch: Launch, root: str) -> None:
    launch()
    said = [{"role": "user", "content": FACT}]
    archived = client.ask("archive", SPOKEN | {"messages": said}, root=root)
    assert archived == {"added": 1, "duplicates": 0, "skipped": 0, "reasons": {}}
    asked = [{"role": "user", "content": "Which port has the payment webhook of the shop?"}]
    prepared = client.ask("prepare", SPOKEN | {"messages": asked, "window": 200_000}, root=root)
    assert prepared is not None
    assert "8443" in json.dumps(prepared["messages"])
    arguments = {"query": "port of the webhook"}
    found = client.ask(
        "tool", SPOKEN | {"name": "memory_search", "arguments": arguments}, root=root
    )
    assert found is not None
    assert not found["is_error"]
    assert "8443" in json.dumps(found["data"])


def test_conversations_do_not_see_each_other(launch: Launch, root: str) -> None:
    launch()
    client.ask("archive", SPOKEN | {"messages": [{"role": "user", "content": FACT}]}, root=root)
    other = SPOKEN | {"conversation": "c2", "name": "memory_search"}
    found = client.ask("tool", other | {"arguments": {"query": "port of the webhook"}}, root=root)
    assert found is not None
    assert "8443" not in json.dumps(found["data"])
    status = client.ask("status", root=root)
    assert status is not None
    assert status["sessions"] == ["pi/src/shop/c1", "pi/src/shop/c2"]  # kept open


def test_a_conversation_keeps_its_window(launch: Launch, root: str) -> None:
    launch()
    long = [{"role": "user", "content": f"Parcel {number}. " * 300} for number in range(40)]
    for window in (8_000, None):
        params: dict[str, Any] = SPOKEN | {"messages": long}
        params |= {} if window is None else {"window": window}
        found = client.ask("prepare", params, 60, root=root)
        assert found is not None
        assert found["report"]["trimmed"]
        assert client.ask("tool", SPOKEN | {"name": "memory_status"}, 60, root=root)


def test_stores_have_helpers_of_their_own(launch: Launch, tmp_path: Path) -> None:
    roots = [str(tmp_path / name) for name in ("one", "two")]
    children = [launch(root) for root in roots]
    for root, child in zip(roots, children, strict=True):
        status = client.ask("hello", root=root)
        assert status is not None
        assert (status["pid"], status["store"]) == (child.pid, root)


def test_socket_and_folder_are_private(launch: Launch, root: str, runtime: Path) -> None:
    launch()
    path = Path(client.socket_path(root))
    assert path.parent == runtime / "memctx"
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert {stat.S_IMODE(each.stat().st_mode) & 0o077 for each in path.parent.iterdir()} == {0}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_folder_that_others_can_enter_is_not_used(launch: Launch, root: str) -> None:
    launch()
    folder = Path(client.socket_path(root)).parent
    assert client.ask("hello", root=root)
    folder.chmod(0o755)
    assert client.ask("hello", root=root) is None
    assert not client.start(root)
    child = launch(f"{root}-2")
    assert child.wait(20) == 1


def test_a_link_in_place_of_the_folder_is_not_followed(root: str, runtime: Path) -> None:
    (runtime / "elsewhere").mkdir(mode=0o700)
    (runtime / "memctx").symlink_to(runtime / "elsewhere")
    assert not client.start(root)
    assert client.ask("hello", root=root) is None


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (b"\xff\xfe garbage\n", "invalid"),
        (b"[]\n", "invalid"),
        (b"[" * 100_000 + b"\n", "invalid"),
        (b'{"id":1,"method":"hello"}\n', "version"),
        (b'{"version":2,"id":1,"method":"hello"}\n', "version"),
        (b'{"version":1,"id":1,"method":"hello","store":"/other"}\n', "store"),
        (b'{"version":1,"id":1,"method":"nothing"}\n', "unknown_method"),
        (b'{"version":1,"id":1,"method":["hello"]}\n', "unknown_method"),
        (b'{"version":1,"id":1,"method":"hook","params":7}\n', "invalid"),
        (b'{"version":1,"id":1,"method":"hook","params":{}}\n', "invalid"),
        (b'{"version":1,"id":1,"method":"archive","params":{"messages":"x"}}\n', "invalid"),
        (b'{"version":1,"id":1,"method":"prepare","params":{"messages":[]}}\n', "invalid"),
    ],
)
def test_bad_requests_are_refused(launch: Launch, root: str, request_: bytes, code: str) -> None:
    launch()
    assert exchange(root, request_)["error"]["code"] == code
    assert client.ask("hello", root=root)


def test_wrong_settings_of_a_request_are_named(launch: Launch, root: str) -> None:
    launch()
    params: dict[str, Any] = SPOKEN | {"messages": [], "window": -1}
    response = client.request("prepare", params, root=root)
    assert response is not None
    assert response["error"] == {
        "code": "invalid",
        "message": "window is no number of tokens of at least 1",
    }
    assert client.ask("prepare", params, root=root) is None


def test_too_long_a_line_ends_its_connection_alone(launch: Launch, root: str) -> None:
    launch()
    with connect(root) as connection, connection.makefile("rb") as answers:
        with suppress(BrokenPipeError, ConnectionResetError):  # it reads no more than it must
            connection.sendall(b"x" * 1_300_000)
        assert json.loads(answers.readline())["error"]["code"] == "too_large"
        with suppress(ConnectionResetError):  # it had not read all
            assert answers.readline() == b""
    assert client.ask("hello", root=root)


def test_one_connection_carries_many_requests(launch: Launch, root: str) -> None:
    launch()
    with connect(root) as connection, connection.makefile("rb") as answers:
        lines = [{"version": 1, "id": number, "method": "status"} for number in range(20)]
        connection.sendall("".join(f"{json.dumps(line)}\n" for line in lines).encode())
        found = [json.loads(answers.readline()) for _ in lines]
    assert [each["id"] for each in found] == list(range(20))
    assert [each["result"]["requests"] for each in found] == list(range(20))


def test_failures_of_a_hook_are_answered_without_their_text(launch: Launch, root: str) -> None:
    launch()
    params: dict[str, Any] = {"host": "pi", "event": "Crash", "payload": {}}
    response = client.request("hook", params, root=root)
    assert response is not None
    assert response["error"] == {"code": "internal", "message": "memory failed; see its log"}


@pytest.mark.timing
def test_fifty_clients_at_once(launch: Launch, root: str) -> None:
    launch()

    def ask(number: int) -> dict[str, Any] | None:
        payload = {"prompt": number, "seconds": 0.2}
        return client.ask(
            "hook", {"host": "pi", "event": "Prompt", "payload": payload}, 30, root=root
        )

    began = time.monotonic()
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(ask, range(50)))
    assert [answer and answer["stdout"].split()[-1] for answer in answers] == list(
        map(str, range(50))
    )
    assert time.monotonic() - began < 50 * 0.2  # not one after the other


def test_fifty_clients_archive_at_once(launch: Launch, root: str) -> None:
    launch()

    def archive(number: int) -> dict[str, Any] | None:
        messages = [{"role": "user", "content": f"Parcel {number} went to gate {number + 100}"}]
        spoken = SPOKEN | {"conversation": f"c{number % 5}", "messages": messages}
        return client.ask("archive", spoken, 60, root=root)

    with ThreadPoolExecutor(50) as pool:
        assert all(found and found["added"] == 1 for found in pool.map(archive, range(50)))


@pytest.mark.timing
def test_a_client_does_not_wait_longer_than_it_said(launch: Launch, root: str) -> None:
    launch()
    began = time.monotonic()
    params: dict[str, Any] = {"host": "pi", "event": "Prompt", "payload": {"seconds": 5}}
    assert client.ask("hook", params, 0.2, root=root) is None
    assert time.monotonic() - began < 2
    assert client.ask("hello", root=root)


def test_a_killed_client_leaves_the_helper_alone(launch: Launch, root: str) -> None:
    launch()
    params: dict[str, Any] = {"host": "pi", "event": "Prompt", "payload": {"seconds": 0.5}}
    program = f"from memctx.serve import client; client.ask('hook', {params!r}, root={root!r})"
    child = process.start([sys.executable, "-c", program])
    wait_for(lambda: (client.ask("status", root=root) or {})["requests"] > 2)
    child.kill()
    process.finish(child, status=-signal.SIGKILL)
    with connect(root) as connection:
        connection.sendall(b'{"version":1,')  # and gone in the middle of a line
    time.sleep(0.6)
    assert client.ask("hello", root=root)


def test_a_killed_helper_leaves_nothing_in_the_way(launch: Launch, root: str) -> None:
    child = launch()
    client.ask("archive", SPOKEN | {"messages": [{"role": "user", "content": FACT}]}, root=root)
    child.kill()
    child.wait(20)
    assert Path(client.socket_path(root)).exists()  # stale
    assert client.ask("hello", root=root) is None
    launch()
    arguments = {"query": "port of the webhook"}
    found = client.ask(
        "tool", SPOKEN | {"name": "memory_search", "arguments": arguments}, root=root
    )
    assert "8443" in json.dumps(found)


def test_a_helper_that_dies_in_a_call_is_no_answer(launch: Launch, root: str) -> None:
    launch()
    params: dict[str, Any] = {"host": "pi", "event": "Exit", "payload": {}}
    assert client.ask("hook", params, root=root) is None
    assert client.ask("hello", root=root) is None


def test_a_second_helper_leaves_at_once(launch: Launch, root: str) -> None:
    first, second = launch(), launch()
    assert vars(second)["said"] == "already running"
    assert second.wait(20) == 0
    status = client.ask("hello", root=root)
    assert status is not None
    assert status["pid"] == first.pid


def test_an_idle_helper_exits(launch: Launch, root: str) -> None:
    child = launch(idle=0.5)
    with connect(root) as connection:  # a connection without requests is no use of it
        assert child.wait(20) == 0
        assert connection.recv(1) == b""
    assert not Path(client.socket_path(root)).exists()


@pytest.mark.slow
def test_requests_keep_a_helper_running(launch: Launch, root: str) -> None:
    child = launch(idle=1.0)
    params: dict[str, Any] = {"host": "pi", "event": "Prompt", "payload": {"seconds": 1.6}}
    assert client.ask("hook", params, root=root)
    for _ in range(4):
        time.sleep(0.4)
        assert client.ask("hello", root=root)
    assert child.poll() is None


@pytest.mark.parametrize("how", ["stop", "SIGTERM", "SIGINT"])
def test_a_helper_answers_what_has_begun_before_it_stops(
    launch: Launch, root: str, how: str
) -> None:
    child = launch()
    answers: list[dict[str, Any] | None] = []
    params: dict[str, Any] = {"host": "pi", "event": "Prompt", "payload": {"seconds": 0.7}}
    asking = threading.Thread(target=lambda: answers.append(client.ask("hook", params, root=root)))
    asking.start()
    time.sleep(0.3)
    if how == "stop":
        assert client.ask("stop", root=root)
    else:
        child.send_signal(getattr(signal, how))
    asking.join(20)
    assert child.wait(20) == 0
    assert answers[0] is not None
    assert not Path(client.socket_path(root)).exists()
    assert client.ask("hello", root=root) is None


def test_a_started_helper_serves_the_next_call(root: str) -> None:
    assert client.start(root)
    assert not client.start(root)  # not twice within a short time
    try:
        wait_for(lambda: client.ask("hello", root=root))
        status = client.ask("hello", root=root)
        assert status is not None
        assert status["pid"] != os.getpid()
        assert os.getsid(status["pid"]) == status["pid"]  # a signal to the host's group misses it
        assert Path(f"/proc/{status['pid']}/cwd").resolve() in {
            Path("/"),
            Path(f"/proc/{status['pid']}/cwd"),
        }
    finally:
        assert client.ask("stop", root=root)


@pytest.mark.timing
def test_a_starter_does_not_wait_and_leaves_no_pipe_open(root: str) -> None:
    program = f"""
import os, time
from memctx.serve import client
os.set_inheritable(1, True)
print("answer", flush=True)
began = time.monotonic()
assert client.start({root!r})
assert time.monotonic() - began < 0.2
"""
    child = process.run([sys.executable, "-c", program])  # returns when stdout is closed by all
    assert child.stdout == "answer\n"
    wait_for(lambda: client.ask("stop", root=root))


def run_command(root: str, *options: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "memctx", "serve", "--store", root, "--json", *options]
    return cast("dict[str, Any]", json.loads(process.run(command).stdout))


def test_the_command_starts_and_stops_it(root: str) -> None:
    first = run_command(root, "--background")
    again = run_command(root, "--background")
    assert first["helper"]["pid"] == again["helper"]["pid"]
    assert (first["state"], first["socket"]) == ("serving", client.socket_path(root))
    assert run_command(root)["state"] == "already running"
    assert run_command(root, "--stop")["state"] == "stopped"
    assert run_command(root, "--stop")["state"] == "not running"


def test_the_command_serves_in_the_foreground(root: str) -> None:
    assert run_command(root, "--idle", "0")["state"] == "stopped"


def test_the_environment_switches_it_off(
    launch: Launch, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    launch()
    assert client.ask("hello", root=root)
    monkeypatch.setenv("MEMCTX_SERVE", "off")
    assert client.ask("hello", root=root) is None
    assert not client.start(root)


def test_other_settings_and_builds_have_other_helpers(
    root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = client.socket_path(root)
    monkeypatch.setenv("MEMCTX_STORAGE_PATH", root)
    assert client.socket_path() == path
    monkeypatch.setenv("MEMCTX_REDACTION", "off")
    other = client.socket_path(root)
    monkeypatch.setattr(client, "_build", lambda: "another")
    assert len({path, other, client.socket_path(root), client.socket_path(f"{root}-2")}) == 4


def test_a_long_runtime_folder_is_not_used(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", f"/run/{'x' * 100}")
    path = client.socket_path(root)
    assert path.startswith(f"/tmp/memctx-{os.getuid()}/")  # noqa: S108 - never made here
