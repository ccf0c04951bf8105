"""Stores that hold ten times what they keep in memory, each message with a word of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memctx import WarmStore

if TYPE_CHECKING:
    from pathlib import Path

    from memctx import ColdStatus, StoreHit

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
    """A word that one message has and no other."""
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


def opened(folder: Path, session_id: str = SESSION, **settings: Any) -> WarmStore:
    wanted = {
        "max_segments": KEPT,
        "eviction_days": 0.0,
        "durability": "os",
        "cold_deadline_ms": PATIENT,
        **settings,
    }
    return WarmStore(folder, session_id=session_id, **wanted)


def say(store: WarmStore, said: list[str], role: str = "user") -> list[str]:
    """Store some messages; their ids."""
    added = store.add([(role, each, LATER, None) for each in said])
    return [each.id for each in added if each.id is not None]


def filled(folder: Path, count: int = MANY, session_id: str = SESSION, tag: str = "") -> list[str]:
    """A closed store of so many messages, all of them indexed; what they say."""
    store = opened(folder, session_id)
    said = texts(count, tag)
    say(store, said)
    store.catch_up()
    store.close()
    return said


def caught_up(store: WarmStore, *arguments: Any, **options: Any) -> ColdStatus:
    """Have all of it indexed; how far it is."""
    status = store.catch_up(*arguments, **options)
    assert status is not None
    return status


def contents(hits: list[StoreHit]) -> list[str]:
    return [hit.segment.content for hit in hits]


def best(store: WarmStore, query: str, **options: Any) -> str | None:
    """What the best hit says."""
    found = contents(store.search(query, limit=1, **options))
    return found[0] if found else None


def missing(store: WarmStore, numbers: range, tag: str = "", **options: Any) -> list[int]:
    """Messages that a search for their own word does not find first."""
    return [each for each in numbers if best(store, word(each, tag), **options) != text(each, tag)]


def folder_of(store: Path) -> Path:
    """Where the index is."""
    return store / "index" / "cold"
