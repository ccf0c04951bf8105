"""Tenants share a directory and its index, and never see each other's evicted messages."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

from memctx import SearchFilter
from memctx.lowlevel import HashEmbedder, LogReader

from .stores import PATIENT, caught_up, contents, folder_of, missing, opened, say, text, word

if TYPE_CHECKING:
    from pathlib import Path

    from memctx.lowlevel import Store

TENANTS = ("alpha", "beta")
COUNT = 200
KEPT = 20


def tenant(folder: Path, session_id: str, **settings: Any) -> Store:
    return opened(folder, session_id, max_segments=KEPT, **settings)


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """Create a store of two tenants with nearly the same messages."""
    stores = {name: tenant(tmp_path, name) for name in TENANTS}
    for start in range(0, COUNT, 10):
        for name, store in stores.items():
            say(store, [text(number, name) for number in range(start, start + 10)])
            say(store, ["The gate code is in the blue folder"])
    for store in stores.values():
        caught_up(store)
        store.close()
    return tmp_path


def other(name: str) -> str:
    return TENANTS[1 - TENANTS.index(name)]


OPTIONS: list[dict[str, Any]] = [
    {},
    {"everything": True},
    {"explain": True, "window": 2},
    {"everything": True, "min_score": 0.0, "ranking": "openclaw"},
    {"filter": SearchFilter(roles=["user"]), "everything": True},
]


@pytest.mark.parametrize("name", TENANTS)
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(options) or "plain")
def test_messages_of_another_tenant_are_not_found(
    shared: Path, name: str, options: dict[str, Any]
) -> None:
    store = tenant(shared, name)
    for number in range(0, COUNT, 13):
        for query in (
            text(number, other(name)),
            word(number, other(name)),
            f"filed under {word(number, name)}",
        ):
            for limit in (1, 3 * COUNT):
                hits = store.search(query, limit=limit, **options)
                assert {hit.segment.session_id for hit in hits} <= {name}
                assert other(name) not in "".join(contents(hits))
    assert missing(store, range(0, COUNT, 13), name, **options) == []


@pytest.mark.parametrize("name", TENANTS)
@pytest.mark.parametrize("everything", [False, True])
def test_filtering_by_another_tenant_finds_nothing(
    shared: Path, name: str, *, everything: bool
) -> None:
    store = tenant(shared, name)
    for number in range(0, COUNT, 17):
        hits = store.search(
            text(number, other(name)),
            filter=SearchFilter(session_id=other(name)),
            everything=everything,
        )
        assert hits == []


@pytest.mark.parametrize("name", TENANTS)
def test_nearest_returns_no_message_of_another_tenant(shared: Path, name: str) -> None:
    store = tenant(shared, name)
    own = {segment.id for segment in store.segments()}
    embedder = HashEmbedder()
    for number in range(0, COUNT, 13):
        for k in (1, 10, 3 * COUNT):
            hits = store.nearest(embedder.embed(text(number, other(name))), k)
            assert {hit.id for hit in hits} <= own
            assert len(hits) == min(k, len(own))


def test_cross_session_search_finds_both_tenants(shared: Path) -> None:
    store = opened(shared, "visitor", max_segments=KEPT, cross_session=True)
    for name in TENANTS:
        assert missing(store, range(0, COUNT, 13), name, everything=True) == []
        hits = store.search(
            "filed under", limit=3 * COUNT, filter=SearchFilter(session_id=name), everything=True
        )
        assert {hit.segment.session_id for hit in hits} == {name}
        assert len(hits) >= COUNT


def test_an_index_built_by_one_tenant_shows_the_other_only_its_own(shared: Path) -> None:
    shutil.rmtree(folder_of(shared))
    with_all = tenant(shared, "alpha")
    status = caught_up(with_all)
    assert status.segments == sum(1 for _ in LogReader(shared).scan()) > 2 * COUNT
    store = tenant(shared, "beta")
    assert missing(store, range(0, COUNT, 13), "beta") == []
    for number in range(0, COUNT, 13):
        assert "alpha" not in "".join(contents(store.search(text(number, "alpha"), limit=COUNT)))


def test_sessions_with_similar_names_are_separate(tmp_path: Path) -> None:
    names = ["s", "S", "s ", " s", "s/1", "s1", "", "ß", "ss", "s\u0301"]
    for name in filter(None, names):
        say(tenant(tmp_path, name), [text(number, "same") for number in range(3)])
    for name in filter(None, names):
        store = opened(tmp_path, name, max_segments=1, disk_deadline_ms=PATIENT)
        hits = store.search("filed under", limit=100, everything=True)
        assert [hit.segment.session_id for hit in hits] == [name] * 3
