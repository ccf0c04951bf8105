"""Workers in processes that die, fork, exit and share a session: at most the batch in flight is asked again."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from memctx.facts.worker.worker import SessionLease

from .sessions import LONG, Model, Session, child, text, until, wait

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

pytestmark = pytest.mark.timing  # timeouts of a fraction of a second

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and forks of POSIX")

# Archives and extracts until it is killed, and prints what it archived and what it asked.
HOST = """
    import os, sys
    from pathlib import Path
    from facts.worker.sessions import Model, Session, text

    def report(word, said):
        os.write(1, f"{word} {said}\\n".encode())  # one write, since two threads print

    folder, first, seconds = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])

    class Reporting(Model):
        async def extract(self, request):
            for message in request.messages:
                report("ask", message.text)
            return await super().extract(request)

    session = Session(folder)
    extraction = session.open(Reporting(seconds=seconds), min_messages=3)
    print("ready", flush=True)
    for number in range(first, first + 1000):
        session.say(number)
        report("ack", text(number))
        extraction.notify()
        if number % 7 == 0:
            extraction.wait_for_facts()
"""


def lines_of(process: subprocess.Popen[str]) -> list[str]:
    assert process.stdout is not None
    return process.stdout.read().split("\n")[:-1]


def kill_hosts(folder: Path, rounds: int, seed: int) -> tuple[int, Counter[str]]:
    """Kill hosts at random moments; return the number of acknowledged messages, and how often each was asked about."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    acked: list[str] = []
    asked: Counter[str] = Counter()
    for number in range(rounds):
        process = child(HOST, folder, number * 1000, chance.choice([0, 0.002, 0.02]))
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", process.stderr and process.stderr.read()
        time.sleep(chance.uniform(0, 0.25))
        process.kill()
        for line in lines_of(process):
            word, _, said = line.partition(" ")
            if word == "ack":
                acked.append(said)
            else:
                asked[said] += 1
        process.communicate()
    session = Session(folder)
    done = wait(session.open(model := Model(), min_messages=3))
    asked.update(model.texts)
    assert done.is_complete
    facts = Counter(session.contents())
    session.close()
    assert not [said for said in acked if not facts[said]], "archived and never extracted from"
    assert max(facts.values()) == 1, "a fact is stored twice"
    return len(acked), asked


@posix
@pytest.mark.slow
def test_a_killed_process_loses_no_batch(tmp_path: Path) -> None:
    rounds = 6
    acked, asked = kill_hosts(tmp_path / "store", rounds, seed=1)
    assert acked > 50
    assert max(asked.values()) <= rounds + 1


@posix
def test_only_the_batch_in_flight_is_asked_again(tmp_path: Path) -> None:
    """The process is killed during the third call; the first two are not repeated."""
    code = """
        import sys, os, signal
        from pathlib import Path
        from facts.worker.sessions import Model, Session, wait
        class Killing(Model):
            async def extract(self, request):
                if len(self.requests) == 2:
                    os.kill(os.getpid(), signal.SIGKILL)
                return await super().extract(request)
        session = Session(Path(sys.argv[1]))
        extraction = session.open(Killing(), batch_chars=100)
        session.say(*range(5))
        wait(extraction)
    """
    process = child(code, tmp_path / "store")
    process.communicate(timeout=LONG)
    assert process.returncode == -signal.SIGKILL
    session = Session(tmp_path / "store")
    assert wait(session.open(model := Model(), batch_chars=100)).is_complete
    assert model.texts == [text(2), text(3), text(4)]
    assert session.contents() == [text(number) for number in range(5)]
    session.close()


@posix
@pytest.mark.slow
@pytest.mark.crash
@pytest.mark.timeout(600)
def test_a_hundred_killed_processes_lose_no_batch(tmp_path: Path) -> None:
    acked, _ = kill_hosts(tmp_path / "store", rounds=100, seed=2)
    assert acked > 500


WAITING = """
    import sys
    from pathlib import Path
    from facts.worker.sessions import Model, Session, until
    session = Session(Path(sys.argv[1]))
    model = Model(seconds=float(sys.argv[2]))
    extraction = session.open(model, min_messages=1)
    session.say(1)
    extraction.notify()
    until(lambda: model.requests)
    print("asked", flush=True)
    {end}
"""


@posix
def test_one_process_works_and_another_takes_over(session: Session) -> None:
    process = child(WAITING.format(end="sys.stdin.read()"), session.folder, LONG)
    assert process.stdout is not None
    assert process.stdout.readline() == "asked\n"
    extraction = session.open(model := Model(), min_messages=1)
    session.say(2)
    extraction.notify()
    until(lambda: extraction.progress().state == "elsewhere")
    assert not extraction.wait_for_facts(timeout=0.2).result(5).is_complete
    assert not model.requests
    process.kill()
    process.communicate()
    assert wait(extraction).is_complete
    assert model.texts == [text(1), text(2)]


@posix
def test_batches_of_another_process_are_not_repeated(session: Session) -> None:
    extraction = session.open(model := Model())
    process = child(
        WAITING.format(end="assert extraction.wait_for_facts().result(10).is_complete"),
        session.folder,
        0.3,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "asked\n"
    assert wait(extraction).is_complete
    assert not model.requests
    assert process.wait(LONG) == 0, process.communicate()
    process.communicate()
    assert extraction.progress().counts.added == 1
    assert session.contents() == [text(1)]


@posix
@pytest.mark.parametrize("how", ["", "sys.exit(3)", "raise ValueError", "os._exit(0)", "fork"])
def test_an_interpreter_exits_during_a_call(tmp_path: Path, how: str) -> None:
    """The exit is quick and silent, and the batch stays pending."""
    if how == "fork":
        how = "pid = os.fork(); pid and os.waitpid(pid, 0)"
    process = child(
        "import os\n" + WAITING.format(end=how).replace("\n    ", "\n"), tmp_path / "store", LONG
    )
    start = time.monotonic()
    _, errors = process.communicate(timeout=LONG)
    assert time.monotonic() - start < 10
    assert process.returncode == {"sys.exit(3)": 3, "raise ValueError": 1}.get(how, 0), errors
    assert not errors or how == "raise ValueError"
    assert errors.count("Traceback") <= 1
    session = Session(tmp_path / "store")
    assert wait(session.open(model := Model())).is_complete
    assert model.texts == [text(1)]
    session.close()


@posix
@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning"
)  # newer Pythons warn of forks beside threads
def test_a_forked_child_leaves_extraction_to_its_parent(session: Session) -> None:
    """The child extracts from its own messages once the parent's call is done."""
    extraction = session.open(model := Model(seconds=0.5))
    session.say(1)
    extraction.wait_for_facts()
    until(lambda: model.requests)
    receive, send = os.pipe()
    if (pid := os.fork()) == 0:
        code = 9
        try:
            session.archive.reopen()
            session.facts.reopen()
            extraction.reopen()
            session.say(2)
            model.seconds = 0
            future = extraction.wait_for_facts()
            until(lambda: extraction.progress().state == "elsewhere")
            done = future.result(LONG)
            os.write(send, repr((done.is_complete, model.texts[1:])).encode())
            extraction.close()
            code = 0
        finally:
            os._exit(code)
    os.close(send)
    with os.fdopen(receive) as pipe:
        said = pipe.read()
    assert os.waitpid(pid, 0)[1] == 0
    assert said == repr((True, [text(2)]))
    assert wait(extraction).is_complete
    assert model.texts == [text(1)]
    assert model.cancelled == 0
    assert sorted(session.contents()) == sorted([text(1), text(2)])


@posix
def test_an_interpreter_exits_while_an_extractor_blocks(tmp_path: Path) -> None:
    code = """
        import sys, time
        from pathlib import Path
        from facts.worker.sessions import Session, until
        from memctx.facts.extractors import FunctionExtractor
        asked = []
        def ask(request):
            asked.append(request)
            time.sleep(float(sys.argv[2]))
        session = Session(Path(sys.argv[1]))
        extraction = session.open(FunctionExtractor(ask))
        session.say(1)
        extraction.wait_for_facts()
        until(lambda: asked)
    """
    process = child(code, tmp_path / "store", LONG)
    start = time.monotonic()
    output = process.communicate(timeout=LONG)
    assert time.monotonic() - start < LONG / 2
    assert (process.returncode, output) == (0, ("", ""))
    session = Session(tmp_path / "store")
    assert wait(session.open(model := Model())).is_complete
    assert model.texts == [text(1)]
    session.close()


def test_batches_done_before_the_lease_was_free_are_not_repeated(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another worker processes the batch between our look at the log and our lease."""
    slow = session.open(model := Model())
    other = session.open(first := Model())
    real = SessionLease.acquire

    def late(lease: SessionLease) -> bool:
        monkeypatch.setattr(SessionLease, "acquire", real)
        assert wait(other).is_complete
        return real(lease)

    monkeypatch.setattr(SessionLease, "acquire", late)
    session.say(1)
    assert wait(slow).is_complete
    assert (first.texts, model.texts) == ([text(1)], [])
