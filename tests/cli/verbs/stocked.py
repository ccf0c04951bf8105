"""A small store with two sessions, for the tests of verbs and of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import memctx

if TYPE_CHECKING:
    from pathlib import Path

SAID = {
    "shop": [
        ("user", "We decided: the payment webhook listens on port 8443", 1_770_000_000_000),
        (
            "assistant",
            "Noted, the webhook of the shop uses port 8443 from now on",
            1_770_000_060_000,
        ),
        ("user", "支付回调失败后按一、五、二十五分钟重试", 1_770_000_120_000),
        ("assistant", "The ledger rounds half to even, as the auditors want it", 1_770_003_600_000),
    ],
    "blog": [
        ("user", "The blog is built by a static generator every night", 1_760_000_000_000),
        ("assistant", "Its theme has a dark variant since last week", 1_760_000_060_000),
    ],
}


def messages(session: str) -> list[dict[str, Any]]:
    """Return the messages of a session in the format of Pi, which has times."""
    return [
        {"role": role, "content": [{"type": "text", "text": text}], "timestamp": at}
        for role, text, at in SAID[session]
    ]


def stocked(path: Path) -> Path:
    """Fill a directory with two sessions and two facts, one of them corrected."""
    for session in SAID:
        with opened(path, session) as memory:
            memory.archive(messages(session), format="pi")
    with opened(path, "shop") as memory:
        old = memory.facts.add("config", "The webhook of the shop listens on port 3000")
        memory.facts.supersede(old.id, "The webhook of the shop listens on port 8443")
        memory.facts.add("decision", "The ledger rounds half to even")
    return path


def opened(path: Path, session: str = "shop", **settings: Any) -> memctx.Memory:
    """Open the memory of a session without background work."""
    disk = {"durability": "os", "eviction_days": 0.0}
    config = memctx.Config(knowledge_extraction=False, embedding_model="hash", disk=disk)
    config = config.replace(**settings)
    return memctx.open(path, session_id=session, config=config)
