"""Regressions against OpenClaw's plugin: one test for each failure of its store."""

from __future__ import annotations

import json
import random
import signal
import string
import subprocess
import sys
import textwrap
import time
from typing import TYPE_CHECKING

import numpy as np
import pytest

import memctx
import process
from memctx import facts as knowledge
from memctx.lowlevel import Store, StoreOptions, vmem

if TYPE_CHECKING:
    from pathlib import Path

    from memctx import Memory

LATER = 4_000_000_000_000.0
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and limits of POSIX")


def opened(folder: Path, session_id: str = "s1", **settings: object) -> Memory:
    return memctx.open(folder, session_id=session_id, **settings)  # type: ignore[arg-type]


def user(*texts: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text} for text in texts]


def test_01_words_are_found_without_a_vector(tmp_path: Path) -> None:
    """OpenClaw's plugin embeds the query first, and when that fails the whole search fails, BM25 and all.

    Here the model asked for may be missing, and a query may have no vector at all; the words still count.
    """
    with opened(tmp_path, embedding_model="transformer:/nowhere") as memory:
        memory.archive(user("The webhook listens on port 8443", "We deploy on Friday"))
        assert memory.search("port 8443")[0].segment.content.endswith("8443")
        for query in ("", "???", "\0", "!" * 5000):
            assert memory.search(query) == []
        assert memory.health()["embedding"]["used"] == "hash"


def test_02_a_segment_without_vector_is_not_near_everything(tmp_path: Path) -> None:
    """OpenClaw's plugin stores a failed embedding as a vector of zeros, which then counts as one.

    A text without a letter has no direction: no search finds it by one.
    """
    store = Store(tmp_path, StoreOptions(session_id="s1"))
    store.add([("tool", "!!! ??? ---", LATER, None), ("user", "We deploy on Friday", LATER, None)])
    for query in ("deploy on Friday", "something else entirely", "???"):
        assert "!!! ??? ---" not in [hit.segment.content for hit in store.search(query)]
    store.close()
    ids = {
        segment.content: segment.id
        for segment in Store(tmp_path, StoreOptions(session_id="s1")).segments()
    }
    kept, vectors = vmem.read(tmp_path / "vectors.bin")
    norms = dict(zip(kept, np.linalg.norm(vectors, axis=1), strict=True))
    assert norms[ids["We deploy on Friday"]] == pytest.approx(1)


WRITER = """
    import sys, memctx
    for number in range(10**9):
        store = memctx.lowlevel.Store(sys.argv[1], memctx.lowlevel.StoreOptions(session_id="s1", durability="os"))
        store.add([("user", f"{sys.argv[2]} says {number} {part}", None, None) for part in range(40)])
        store.snapshot()
        if number == 0:
            print("ready", flush=True)
"""


@posix
def test_03_vectors_are_never_half_written(tmp_path: Path) -> None:
    """OpenClaw's plugin rewrites ``vectors.bin`` in place, so a crash leaves a torn one, which it reads without a word.

    Killed while it writes them again and again, there is always a file with every vector that its header counts.
    """
    chance = random.Random(3)  # noqa: S311 - no secret
    for number in range(8):
        command = [sys.executable, "-c", textwrap.dedent(WRITER), str(tmp_path), f"writer {number}"]
        with process.start(command, stdout=subprocess.PIPE, stderr=None) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(chance.uniform(0, 0.15))
            writer.send_signal(signal.SIGKILL)
        data = (tmp_path / "vectors.bin").read_bytes()
        ids, vectors = vmem.read(tmp_path / "vectors.bin")
        assert len(ids) == len(vectors) == int.from_bytes(data[12:16], "little") >= 40
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)
    store = Store(tmp_path, StoreOptions(session_id="s1"))
    assert store.health()["faults"] == []
    assert store.search("writer says")


def test_04_every_segment_gets_its_vector(tmp_path: Path) -> None:
    """OpenClaw's plugin makes no hash vectors of archived text: ``vectors.bin`` stays empty, search is BM25 only."""
    with opened(tmp_path, embedding_model="hash") as memory:
        memory.archive(user("The payment webhook listens on port 8443", "We deploy on Friday"))
        hits = memory.search("webhooks for payments")  # no word of it is in the text
        assert hits[0].segment.content.startswith("The payment webhook")
        assert hits[0].vector > 0.2
    with opened(tmp_path, embedding_model="hash") as memory:
        ids = [segment.id for segment in memory.store.segments()]
        assert vmem.read(tmp_path / "vectors.bin")[0] == ids
        assert memory.health()["vectors"] == "2 loaded"


def test_05_near_duplicates_do_not_fill_the_results(tmp_path: Path) -> None:
    """OpenClaw's diversity pass is given as many candidates as it may return, so it changes nothing."""
    store = Store(tmp_path, StoreOptions(session_id="s1"))
    alike = [f"The deploy of the payment service failed again, attempt {n}" for n in range(8)]
    other = "Payment service deploy failed: the certificate of the registry has expired"
    rest = [
        f"The {thing} of Tuesday went well" for thing in ("newsletter", "deploy", "payment", "talk")
    ]
    store.add([("user", text, LATER, None) for text in [*alike, other, *rest]])
    query = "deploy of the payment service failed"
    hits = store.search(query, limit=20)
    by_itself = sorted(hits, key=lambda hit: 0.8 * hit.bm25 + 0.2 * hit.vector, reverse=True)
    ranked = [hit.segment.content for hit in by_itself]
    assert ranked.index(other) >= len(alike)
    assert other in [hit.segment.content for hit in store.search(query, limit=3)]


def test_14_an_id_that_occurs_twice_is_one_segment(tmp_path: Path) -> None:
    """OpenClaw's plugin lists it twice: the later line replaces the earlier, and stands in the time line too."""
    segment = {"id": "a", "sessionId": "s1", "timestamp": LATER, "role": "user", "content": ""}
    said = [("a", "first words"), ("b", "words between"), ("a", "last words")]
    lines = [json.dumps({**segment, "id": name, "content": content}) for name, content in said]
    (tmp_path / "segments.jsonl").write_text("\n".join(lines) + "\n")
    store = Store(tmp_path, StoreOptions(session_id="s1"))
    assert [segment.content for segment in store.segments()] == ["words between", "last words"]
    assert len(store) == 2
    found = store.get("a")
    assert found is not None
    assert found.content == "last words"
    assert [segment.content for segment in store.neighbors("b", 5)] == ["last words"]
    assert sorted(hit.segment.id for hit in store.search("words", limit=9, window=3)) == ["a", "b"]


def test_15_a_segment_has_the_time_of_its_message(tmp_path: Path) -> None:
    """OpenClaw's plugin stamps everything with the moment it is archived, so a whole conversation is of one age."""
    moment = time.time() * 1000 - 86_400_000
    with opened(tmp_path) as memory:
        message = {"role": "user", "content": "We deploy on Friday", "timestamp": moment}
        memory.archive([message])
        (segment,) = memory.store.segments()
        assert segment.timestamp == pytest.approx(moment, abs=1)
        assert memory.search("deploy", filter=memctx.SearchFilter(until=moment + 1))
        assert not memory.search("deploy", filter=memctx.SearchFilter(since=moment + 1000))


LIMITED = """
    import json, resource, signal, sys, memctx
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    memory = memctx.open(sys.argv[1], session_id="s1")
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    messages = [{"role": "user", "content": "deploy the payment service " * 100}]
    raised = []
    for attempt in range(2):
        try:
            memory.archive(messages)
        except (memctx.StoreError, OSError) as fault:
            raised.append(type(fault).__name__)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    archived = memory.archive(messages)
    print(json.dumps([len(raised), archived.added, archived.duplicates]))
"""


@posix
def test_16_a_failed_append_is_reported_and_does_not_stop_the_next(tmp_path: Path) -> None:
    """OpenClaw's plugin drops the error, calls the record archived from then on, and never writes again.

    That the file grows for ever has no answer yet but this: what is known already adds nothing to it.
    """
    command = [sys.executable, "-c", textwrap.dedent(LIMITED), str(tmp_path)]
    done = process.run(command)
    assert json.loads(done.stdout) == [2, 1, 0]
    size = (tmp_path / "segments.jsonl").stat().st_size
    for _ in range(3):
        with opened(tmp_path) as memory:
            again = memory.archive(user("deploy the payment service " * 100))
            assert (again.added, again.duplicates) == (0, 1)
    assert (tmp_path / "segments.jsonl").stat().st_size == size


def test_18_secrets_do_not_reach_the_disk_and_look_alikes_do(tmp_path: Path) -> None:
    """OpenClaw's six patterns miss three secrets of four, and wipe hashes and long names instead."""
    chance = random.Random(18)  # noqa: S311 - no secret
    letters = string.ascii_letters + string.digits

    def drawn(length: int) -> str:
        return "".join(chance.choices(letters, k=length))

    secrets = [drawn(36), drawn(40), drawn(24), drawn(20)]
    said = [
        f"push with ghp_{secrets[0]} please",
        f"aws_secret_access_key = {secrets[1]}",
        f"DATABASE_URL=postgres://app:{secrets[2]}@db.internal:5432/app",
        f"Authorization: Basic {secrets[3]}==",
    ]
    kept = [
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 broke it",
        "see src/" + "components/payment/webhook/handlers/" * 3 + "index.ts",
        "the function " + "resolve_payment_webhook_" * 4 + "handler is slow",
    ]
    with opened(tmp_path) as memory:
        assert memory.archive(user(*said, *kept)).added == len(said) + len(kept)
        assert memory.store.snapshot()
        stored = [segment.content for segment in memory.store.segments()]
    assert stored[len(said) :] == kept
    on_disk = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    for secret in secrets:
        assert secret.encode() not in on_disk


def test_19_a_session_sees_nothing_of_another(tmp_path: Path) -> None:
    """OpenClaw's plugin shares what it learned among all sessions, asked to or not; here neither segments nor facts."""
    with opened(tmp_path, "theirs") as theirs:
        (foreign,) = theirs.archive(user("The code word of the others is heron")).ids
    with opened(tmp_path, "ours") as ours:
        assert ours.search("code word heron") == []
        assert (
            ours.search(
                "code word heron", filter=memctx.SearchFilter(session_id="theirs"), window=5
            )
            == []
        )
        assert ours.store.get(foreign) is None
        assert ours.store.neighbors(foreign, 5) == []
        assert list(ours.store.segments()) == []
        assert ours.store.sessions() == []
        assert (ours.stats()["segments"], ours.stats()["sessions"], len(ours.store)) == (0, 0, 0)
        added = ours.archive(user("The code word of the others is heron"))
        assert (added.added, added.duplicates) == (1, 0)
        (hit,) = ours.search("code word heron", window=5)
        assert hit.segment.session_id == "ours"
    with opened(tmp_path, "all", cross_session=True) as everyone:
        assert len(everyone.search("code word heron")) == 2


def test_19_a_session_knows_no_fact_of_another_unless_asked_to(tmp_path: Path) -> None:
    with opened(tmp_path, "theirs") as theirs:
        foreign = theirs.facts.add("config", "The payment webhook listens on port 8443")
    question = user("Which port does the payment webhook listen on?")
    with opened(tmp_path, "ours") as ours:
        assert ours.facts.search("payment webhook port") == []
        assert ours.facts.get(foreign.id) is None
        assert ours.facts.history(foreign.id) == []
        assert ours.facts.list(include_superseded=True) == []
        assert "8443" not in str(ours.prepare(question).messages)
        with pytest.raises(memctx.ConfigError, match="active fact of this session"):
            ours.facts.forget(foreign.id)
    with opened(tmp_path, "all", cross_session=True) as everything:
        (found,) = everything.facts.search("payment webhook port")
        assert found.fact.id == foreign.id
        assert "8443" in str(everything.prepare(question).messages)


def test_11_a_corrected_value_is_never_taken_for_a_repetition(tmp_path: Path) -> None:
    """OpenClaw's plugin counts shared words: three of five make "port is 8080" a repetition of "port is 3000"."""
    with opened(tmp_path) as memory:
        knowledge.update(memory.facts.store, [knowledge.CandidateFact("config", "port is 3000")])
        (op,) = knowledge.update(
            memory.facts.store, [knowledge.CandidateFact("config", "port is 8080")]
        )
        assert op.action == "supersede"
        (fact,) = memory.facts
        assert fact.content == "port is 8080"
        assert memory.facts.history(fact.id)[0].content == "port is 3000"


def test_11_later_items_of_a_batch_see_the_earlier_ones(tmp_path: Path) -> None:
    """OpenClaw's plugin plans a whole batch against the facts as they were before it."""
    said = [
        "The API listens on port 3000",
        "The API listens on port 3000, behind nginx, TLS only",
        "The API listens on port 8080, behind nginx, TLS only",
    ]
    with opened(tmp_path) as memory:
        drafts = [knowledge.CandidateFact("config", text) for text in said]
        ops = knowledge.update(memory.facts.store, drafts)
        assert [op.action for op in ops] == ["add", "update", "supersede"]
        assert [fact.content for fact in memory.facts] == [said[-1]]


def test_12_one_fact_alone_is_found(tmp_path: Path) -> None:
    """In OpenClaw's plugin every word of the only fact there is has no weight."""
    with opened(tmp_path) as memory:
        fact = memory.facts.add("decision", "Use Valkey for the session cache")
        assert [hit.fact.id for hit in memory.facts.search("session cache")] == [fact.id]
        assert memory.facts.search("payment webhook") == []
        turn = memory.prepare(user("What did we choose for the session cache?"))
        assert "- [decision] Use Valkey for the session cache" in str(turn.messages)


def test_20_another_model_of_the_same_length_is_noticed(tmp_path: Path) -> None:
    """OpenClaw's plugin compares lengths only, and ranks with the vectors of a model that is no longer there."""
    with opened(tmp_path, embedding_model="hash") as memory:
        memory.archive(user("The payment webhook listens on port 8443", "We deploy on Friday"))
        wanted = [hit.vector for hit in memory.search("webhooks for payments")]
    ids, vectors = vmem.read(tmp_path / "vectors.bin")
    vmem.write(tmp_path / "vectors.bin", ids, -vectors)
    stamp = json.loads((tmp_path / "vectors.json").read_text())
    (tmp_path / "vectors.json").write_text(
        json.dumps({**stamp, "model": "another of the same length"})
    )
    before = (tmp_path / "vectors.bin").read_bytes()
    with opened(tmp_path) as memory:
        assert [hit.vector for hit in memory.search("webhooks for payments")] == wanted
        assert "another of the same length" in memory.health()["vectors"]
    assert (tmp_path / "vectors.bin").read_bytes() == before
