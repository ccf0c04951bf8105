"""`FactStore` through its Python interface: changes, history, visibility, arguments."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from memctx import ConfigError, StoreError
from memctx.lowlevel import FactStore

from . import crowd

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Opener

QUESTION = "Which port has the webhook?"


def ids(facts: list[Any]) -> list[str]:
    return [fact.id for fact in facts]


def test_a_fact_has_all_its_attributes(opened: Opener) -> None:
    fact = opened().add(
        "config", " Port 8443 ", context="set-up", sources=("a", "b"), id="f1", timestamp=1.5e12
    )
    assert (fact.id, fact.type, fact.content, fact.context) == (
        "f1",
        "config",
        "Port 8443",
        "set-up",
    )
    assert (fact.timestamp, fact.session_id, fact.sources) == (1.5e12, "s", ("a", "b"))
    assert (fact.superseded_by, fact.is_active, fact.revision) == (None, True, 0)
    assert repr(fact) == 'Fact(id="f1", type="config", content="Port 8443")'
    assert {fact, opened().get("f1")} == {fact}


def test_adding_a_duplicate_returns_the_stored_fact(opened: Opener, folder: Path) -> None:
    store = opened()
    fact = store.add("config", "The Port is 8443")
    before = (folder / "knowledge.jsonl").read_bytes()
    assert store.add("decision", "  the port IS 8443\n") == fact
    assert (folder / "knowledge.jsonl").read_bytes() == before
    assert store.add("config", "The port is 8444") != fact


def test_update_keeps_id_sources_and_context(opened: Opener) -> None:
    store = opened()
    old = store.add("config", "Port 8443", context="set-up", sources=["a"])
    new = store.update(old.id, "Port 8443, TLS only", sources=["a", "b"])
    assert (new.id, new.context, new.sources, new.revision) == (old.id, "set-up", ("a", "b"), 1)
    assert store.update(old.id, "Port 8443, TLS only") == new, "nothing new was said"
    assert store.history(old.id) == [old, new]


def test_supersede_is_one_append_and_readable_as_history(opened: Opener, folder: Path) -> None:
    store = opened()
    first = store.add("config", "The webhook listens on port 3000")
    second = store.supersede(first.id, "config", "The webhook listens on port 8080")
    third = store.supersede(second.id, "decision", "The webhook listens on port 8443", new_id="now")
    assert third.id == "now"
    assert ids(store.facts()) == ["now"]
    assert ids(store.facts(include_superseded=True, limit=2)) == ["now", second.id]
    for id_ in (first.id, second.id, "now"):
        states = [(fact.content[-4:], fact.is_active) for fact in store.history(id_)]
        assert states == [
            ("3000", True),
            ("3000", False),
            ("8080", True),
            ("8080", False),
            ("8443", True),
        ]
    assert [hit.fact for hit in store.search(QUESTION)] == [third]
    assert store.get(first.id).superseded_by == second.id  # type: ignore[union-attr]
    assert len((folder / "knowledge.jsonl").read_text().splitlines()) == 5


def test_a_forgotten_fact_is_not_found(opened: Opener) -> None:
    store = opened()
    fact = store.add("issue", "The webhook drops requests")
    gone = store.forget(fact.id)
    assert not gone.is_active
    assert "forgotten" in repr(gone)
    assert (len(store), store.get(fact.id), store.search("webhook"), store.facts()) == (
        0,
        None,
        [],
        [],
    )
    assert len(store.history(fact.id)) == 2
    assert store.stats() | {"log_bytes": 0} == {
        "active": 0,
        "superseded": 0,
        "forgotten": 1,
        "states": 2,
        "log_bytes": 0,
        "log_lines": 2,
    }


def test_apply_returns_the_outcome_of_each_change(opened: Opener) -> None:
    store = opened()
    store.add("config", "The port is 3000", id="a")
    outcomes = store.apply(
        [
            ("add", "b", "config", "The region is eu-west-1", None, ()),
            ("add", "c", "config", "the region is EU-WEST-1", None, ()),
            ("update", "b", "The region is eu-west-1, primary", "infra", ["seg"]),
            ("supersede", "a", "d", "config", "The port is 8080", None, ["seg"]),
            ("supersede", "a", "e", "config", "The port is 9090", None, []),
            ("update", "missing", "text", None, ()),
            ("delete", "e"),
            ("delete", "e"),
        ]
    )
    assert outcomes == ["done", "duplicate", "done", "done", "added", "missing", "done", "missing"]
    assert {(fact.id, fact.content) for fact in store.facts()} == {
        ("b", "The region is eu-west-1, primary"),
        ("d", "The port is 8080"),
    }
    assert store.apply([]) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("frob", "a"), 'not "frob"'),
        (("add", "a"), "not a tuple of 2"),
        ((), "not a tuple of 0"),
        (("add", "new", "konfig", "text", None, ()), "type must be one of decision"),
        (("add", "new", "config", " ", None, ()), "content must be a statement"),
        (("add", "a", "config", "text", None, ()), "id must be one that no fact has"),
    ],
)
def test_an_invalid_change_undoes_the_batch(opened: Opener, change: Any, words: str) -> None:
    store = opened()
    store.add("config", "The port is 3000", id="a")
    with pytest.raises(ConfigError, match=words):
        store.apply([("delete", "a"), change])
    assert ids(store.facts()) == ["a"]


def test_invalid_arguments_are_named_in_the_error(opened: Opener) -> None:
    store = opened()
    old = store.add("config", "The port is 3000")
    new = store.supersede(old.id, "config", "The port is 8080")
    store.forget(new.id)
    with pytest.raises(ConfigError, match=f'not "{old.id}", which was superseded by "{new.id}"'):
        store.update(old.id, "x")
    with pytest.raises(ConfigError, match="which was forgotten"):
        store.supersede(new.id, "config", "x")
    with pytest.raises(ConfigError, match="which is not known here"):
        store.forget("missing")
    with pytest.raises(ConfigError, match="decision, implementation, config, issue, task_state"):
        store.add("fact", "x")
    with pytest.raises(ConfigError, match="decision, implementation, config, issue, task_state"):
        store.search("x", types=["fact"])
    with pytest.raises(ConfigError, match="limit must be 0 or more, not -1"):
        store.search("x", limit=-1)
    with pytest.raises(ConfigError, match="valid Unicode"):
        store.add("config", "x", id="\ud800")
    with pytest.raises(ConfigError, match="finite"):
        store.add("config", "x", timestamp=float("nan"))
    with pytest.raises(TypeError, match="put it in a list"):
        store.add("config", "x", sources="segment")
    assert store.add("config", "half \ud800 a pair").content == "half \ufffd a pair"


def test_secrets_in_facts_never_reach_the_disk(opened: Opener, folder: Path) -> None:
    store = opened(patterns={"ticket": r"TCK-\d+"})
    fact = store.add("config", "export API_TOKEN=k3jf9slw-Qp0z", context="see TCK-991")
    assert "[REDACTED:" in fact.content
    assert fact.context == "see [REDACTED:ticket]"
    store.apply([("update", fact.id, "API_TOKEN=k3jf9slw-Qp0y", "TCK-17", ())])
    written = (folder / "knowledge.jsonl").read_text()
    assert "k3jf9slw" not in written
    assert "TCK" not in written


class TestVisibility:
    """Facts are visible to their own session unless ``cross_session`` is set."""

    def test_a_session_sees_only_its_own_facts(self, opened: Opener) -> None:
        ours, theirs = opened("ours"), opened("theirs")
        fact = theirs.add("config", "The webhook listens on port 8443")
        assert (len(ours), ours.facts(), ours.search(QUESTION), ours.nearest(QUESTION)) == (
            0,
            [],
            [],
            [],
        )
        assert (ours.get(fact.id), ours.history(fact.id)) == (None, [])
        with pytest.raises(ConfigError, match="not known here"):
            ours.update(fact.id, "x")
        with pytest.raises(ConfigError, match="not known here"):
            ours.supersede(fact.id, "config", "x")
        with pytest.raises(ConfigError, match="not known here"):
            ours.forget(fact.id)
        assert ours.apply([("delete", fact.id)]) == ["missing"]
        assert ours.add("config", fact.content).id != fact.id
        assert theirs.get(fact.id) == fact

    def test_cross_session_sees_all_facts(self, opened: Opener, folder: Path) -> None:
        folder.mkdir(mode=0o700)
        line = '{"id":"old","type":"config","content":"The webhook had port 1","timestamp":1}\n'
        (folder / "knowledge.jsonl").write_text(line)
        opened("theirs").add("config", "The webhook listens on port 8443", id="new")
        everyone = opened("ours", cross_session=True)
        assert ids([hit.fact for hit in everyone.search(QUESTION)]) == ["new", "old"]
        assert everyone.update("new", "The webhook listens on port 9443").session_id == "theirs"
        assert ids(opened("ours").facts()) == []
        assert opened("theirs").get("new").content.endswith("9443")  # type: ignore[union-attr]


class TestSearch:
    """Search and nearest facts."""

    def test_a_single_fact_is_found(self, opened: Opener) -> None:
        """Inverse document frequencies alone would all be zero while there is one fact."""
        store = opened()
        store.add("config", "The payment webhook listens on port 8443")
        (hit,) = store.search(QUESTION, explain=True)
        assert hit.score == pytest.approx(1.0)
        assert hit.matched == 2
        assert '"webhook", in 1 of 1 facts' in (hit.explanation or "")
        assert store.search("Who painted the sunflowers?") == []

    def test_search_finds_facts_among_ten_thousand(self, opened: Opener) -> None:
        store = opened()
        crowd.fill(store, crowd.sentences(10_000))
        store.add("config", "The payment webhook listens on port 8443", id="wanted")
        store.add("config", "支付回调监听 8443 端口", id="zh")
        assert len(store) == 10_002
        assert store.search("Which port has the payment webhook?")[0].fact.id == "wanted"
        assert store.search("支付回调的端口是多少")[0].fact.id == "zh"
        assert store.nearest("The payment webhook listens on port 9000 now")[0].id == "wanted"
        assert store.search("Who painted the sunflowers?") == []
        again = opened()
        assert again.search("Which port has the payment webhook?")[0].fact.id == "wanted"

    def test_search_returns_newer_facts_first_among_equal_scores(self, opened: Opener) -> None:
        store = opened()
        for id_, timestamp in (("b", 2.0), ("c", 3.0), ("a", 1.0)):
            store.add("config", f"webhook {id_}", id=id_, timestamp=timestamp)
        assert ids([hit.fact for hit in store.search("webhook")]) == ["c", "b", "a"]
        assert ids([hit.fact for hit in store.search("webhook", limit=2)]) == ["c", "b"]
        assert ids(store.facts()) == ["c", "b", "a"]

    def test_search_and_list_respect_types_and_limits(self, opened: Opener) -> None:
        store = opened()
        store.add("config", "webhook on port 1", id="a")
        store.add("issue", "webhook drops requests", id="b")
        assert ids([hit.fact for hit in store.search("webhook", types=["issue"])]) == ["b"]
        assert ids(store.nearest("webhook", types=["config"])) == ["a"]
        assert ids(store.facts(types=("issue",))) == ["b"]
        assert store.search("webhook", types=[]) == []
        assert store.search("webhook", limit=0) == []
        assert store.nearest("webhook", limit=0) == []
        assert store.search("") == []

    def test_context_is_searched_too(self, opened: Opener) -> None:
        store = opened()
        store.add("decision", "Use Valkey", context="session cache")
        assert store.search("session cache")[0].fact.content == "Use Valkey"

    def test_nearest_takes_a_long_text(self, opened: Opener) -> None:
        store = opened()
        store.add("config", "The gateway listens on port 8443", id="near")
        store.add("config", "Invoices are rounded half to even", id="far")
        text = "We talked about this and that. " * 500 + "The gateway port changes to 9443."
        assert ids(store.nearest(text, limit=1)) == ["near"]


def test_threads_share_a_fact_store(opened: Opener) -> None:
    store = opened()
    faults: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for count in range(40):
                fact = store.add("config", f"worker w{number} counts c{count}")
                assert store.get(fact.id) == fact
                assert store.search(f"worker w{number} counts c{count}", limit=1)[0].fact == fact
        except BaseException as fault:  # noqa: BLE001 - shown below
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert len(store) == 160


def test_a_closed_fact_store_raises(opened: Opener) -> None:
    store = opened()
    store.close()
    for call in (lambda: len(store), lambda: store.add("config", "x"), lambda: store.search("x")):
        with pytest.raises(StoreError, match="closed"):
            call()
    assert bool(store)
    assert isinstance(store, FactStore)
