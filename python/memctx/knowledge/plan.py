"""`plan`: what new statements do to what is known, without doing it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from memctx import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx.knowledge.draft import Action, Draft


class Statement(Protocol):
    """A fact, as far as the plan looks at it."""

    @property
    def id(self) -> str:
        """What it is known by."""
        ...

    @property
    def content(self) -> str:
        """What it says."""
        ...


@dataclass(frozen=True, slots=True)
class Op:
    """What is to be done for a draft."""

    action: Action
    draft: Draft
    target: str | None
    """The fact it is done to or, where nothing is to be done, the one that says it already."""
    reason: str
    degraded: str | None = None
    """Why the extractor's word was not followed; None where it was, or where there was none."""


def plan(
    drafts: Sequence[Draft], existing: Sequence[Statement], *, allow_delete: bool = False
) -> list[Op]:
    """What is to be done for each draft, in order; a later one sees what becomes of the earlier ones.

    An extractor's word is followed where it fits what is known. Otherwise, and where there is none, a rule decides:
    another value, or the opposite, is SUPERSEDE; the same and more is UPDATE; nothing new is NONE; all else is ADD.
    What has a value that no known fact has is never NONE.

    >>> from memctx.knowledge import Draft
    >>> old = Draft("config", "The webhook listens on port 3000", id="a")
    >>> new = Draft("config", "The webhook listens on port 8443", id="b")
    >>> [(op.action, op.target) for op in plan([new, new], [old])]
    [('supersede', 'a'), ('none', 'b')]
    """
    rows = [(draft.id, draft.content, draft.action, draft.target) for draft in drafts]
    known = [(fact.id, fact.content) for fact in existing]
    planned = _core.plan_facts(rows, known, allow_delete=allow_delete)
    return [Op(row[0], draft, *row[1:]) for draft, row in zip(drafts, planned, strict=True)]
