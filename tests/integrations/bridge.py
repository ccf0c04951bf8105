"""Messages of a framework as plain dictionaries and back: untouched ones come back as the very same objects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import memctx

M = TypeVar("M")
View = dict[str, Any]


@dataclass
class Bridge(Generic[M]):
    """Prepares the messages of a framework through views of them in OpenAI's chat format."""

    view: Callable[[M], list[View]]
    """The views of a message: one, or one for each result that it holds."""
    edited: Callable[[M, dict[str, str]], M]
    """A copy of a message in which the results of some calls have other texts."""
    made: Callable[[str], M]
    """A message of the person with a text."""
    _known: dict[int, tuple[M, list[View]]] = field(default_factory=dict[int, tuple[M, list[View]]])

    def prepare(self, memory: memctx.Memory, messages: Sequence[M]) -> list[M]:
        """Return what is to be sent."""
        views = [(message, view) for message in messages for view in self._views(message)]
        owners = {id(view): message for message, view in views}
        calls = {view["tool_call_id"]: message for message, view in views if "tool_call_id" in view}
        turn = memory.prepare([view for _, view in views], format="openai")
        assert not turn.report.errors, turn.report.errors
        sent: list[M] = []
        texts: dict[int, dict[str, str]] = {}
        for view in turn.messages:
            owner = owners.get(id(view))
            if owner is None and "tool_call_id" in view:
                owner = calls[view["tool_call_id"]]
                texts.setdefault(id(owner), {})[view["tool_call_id"]] = view["content"]
            if owner is None:
                assert view["role"] == "user", view
                sent.append(self.made(view["content"]))
            elif not sent or sent[-1] is not owner:
                sent.append(owner)
        return [self.edited(it, texts[id(it)]) if id(it) in texts else it for it in sent]

    def _views(self, message: M) -> list[View]:
        if id(message) not in self._known:
            self._known[id(message)] = (message, self.view(message))
        return self._known[id(message)][1]
