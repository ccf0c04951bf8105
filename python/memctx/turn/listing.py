"""`Listing`: the lines of a report, written when somebody reads them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar, cast, overload

T = TypeVar("T")


class Listing(Sequence[T]):
    """A sequence that is made when it is first looked at. Turns are many, and few reports are read."""

    __slots__ = ("_items", "_make")

    def __init__(self, make: Callable[[], tuple[T, ...]]) -> None:
        self._make = make
        self._items: tuple[T, ...] | None = None

    @property
    def items(self) -> tuple[T, ...]:
        """All of it."""
        if self._items is None:
            self._items = self._make()
        return self._items

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Sequence):
            return self.items == tuple(cast("Sequence[object]", other))
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.items)

    def __repr__(self) -> str:
        return repr(self.items)
