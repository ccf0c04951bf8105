"""Putting the pieces of one message in order: what was said is one record, each tool's piece another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memctx.messages.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable

SPEAKERS = frozenset({"user", "assistant"})


def with_speech(pieces: Iterable[str | Record], role: str, at: float | None) -> list[Record]:
    """The records of a message: its texts joined by newlines where the first stood, and the others in order.

    A piece without text is left out.
    """
    said: list[str] = []
    place = 0
    records: list[Record] = []
    for piece in pieces:
        if isinstance(piece, Record):
            if piece.text:
                records.append(piece)
        elif piece:
            place = place if said else len(records)
            said.append(piece)
    if said:
        records.insert(place, Record(role, "\n".join(said), at))
    return records
