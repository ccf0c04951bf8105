"""Processes die, fork, end, and share a session: no batch is lost, and at most the one in flight is asked again."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from memctx.extraction.election import Seat

from .places import LONG, Model, Place, child, flushed, text, until

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and forks of POSIX")

# Archives and extracts until it is killed, and says what it archived and what it asked.
HOST = """
    import os, sys
    from pathlib import Path
    from extraction.places import Model, Place, text

    def tell(word, said):
        os.write(1, f"{word} {said}\\n".encode())  # one write, for two threads speak

    folder, first, seconds = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])

    class Telling(Model):
        async def extract(self, request):
            for message in request.messages:
                tell("ask", message.text)
            return await super().extract(request)

    place = Place(folder)
    extraction = place.open(Telling(seconds=seconds), fewest_messages=3)
    print("ready", flush=True)
    for number in range(first, first + 1000):
        place.say(number)
        tell("ack", text(number))
        extraction.wake()
        if number % 7 == 0:
            extraction.flush()
"""


def lines_of(process: subprocess.Popen[str]) -> list[str]:
    assert process.stdout is not None
    return process.stdout.read().split("\n")[:-1]


def killed(folder: Path, rounds: int, seed: int) -> tuple[int, Counter[str]]:
    """Kill a host at any moment, again and again; what was acknowledged, and how often each message was asked about."""
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
    place = Place(folder)
    done = flushed(place.open(model := Model(), fewest_messages=3))
    asked.update(model.texts)
    assert done.is_complete
    facts = Counter(place.contents())
    place.close()
    assert not [said for said in acked if not facts[said]], "archived and never extracted from"
    assert max(facts.values()) == 1, "a fact is there twice"
    return len(acked), asked


@posix
def test_a_killed_process_loses_no_batch(tmp_path: Path) -> None:
    rounds = 6
    acked, asked = killed(tmp_path / "store", rounds, seed=1)
    assert acked > 50
    assert max(asked.values()) <= rounds + 1


@posix
def test_only_the_batch_in_flight_is_asked_again(tmp_path: Path) -> None:
    """Killed in the midst of the third call: the first two are not repeated."""
    code = """
        import sys, os, signal
        from pathlib import Path
        from extraction.places import Model, Place, flushed
        class Killing(Model):
            async def extract(self, request):
                if len(self.requests) == 2:
                    os.kill(os.getpid(), signal.SIGKILL)
                return await super().extract(request)
        place = Place(Path(sys.argv[1]))
        extraction = place.open(Killing(), batch_chars=100)
        place.say(*range(5))
        flushed(extraction)
    """
    process = child(code, tmp_path / "store")
    process.communicate(timeout=LONG)
    assert process.returncode == -signal.SIGKILL
    place = Place(tmp_path / "store")
    assert flushed(place.open(model := Model(), batch_chars=100)).is_complete
    assert model.texts == [text(2), text(3), text(4)]
    assert place.contents() == [text(number) for number in range(5)]
    place.close()


@posix
@pytest.mark.slow
@pytest.mark.crash
@pytest.mark.timeout(600)
def test_nor_in_a_hundred_rounds(tmp_path: Path) -> None:
    acked, _ = killed(tmp_path / "store", rounds=100, seed=2)
    assert acked > 500


WAITING = """
    import sys
    from pathlib import Path
    from extraction.places import Model, Place, until
    place = Place(Path(sys.argv[1]))
    model = Model(seconds=float(sys.argv[2]))
    extraction = place.open(model, fewest_messages=1)
    place.say(1)
    extraction.wake()
    until(lambda: model.requests)
    print("asked", flush=True)
    {end}
"""


@posix
def test_one_of_two_processes_works_and_the_other_takes_over(place: Place) -> None:
    process = child(WAITING.format(end="sys.stdin.read()"), place.folder, LONG)
    assert process.stdout is not None
    assert process.stdout.readline() == "asked\n"
    extraction = place.open(model := Model(), fewest_messages=1)
    place.say(2)
    extraction.wake()
    until(lambda: extraction.progress().state == "elsewhere")
    assert not extraction.flush(timeout=0.2).result(5).is_complete
    assert not model.requests
    process.kill()
    process.communicate()
    assert flushed(extraction).is_complete
    assert model.texts == [text(1), text(2)]


@posix
def test_what_another_process_did_is_not_done_again(place: Place) -> None:
    extraction = place.open(model := Model())
    process = child(
        WAITING.format(end="assert extraction.flush().result(10).is_complete"), place.folder, 0.3
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "asked\n"
    assert flushed(extraction).is_complete
    assert not model.requests
    assert process.wait(LONG) == 0, process.communicate()
    process.communicate()
    assert extraction.progress().tally.added == 1
    assert place.contents() == [text(1)]


@posix
@pytest.mark.parametrize("how", ["", "sys.exit(3)", "raise ValueError", "os._exit(0)", "fork"])
def test_an_interpreter_ends_in_the_midst_of_a_call(tmp_path: Path, how: str) -> None:
    """At once, without a word, and with the batch kept."""
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
    place = Place(tmp_path / "store")
    assert flushed(place.open(model := Model())).is_complete
    assert model.texts == [text(1)]
    place.close()


@posix
@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning"
)  # newer Pythons warn of forks beside threads
def test_a_forked_child_leaves_the_work_to_its_parent(place: Place) -> None:
    """And does its own, once the parent is done with its call."""
    extraction = place.open(model := Model(seconds=0.5))
    place.say(1)
    extraction.flush()
    until(lambda: model.requests)
    receive, send = os.pipe()
    if (pid := os.fork()) == 0:
        code = 9
        try:
            place.archive.reopen()
            place.facts.reopen()
            extraction.reopen()
            place.say(2)
            model.seconds = 0
            flush = extraction.flush()
            until(lambda: extraction.progress().state == "elsewhere")
            done = flush.result(LONG)
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
    assert flushed(extraction).is_complete
    assert model.texts == [text(1)]
    assert model.cancelled == 0
    assert sorted(place.contents()) == sorted([text(1), text(2)])


@posix
def test_an_interpreter_does_not_wait_for_an_extractor_that_blocks(tmp_path: Path) -> None:
    code = """
        import sys, time
        from pathlib import Path
        from extraction.places import Place, until
        from memctx.extractors import FunctionExtractor
        asked = []
        def ask(request):
            asked.append(request)
            time.sleep(float(sys.argv[2]))
        place = Place(Path(sys.argv[1]))
        extraction = place.open(FunctionExtractor(ask))
        place.say(1)
        extraction.flush()
        until(lambda: asked)
    """
    process = child(code, tmp_path / "store", LONG)
    start = time.monotonic()
    output = process.communicate(timeout=LONG)
    assert time.monotonic() - start < LONG / 2
    assert (process.returncode, output) == (0, ("", ""))
    place = Place(tmp_path / "store")
    assert flushed(place.open(model := Model())).is_complete
    assert model.texts == [text(1)]
    place.close()


def test_what_was_done_before_the_seat_was_free_is_not_done_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another worker does the batch, and is done, between our look and our turn."""
    slow = place.open(model := Model())
    other = place.open(first := Model())
    real = Seat.take

    def late(seat: Seat) -> bool:
        monkeypatch.setattr(Seat, "take", real)
        assert flushed(other).is_complete
        return real(seat)

    monkeypatch.setattr(Seat, "take", late)
    place.say(1)
    assert flushed(slow).is_complete
    assert (first.texts, model.texts) == ([text(1)], [])
