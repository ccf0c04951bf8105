"""`Use`: what the model called in a conversation, and what came back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memctx._core import Conversation

Key: TypeAlias = tuple[int, str]
"""The unit and the id of a call: some hosts count their ids from 0 in every turn."""


@dataclass(frozen=True, slots=True)
class Use:
    """A call, or the result of one."""

    place: int
    """The message that it stands in."""
    key: Key
    """What a call and its result have in common."""
    tool: str
    """The name of the tool; empty where it is not known."""
    text: str
    """The arguments of a call as JSON, or what a result says."""
    is_error: bool = False

    @property
    def arguments(self) -> dict[str, object]:
        """The arguments of a call; none where they are no JSON.

        >>> Use(0, (0, "c"), "read", '{"path": "a.py"}').arguments
        {'path': 'a.py'}
        """
        try:
            found = json.loads(self.text)
        except ValueError:
            return {}
        return cast("dict[str, object]", found) if isinstance(found, dict) else {}


def uses_of(conversation: Conversation) -> tuple[list[Use], list[Use]]:
    """All calls of a conversation, and all results.

    >>> from memctx import _core
    >>> call = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "ls", "input": {}}]}
    >>> uses_of(_core.Scanner().scan([call]))
    ([Use(place=0, key=(0, 't'), tool='ls', text='{}', is_error=False)], [])
    """
    calls: list[Use] = []
    results: list[Use] = []
    for kind, use in _uses(conversation):
        (calls if kind == "call" else results).append(use)
    return calls, results


def _uses(conversation: Conversation) -> Iterator[tuple[str, Use]]:
    # Whether a message is in a group takes longer to ask than all of its records do.
    places = [place for place, role in enumerate(conversation.roles) if role != "system"]
    unit_of = {place: number for number, unit in enumerate(conversation.units) for place in unit}
    for place, records in zip(places, conversation.records(places), strict=True):
        for _, text, _, metadata in records:
            if not metadata or not metadata.startswith('{"tool":'):
                continue
            tool = json.loads(metadata)["tool"]
            name, kind = tool.get("name", ""), tool.get("kind", "")
            key = (unit_of[place], tool.get("callId", ""))
            if kind == "call":
                text = text[len(name) :].lstrip()  # noqa: PLW2901 - the name stands before it
            yield kind, Use(place, key, name, text, bool(tool.get("isError")))
