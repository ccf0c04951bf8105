"""Helpers: stores ten times larger than their memory, each message with a unique word."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from memctx.lowlevel import Store, StoreOptions

if TYPE_CHECKING:
    from pathlib import Path

    from memctx import SearchHit
    from memctx.lowlevel import DiskIndexStatus

SESSION = "s1"
MANY = 500
KEPT = 50
LATER = 4_000_000_000_000.0  # no age, so scores are the same at every moment
HOUR = 3_600_000.0
PATIENT = 20_000.0  # milliseconds: no test is to fail because the machine is busy

SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
THINGS = ["parcel", "invoice", "webhook", "ledger", "reactor", "garden", "bridge", "violin"]
PLACES = ["Lisbon", "Osaka", "Quito", "Tromsø", "重庆", "Nairobi", "Perth"]


def word(number: int, tag: str = "") -> str:
    """Return the unique word of a message."""
    syllables: list[str] = []
    for _ in range(4):
        number, place = divmod(number, len(SYLLABLES))
        syllables.append(SYLLABLES[place])
    return f"{tag}{''.join(syllables)}x"


def text(number: int, tag: str = "") -> str:
    thing, place = THINGS[number % len(THINGS)], PLACES[number % len(PLACES)]
    return f"The {thing} for {place} is filed under {word(number, tag)} since Tuesday"


def texts(count: int = MANY, tag: str = "") -> list[str]:
    return [text(number, tag) for number in range(count)]


def opened(folder: Path, session_id: str = SESSION, **settings: Any) -> Store:
    wanted = {
        "max_segments": KEPT,
        "eviction_days": 0.0,
        "durability": "os",
        "disk_deadline_ms": PATIENT,
        **settings,
    }
    return Store(folder, StoreOptions(session_id=session_id, **wanted))


def say(store: Store, said: list[str], role: str = "user") -> list[str]:
    """Store some messages; return their ids."""
    added = store.add([(role, each, LATER, None) for each in said])
    return [each.id for each in added if each.id is not None]


def filled(folder: Path, count: int = MANY, session_id: str = SESSION, tag: str = "") -> list[str]:
    """Create a closed, fully indexed store of ``count`` messages; return their texts."""
    store = opened(folder, session_id)
    said = texts(count, tag)
    say(store, said)
    store.catch_up()
    store.close()
    return said


def caught_up(store: Store, *arguments: Any, **options: Any) -> DiskIndexStatus:
    """Index everything; return the status."""
    status = store.catch_up(*arguments, **options)
    assert status is not None
    return status


def contents(hits: list[SearchHit]) -> list[str]:
    return [hit.segment.content for hit in hits]


def best(store: Store, query: str, **options: Any) -> str | None:
    """Return the text of the best hit."""
    found = contents(store.search(query, limit=1, **options))
    return found[0] if found else None


def missing(store: Store, numbers: range, tag: str = "", **options: Any) -> list[int]:
    """Return the messages that a search for their unique word does not find first."""
    return [each for each in numbers if best(store, word(each, tag), **options) != text(each, tag)]


def wait_for_disk(store: Store, query: str, **options: Any) -> list[SearchHit]:
    """Repeat a search that does not wait for the disk until it has its answer; return the hits."""
    until = time.monotonic() + PATIENT / 1000
    while True:
        hits, unsearched, _ = store.search_within(query, 0.0, **options)
        if unsearched is None:
            return hits
        assert time.monotonic() < until, (unsearched, store.disk_index())
        time.sleep(0.01)


def folder_of(store: Path) -> Path:
    """Return the folder of the index."""
    return store / "index" / "cold"
