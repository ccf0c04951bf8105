"""The facts of another memory, as its ``knowledge.jsonl`` has them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from memctx import _core
from memctx.errors import MemctxError
from memctx.messages import part
from memctx.session.entry import milliseconds
from memctx.transfer.tape import Tape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from memctx.config import Config

logger = logging.getLogger("memctx.transfer")

# Of facts that say nothing of their session.
SESSION = "imported"


def imported(config: Config, files: Sequence[Path]) -> int:
    """Take over the facts that still hold; how many of them are new here."""
    if not files:
        return 0
    store = _core.FactStore(
        config.storage_path,
        session_id=SESSION,
        cross_session=True,
        durability=config.durability,
        redaction=config.redaction,
        pii=config.pii,
        patterns=config.redaction_patterns or None,
        lock_timeout=config.lock_timeout,
    )
    try:
        before = len(store)
        for path in files:
            for fact in _active(path):
                _add(store, fact)
        return len(store) - before
    finally:
        store.close()


def _active(path: Path) -> Iterator[dict[str, Any]]:
    """The facts of a file that hold: the last line of each counts."""
    found: dict[str, dict[str, Any]] = {}
    for line in Tape(path).objects():
        if (own := part.text(line, "id")) is not None:
            found[own] = line
    for fact in found.values():
        if not fact.get("supersededBy") and fact.get("_deleted") is not True:
            yield fact


def _add(store: _core.FactStore, fact: dict[str, Any]) -> None:
    kind, content = part.text(fact, "type"), part.text(fact, "content")
    if kind is None or content is None:
        return
    try:
        store.add(
            kind,
            content,
            context=part.text(fact, "context"),
            id=fact["id"],
            timestamp=milliseconds(fact.get("timestamp")),
        )
    except MemctxError as error:
        logger.info("fact %r: not taken over: %s", fact["id"], error)
