"""`Corrections`: facts that the conversation has corrected, which no turn shows.

Facts are extracted from what left the context, so a correction that is still in it has not reached them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from memctx import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx._core import Conversation, Fact
    from memctx.context.recall import Candidates, Recall
    from memctx.context.state import Block

KNOWLEDGE = "<knowledge>"


@dataclass(frozen=True, slots=True)
class Corrections:
    """Finds corrected facts, with a cache from turn to turn."""

    recall: Recall
    _corrections: _core.Corrections = field(default_factory=_core.Corrections)

    def drop_corrected(self, found: Candidates, conversation: Conversation) -> Candidates:
        """Return what a search found, without the facts that the conversation corrects.

        Passages that it takes back are named in ``taken_back``.
        """
        said = {
            hit.segment.id: hit.segment.content for hit in found.hits if hit.segment.role != "tool"
        }
        taken = self._corrections.take_back(conversation, list(said.values()))
        taken_back = {
            key: is_all for key, is_all in zip(said, taken, strict=True) if is_all is not None
        }
        if taken_back:
            found = replace(found, taken_back=taken_back)
        if not found.facts:
            return found
        facts = [hit.fact for hit in found.facts]
        stale = self._find([(fact.content, fact) for fact in facts], conversation)
        if not any(stale):
            return found
        kept = [hit for hit, is_stale in zip(found.facts, stale, strict=True) if not is_stale]
        return replace(found, facts=kept)

    def revise(self, blocks: Sequence[Block], conversation: Conversation) -> list[Block]:
        """Return blocks that were sent, without the facts that no longer hold or that the conversation corrects.

        That changes the prompt from the block on: better the cache is lost than a stale fact repeated.
        """
        shown = [self._facts_of(block) for block in blocks]
        facts = [fact for each in shown for fact in each]
        if not facts:
            return list(blocks)
        corrected = iter(self._find(facts, conversation))
        kept: list[Block] = []
        for block, each in zip(blocks, shown, strict=True):
            stale = [next(corrected) or fact is None or not fact.is_active for _, fact in each]
            revised = self._without(block, [content for content, _ in each], stale)
            if revised is not None:
                kept.append(revised)
        return kept

    def _facts_of(self, block: Block) -> list[tuple[str, Fact | None]]:
        """Return the contents of the facts that a block shows, each with the fact as it is now; None if forgotten."""
        get = self.recall.facts.get
        # Facts come first among the items; the id of a changed one ends in the number of the change.
        return [
            (content, get(item) or get(item.rpartition(".")[0]))
            for content, item in zip(_contents(block.text), block.items, strict=False)
        ]

    def _without(self, block: Block, contents: list[str], stale: list[bool]) -> Block | None:
        """Return a block without its stale facts; None if nothing is left."""
        if not any(stale):
            return block
        dropped = [content for content, is_stale in zip(contents, stale, strict=True) if is_stale]
        text = _core.drop_facts(block.text, dropped)
        if not text:
            return None
        estimator = self.recall.config.trim.estimator
        tokens = estimator(text) if callable(estimator) else _core.estimate_tokens(text, estimator)
        fresh = [item for item, is_stale in zip(block.items, stale, strict=False) if not is_stale]
        return replace(block, text=text, tokens=tokens, items=(*fresh, *block.items[len(stale) :]))

    def _find(
        self, facts: Sequence[tuple[str, Fact | None]], conversation: Conversation
    ) -> list[bool]:
        """Return for each content whether the conversation contradicts it after the messages that state it."""
        get = self.recall.store.get
        return self._corrections.find(
            conversation,
            [
                (content, [found.content for source in fact.sources if (found := get(source))])
                if fact is not None
                else (content, [])
                for content, fact in facts
            ],
        )


@lru_cache(maxsize=64)
def _contents(block: str) -> tuple[str, ...]:
    """Return the contents of the facts in the text of a block, which is sent turn after turn."""
    parsed = _core.parse_block(block) if KNOWLEDGE in block else None
    return () if parsed is None else tuple(content for _, content in parsed[0])
