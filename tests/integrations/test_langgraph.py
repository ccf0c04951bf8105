"""The store for LangGraph: items, namespaces, filters, queries, times to live, crashes and other processes."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("langgraph")

from langgraph.graph import START, StateGraph
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

import memctx
from memctx import files
from memctx.errors import ConfigError, StoreError
from memctx.integrations.langgraph import MemctxStore, ranking, store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from langgraph.store.base import BaseStore

pytestmark = pytest.mark.integrations

USERS = ("users",)
ALICE = ("users", "alice")
OS: Any = {"durability": "os"}


@pytest.fixture
def items(tmp_path: Path) -> Iterator[MemctxStore]:
    with MemctxStore(tmp_path, disk=OS) as opened:
        yield opened


def keys(found: list[Any]) -> list[str]:
    return [item.key for item in found]


def letters(texts: list[str]) -> list[list[float]]:
    """Embed by counting letters."""
    return [
        [0.01 + text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"]
        for text in texts
    ]


class TestItems:
    def test_value_comes_back_as_it_is(self, items: MemctxStore, tmp_path: Path) -> None:
        value: dict[str, Any] = {
            "text": "支付端口 8443 🦊 \ud800",
            "secret": "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789",
            "list": [1, 2.5, None, True, {"deep": []}],
        }
        items.put(ALICE, "k", value)
        for opened in (items, MemctxStore(tmp_path)):
            found = opened.get(ALICE, "k")
            assert found is not None
            assert found.value == value
            assert found.namespace == ALICE
            assert found.key == "k"
            assert found.created_at == found.updated_at
            assert found.created_at.tzinfo is not None
        assert items.get(ALICE, "other") is None
        assert items.get(USERS, "k") is None

    def test_update_keeps_the_time_of_creation_and_the_order(self, items: MemctxStore) -> None:
        for key in "abc":
            items.put(ALICE, key, {"n": 1})
        before = items.get(ALICE, "a")
        time.sleep(0.002)
        items.put(ALICE, "a", {"n": 2})
        after = items.get(ALICE, "a")
        assert before is not None
        assert after is not None
        assert after.value == {"n": 2}
        assert after.created_at == before.created_at
        assert after.updated_at > before.updated_at
        assert keys(items.search(ALICE)) == ["a", "b", "c"]

    def test_deleted_item_is_gone_and_may_come_back(self, items: MemctxStore) -> None:
        items.put(ALICE, "a", {"text": "first"})
        items.put(ALICE, "b", {"text": "second"})
        items.delete(ALICE, "a")
        items.delete(ALICE, "never there")
        assert items.get(ALICE, "a") is None
        assert keys(items.search(USERS, query="first")) == ["b"]
        items.put(ALICE, "a", {"text": "again"})
        assert keys(items.search(USERS)) == ["b", "a"]

    def test_changes_of_values_outside_do_not_reach_the_store(self, items: MemctxStore) -> None:
        value = {"list": [1]}
        items.put(ALICE, "a", value)
        value["list"].append(2)
        for found in (items.get(ALICE, "a"), items.search(ALICE)[0]):
            assert found is not None
            assert found.value == {"list": [1]}
            found.value["list"].append(3)
        found = items.get(ALICE, "a")
        assert found is not None
        assert found.value == {"list": [1]}

    def test_wrong_namespaces_are_refused(self, items: MemctxStore) -> None:
        for wrong in [(), ("the", "thing.about"), ("some", ""), ("langgraph", "foo")]:
            with pytest.raises(InvalidNamespaceError):
                items.put(wrong, "foo", {"a": 1})
            with pytest.raises(InvalidNamespaceError):
                asyncio.run(items.aput(wrong, "foo", {"a": 1}))
        items.batch([PutOp(("langgraph", "foo"), "bar", {"a": 1})])
        assert items.get(("langgraph", "foo"), "bar") is not None

    def test_values_that_are_not_json_are_refused(self, items: MemctxStore) -> None:
        wrong: list[Any] = [{"a": object()}, {"a": {1, 2}}, [1]]
        for value in wrong:
            with pytest.raises(TypeError):
                items.put(ALICE, "a", value)
        wrong_key: Any = 1
        with pytest.raises(TypeError, match="expected a text"):
            items.batch([PutOp(ALICE, wrong_key, {"a": 1})])
        assert items.search(()) == []


class TestBatches:
    def test_reads_of_a_batch_see_what_was_there_before(self, items: MemctxStore) -> None:
        items.put(ALICE, "a", {"n": 1})
        found, nothing, listed, search, missing = items.batch(
            [
                GetOp(ALICE, "a"),
                PutOp(ALICE, "a", {"n": 2}),
                ListNamespacesOp(match_conditions=None, max_depth=None, limit=10, offset=0),
                SearchOp(USERS, filter={"n": 1}),
                GetOp(("none",), "a"),
            ]
        )
        assert found.value == {"n": 1}  # type: ignore[union-attr]
        assert (nothing, missing) == (None, None)
        assert listed == [ALICE]
        assert keys(search) == ["a"]  # type: ignore[arg-type]
        after = items.get(ALICE, "a")
        assert after is not None
        assert after.value == {"n": 2}

    def test_last_write_to_a_key_wins(self, items: MemctxStore) -> None:
        items.batch([PutOp(ALICE, "a", {"n": 1}), PutOp(ALICE, "a", {"n": 2})])
        items.batch([PutOp(ALICE, "b", {"n": 1}), PutOp(ALICE, "b", None)])
        assert [found.value for found in items.search(())] == [{"n": 2}]

    def test_batch_with_a_bad_value_writes_nothing(self, items: MemctxStore) -> None:
        with pytest.raises(TypeError):
            items.batch([PutOp(ALICE, "a", {"n": 1}), PutOp(ALICE, "b", {"n": object()})])
        assert items.search(()) == []

    def test_unknown_operation_is_refused(self, items: MemctxStore) -> None:
        wrong: Any = ["get"]
        with pytest.raises(TypeError, match="an operation is str"):
            items.batch(wrong)

    def test_asynchronous_calls(self, items: MemctxStore) -> None:
        async def use() -> None:
            await asyncio.gather(*(items.aput(ALICE, f"k{n}", {"n": n}) for n in range(20)))
            found = await items.asearch(ALICE, filter={"n": {"$lt": 3}}, limit=20)
            assert sorted(keys(found)) == ["k0", "k1", "k2"]
            await items.adelete(ALICE, "k0")
            assert await items.aget(ALICE, "k0") is None
            assert await items.alist_namespaces() == [ALICE]

        asyncio.run(use())

    def test_threads_write_at_once(
        self, items: MemctxStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setattr(ranking, "BATCH", 4)
        monkeypatch.setattr(store, "SPARE", 10)

        def write(name: str) -> None:
            for n in range(30):
                items.put((name,), f"k{n}", {"text": f"{name} {n}"})
                items.put((name,), "changing", {"text": f"{name} {n} again"})
                items.search((name,), query=f"{n}")

        threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(items.search((), limit=1000)) == 124
        assert caplog.text == "", "no thread waited for another's lock in vain"


FILTERS: list[tuple[dict[str, Any], str]] = [
    ({}, "abcd"),
    ({"n": 1}, "a"),
    ({"n": {"$eq": 1}}, "a"),
    ({"n": {"$ne": 1}}, "bcd"),
    ({"n": {"$gt": 1}}, "b"),
    ({"n": {"$gte": 1}}, "ab"),
    ({"n": {"$lt": 2.5}}, "ab"),
    ({"n": {"$lte": 1}}, "a"),
    ({"n": {"$gt": 0, "$lt": 2}}, "a"),
    ({"n": 1, "kind": "y"}, ""),
    ({"kind": {"$gt": "x"}}, "b"),
    ({"day": {"$lt": "2026-05"}}, "c"),
    ({"user": {"name": "Ada"}}, "c"),
    ({"user": {"age": {"$gte": 30}}}, "c"),
    ({"user.age": {"$gte": 30}}, "c"),
    ({"user": {"tags": ["x", "y"]}}, "c"),
    ({"user": {"tags": ["x"]}}, ""),
    ({"missing": None}, "abcd"),
]


class TestFilters:
    @pytest.mark.parametrize(("conditions", "expected"), FILTERS)
    def test_filter(self, items: MemctxStore, conditions: dict[str, Any], expected: str) -> None:
        items.put(USERS, "a", {"n": 1, "kind": "x"})
        items.put(USERS, "b", {"n": 2, "kind": "y"})
        user = {"name": "Ada", "age": 36, "tags": ["x", "y"]}
        items.put(USERS, "c", {"n": "many", "user": user, "day": "2026-04-01"})
        items.put(USERS, "d", {"user": None})
        assert "".join(keys(items.search((), filter=conditions))) == expected

    def test_unknown_operators_are_refused(self, items: MemctxStore) -> None:
        with pytest.raises(ConfigError, match=r"'\$in'; expected \$eq, \$ne"):
            items.search((), filter={"n": {"$in": [1]}})

    def test_pages_are_in_the_order_of_the_first_writes(self, items: MemctxStore) -> None:
        names = [("a",), ("b", "c"), ("a", "d")]
        for n in range(30):
            items.put(names[n % 3], f"k{n:02}", {"n": n})
        pages = [keys(items.search((), limit=7, offset=at)) for at in range(0, 35, 7)]
        assert [key for page in pages for key in page] == [f"k{n:02}" for n in range(30)]
        assert keys(items.search(("a",), limit=3, offset=2)) == ["k03", "k05", "k06"]

    def test_prefix_is_of_whole_labels(self, items: MemctxStore) -> None:
        items.put(("user",), "a", {"n": 1})
        items.put(("users",), "b", {"n": 1})
        items.put(("user", "x"), "c", {"n": 1})
        assert keys(items.search(("user",))) == ["a", "c"]


class TestNamespaces:
    NAMES = (
        ("a", "b", "c"),
        ("a", "b", "d", "e"),
        ("a", "b", "d", "i"),
        ("a", "c", "f"),
        ("b", "a", "f"),
        ("users", "1"),
    )

    @pytest.fixture(autouse=True)
    def _named(self, items: MemctxStore) -> None:
        for name in self.NAMES:
            items.put(name, "k", {"n": 1})

    def test_all_are_listed_in_order(self, items: MemctxStore) -> None:
        assert items.list_namespaces() == sorted(self.NAMES)
        assert items.list_namespaces(limit=2, offset=1) == sorted(self.NAMES)[1:3]

    def test_conditions(self, items: MemctxStore) -> None:
        listed = items.list_namespaces
        assert listed(prefix=("a", "b")) == list(self.NAMES[:3])
        assert listed(suffix=("f",)) == [("a", "c", "f"), ("b", "a", "f")]
        assert listed(prefix=("a",), suffix=("f",)) == [("a", "c", "f")]
        assert listed(prefix=("a", "*", "d")) == list(self.NAMES[1:3])
        assert listed(suffix=("*", "f")) == [("a", "c", "f"), ("b", "a", "f")]
        assert listed(prefix=("a", "b"), max_depth=3) == [("a", "b", "c"), ("a", "b", "d")]
        assert listed(prefix=("none",)) == []

    def test_unknown_condition_is_refused(self, items: MemctxStore) -> None:
        wrong: Any = MatchCondition(match_type="middle", path=("a",))  # type: ignore[arg-type]
        with pytest.raises(ConfigError, match="expected prefix or suffix"):
            items.batch([ListNamespacesOp(match_conditions=(wrong,))])

    def test_empty_namespaces_are_not_listed(self, items: MemctxStore) -> None:
        items.delete(("users", "1"), "k")
        assert items.get(("none",), "k") is None
        assert items.list_namespaces() == sorted(self.NAMES[:-1])


class TestQueries:
    TEXTS = (
        ("port", "The payment webhook listens on port 8443"),
        ("food", "Alice loves ramen and sushi for lunch"),
        ("cjk", "支付回调的端口是 9443"),
        ("ja", "会議は金曜日の午後三時に始まります"),
        ("ko", "배포는 금요일에 합니다"),
        ("cat", "The cat sleeps on the sofa all day"),
    )

    @pytest.fixture(autouse=True)
    def _filled(self, items: MemctxStore) -> None:
        for key, text in self.TEXTS:
            items.put(("notes", key), key, {"text": text, "size": len(text)})

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("8443", "port"),
            ("which port does the webhook use?", "port"),
            ("What is her favorite dish?", "food"),
            ("支付端口", "cjk"),
            ("金曜日の会議", "ja"),
            ("금요일 배포", "ko"),
            ("a kitten napping on the couch", "cat"),
        ],
    )
    def test_words_and_meaning_are_found(
        self, items: MemctxStore, query: str, expected: str
    ) -> None:
        found = items.search((), query=query)
        assert found[0].key == expected
        assert len(found) == len(self.TEXTS)
        scores = [item.score for item in found if item.score is not None]
        assert len(scores) == len(self.TEXTS)
        assert scores == sorted(scores, reverse=True)
        assert all(-1 <= score <= 1 for score in scores)

    def test_query_keeps_to_namespace_and_filter(self, items: MemctxStore) -> None:
        assert keys(items.search(("notes", "cat"), query="8443")) == ["cat"]
        found = items.search((), query="8443", filter={"size": {"$lt": 25}})
        assert set(keys(found)) == {"cjk", "ja", "ko"}

    def test_pages_of_a_query_follow_each_other(self, items: MemctxStore) -> None:
        for n in range(300):
            items.put(("many",), f"k{n}", {"text": f"note {n} about port {n % 7} of machine {n}"})
        whole = items.search(("many",), query="port of machine 5", limit=300)
        pages = [
            items.search(("many",), query="port of machine 5", limit=30, offset=at)
            for at in range(0, 300, 30)
        ]
        assert keys([item for page in pages for item in page]) == keys(whole)
        assert len(set(keys(whole))) == 300

    def test_changed_text_is_found_again(self, items: MemctxStore) -> None:
        items.put(("notes", "cat"), "cat", {"text": "The dog guards the harbor"})
        found = items.search((), query="dog harbor")
        assert found[0].key == "cat"
        best = items.search((), query="cat sofa")[0]
        assert best.score is not None
        assert best.score < 0.5

    def test_items_without_index_come_last_and_unscored(self, items: MemctxStore) -> None:
        items.put(("notes", "x"), "hidden", {"text": "port 8443 port 8443"}, index=False)
        found = items.search((), query="port 8443")
        assert found[-1].key == "hidden"
        assert found[-1].score is None
        assert keys(items.search(("notes", "x"), query="port")) == ["hidden"]
        assert keys(items.search((), query="port", offset=len(self.TEXTS))) == ["hidden"]

    def test_fields_of_one_item(self, items: MemctxStore) -> None:
        value = {"title": "zebra", "parts": [{"text": "quokka"}, {"text": "walrus"}], "no": "port"}
        items.put(("notes", "z"), "z", value, index=["title", "parts[*].text"])
        for query in ("zebra", "quokka", "walrus"):
            assert items.search((), query=query)[0].key == "z"
        hidden = {item.key: item.score for item in items.search((), query="port")}
        assert hidden["z"] is not None
        assert hidden["port"] is not None
        assert hidden["z"] < hidden["port"]

    def test_empty_query_is_none(self, items: MemctxStore) -> None:
        assert keys(items.search((), query="")) == keys(items.search(()))

    def test_index_survives_opening_again(self, items: MemctxStore, tmp_path: Path) -> None:
        items.close()
        before = [(item.key, item.score) for item in items.search((), query="支付端口")]

        class Refusing:
            """The embedder, for queries only: stored texts have their vectors."""

            def __init__(self) -> None:
                self.made = memctx.embeddings.embedder_of("memctx")
                self.name, self.dim = self.made.name, self.made.dim
                self.revision = self.made.revision

            def embed(self, text: str) -> Any:
                return self.made.embed(text)

            def embed_many(self, texts: Any) -> Any:
                raise AssertionError(texts)

        again = MemctxStore(tmp_path, embedding_model=Refusing())
        assert [(item.key, item.score) for item in again.search((), query="支付端口")] == before


class TestIndexes:
    def test_embeddings_of_langchain(self, tmp_path: Path) -> None:
        async def aletters(texts: list[str]) -> list[list[float]]:
            return letters(texts)

        index: Any
        for n, embed in enumerate([letters, aletters]):
            index = {"dims": 26, "embed": embed, "fields": ["text"]}
            theirs = InMemoryStore(index={"dims": 26, "embed": letters, "fields": ["text"]})
            ours = MemctxStore(tmp_path / str(n), index=index)
            assert ours.index_config == index
            for one in (ours, theirs):
                one.put(USERS, "a", {"text": "aaa bbb", "other": "zzz"})
                one.put(USERS, "z", {"text": "zzz yyy"})
            query = "abab"
            assert [
                (item.key, pytest.approx(item.score)) for item in ours.search((), query=query)
            ] == [(item.key, item.score) for item in theirs.search((), query=query)]

    def test_failing_embedder_leaves_words(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        down = True

        def embed(texts: list[str]) -> list[list[float]]:
            if down:
                raise OSError("no connection")
            return letters(texts)

        items = MemctxStore(tmp_path, index={"dims": 26, "embed": embed})
        with caplog.at_level(logging.WARNING):
            items.put(USERS, "a", {"text": "the port is 8443"})
            items.put(USERS, "b", {"text": "coffee"})
            assert items.search((), query="port")[0].key == "a"
        assert "no connection" in caplog.text
        down = False
        monkeypatch.setattr(ranking, "COOL_DOWN", 0.0)
        assert all(item.score is not None for item in items.search((), query="port"))

    def test_without_index_a_query_ranks_nothing(self, tmp_path: Path) -> None:
        items = MemctxStore(tmp_path, index=False)
        for key in "ab":
            items.put(USERS, key, {"text": key})
        assert [(item.key, item.score) for item in items.search((), query="b")] == [
            ("a", None),
            ("b", None),
        ]

    def test_damaged_vectors_are_made_again(self, tmp_path: Path) -> None:
        with MemctxStore(tmp_path) as items:
            items.put(USERS, "a", {"text": "port 8443"})
        [path] = (tmp_path / "langgraph").glob("vectors-*")
        path.write_bytes(b"nonsense")
        with MemctxStore(tmp_path) as items:
            assert items.search((), query="port")[0].score is not None
        assert path.read_bytes()[:4] == b"VMEM"


class TestTimesToLive:
    @pytest.fixture
    def clock(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
        """Give a function that lets minutes pass."""
        passed = 0.0
        now = time.time

        def wait(minutes: float) -> None:
            nonlocal passed
            passed += 60 * minutes

        monkeypatch.setattr(time, "time", lambda: now() + passed)
        return wait

    def test_item_expires(self, items: MemctxStore, clock: Callable[[float], None]) -> None:
        assert items.supports_ttl
        items.put(ALICE, "a", {"text": "short"}, ttl=10)
        items.put(("users", "bob"), "b", {"text": "long"})
        clock(9)
        assert items.get(ALICE, "a", refresh_ttl=False) is not None
        clock(2)
        assert items.get(ALICE, "a") is None
        assert keys(items.search(USERS)) == keys(items.search(USERS, query="short")) == ["b"]
        assert items.list_namespaces() == [("users", "bob")]
        assert items.sweep_ttl() == 1
        assert items.sweep_ttl() == 0
        items.put(ALICE, "a", {"text": "new"})
        clock(1000)
        assert items.get(ALICE, "a") is not None

    @pytest.mark.parametrize("read", ["get", "search"])
    def test_reading_extends_a_life(
        self, items: MemctxStore, tmp_path: Path, clock: Callable[[float], None], read: str
    ) -> None:
        items.put(ALICE, "a", {"n": 1}, ttl=10)
        for _ in range(3):
            clock(8)
            if read == "get":
                assert items.get(ALICE, "a") is not None
            else:
                assert keys(items.search(ALICE)) == ["a"]
        assert MemctxStore(tmp_path).get(ALICE, "a", refresh_ttl=False) is not None
        clock(8)
        assert items.get(ALICE, "a", refresh_ttl=False) is not None
        clock(8)
        assert items.get(ALICE, "a") is None

    def test_read_that_cannot_be_noted_succeeds(
        self, tmp_path: Path, clock: Callable[[float], None], caplog: pytest.LogCaptureFixture
    ) -> None:
        items = MemctxStore(tmp_path, disk={"lock_timeout": 0.01})
        items.put(ALICE, "a", {"n": 1}, ttl=10)
        clock(5)
        with files.held(tmp_path / "langgraph" / "items.jsonl"):
            assert items.get(ALICE, "a") is not None
        assert "lives of items are not extended" in caplog.text

    def test_defaults(self, tmp_path: Path, clock: Callable[[float], None]) -> None:
        items = MemctxStore(tmp_path, ttl={"default_ttl": 10, "refresh_on_read": False})
        items.put(ALICE, "a", {"n": 1})
        items.put(ALICE, "b", {"n": 1}, ttl=None)
        clock(6)
        assert keys(items.search(ALICE)) == ["a", "b"]
        clock(6)
        assert keys(items.search(ALICE)) == ["b"]

    def test_calls_sweep_from_time_to_time(self, tmp_path: Path) -> None:
        items = MemctxStore(tmp_path, ttl={"sweep_interval_minutes": 1e-9})  # type: ignore[typeddict-item]
        items.put(ALICE, "a", {"n": 1}, ttl=1e-4)
        time.sleep(0.02)
        assert items.search(()) == []
        assert '"removed":true' in (tmp_path / "langgraph" / "items.jsonl").read_text()

    def test_thread_sweeps(self, tmp_path: Path) -> None:
        items = MemctxStore(tmp_path)
        items.put(ALICE, "a", {"n": 1}, ttl=1e-4)
        running = items.start_ttl_sweeper(1e-4)
        assert items.start_ttl_sweeper() is running
        deadline = time.monotonic() + 10
        log = tmp_path / "langgraph" / "items.jsonl"
        while '"removed":true' not in log.read_text() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert items.stop_ttl_sweeper(timeout=5)
        assert running.done()
        assert '"removed":true' in log.read_text()
        assert items.stop_ttl_sweeper()


class TestFiles:
    def test_two_stores_share_a_directory(self, tmp_path: Path) -> None:
        one, two = MemctxStore(tmp_path), MemctxStore(tmp_path)
        one.put(ALICE, "a", {"text": "port 8443"})
        assert two.search((), query="port")[0].key == "a"
        two.put(ALICE, "a", {"text": "port 9443"})
        found = one.get(ALICE, "a")
        assert found is not None
        assert found.value == {"text": "port 9443"}
        one.delete(ALICE, "a")
        assert two.search((), query="port") == []

    def test_log_is_written_again_when_most_of_it_is_out_of_date(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(store, "SPARE", 20)
        items, other = MemctxStore(tmp_path, disk=OS), MemctxStore(tmp_path, disk=OS)
        for key in "abc":
            items.put(ALICE, key, {"n": 0})
        first = items.get(ALICE, "b")
        for n in range(100):
            items.put(ALICE, "a", {"n": n, "text": "port"})
            assert other.get(ALICE, "a").value["n"] == n  # type: ignore[union-attr]
        assert len((tmp_path / "langgraph" / "items.jsonl").read_text().splitlines()) < 40
        for opened in (items, other, MemctxStore(tmp_path)):
            assert keys(opened.search(())) == ["a", "b", "c"]
            assert opened.get(ALICE, "b") == first
            assert opened.search((), query="port")[0].key == "a"

    def test_damage_costs_one_batch(self, tmp_path: Path) -> None:
        items = MemctxStore(tmp_path)
        for key in "abc":
            items.put(ALICE, key, {"n": 1})
        log = tmp_path / "langgraph" / "items.jsonl"
        lines = log.read_bytes().splitlines(keepends=True)
        log.write_bytes(lines[0] + lines[1] + b'[{"namespace":1}]\n' + lines[3] + lines[2][:30])
        again = MemctxStore(tmp_path)
        assert keys(again.search(())) == ["a", "c"]
        again.put(ALICE, "d", {"n": 1})
        assert keys(MemctxStore(tmp_path).search(())) == ["a", "c", "d"]

    def test_file_in_place_of_the_folder_is_an_error(self, tmp_path: Path) -> None:
        (tmp_path / "langgraph").write_text("no folder")
        with pytest.raises((StoreError, OSError)):
            MemctxStore(tmp_path).put(ALICE, "a", {"n": 1})

    def test_open_memory_gives_its_directory(self, tmp_path: Path) -> None:
        with memctx.open(tmp_path, session_id="s", embedding_model="hash") as memory:
            MemctxStore(memory).put(ALICE, "a", {"n": 1})
            assert MemctxStore(tmp_path).get(ALICE, "a") is not None
            with pytest.raises(ConfigError, match="memory is open"):
                MemctxStore(memory, embedding_model="hash")
            assert memory.search("a") == []

    def test_log_is_json_lines(self, items: MemctxStore, tmp_path: Path) -> None:
        items.put(ALICE, "a", {"n": 1})
        text = (tmp_path / "langgraph" / "items.jsonl").read_text()
        header, line = map(json.loads, text.splitlines())
        assert header["memctx"] == "langgraph-items"
        assert line[0]["value"] == {"n": 1}


def test_nodes_of_a_graph_use_the_store(tmp_path: Path) -> None:
    def remember(state: dict[str, Any], *, store: BaseStore) -> dict[str, Any]:
        found = store.search(USERS, query=state["said"], limit=1)
        store.put(USERS, "last", {"text": state["said"]})
        return {"said": found[0].value["text"] if found else "nothing"}

    builder: Any = StateGraph(dict)
    builder.add_node("remember", remember)
    builder.add_edge(START, "remember")
    said = [
        builder.compile(store=MemctxStore(tmp_path)).invoke({"said": "port 8443"})["said"]
        for _ in range(2)
    ]
    assert said == ["nothing", "port 8443"]
