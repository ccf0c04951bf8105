"""Conversations to compact, and scripted summarizers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import memctx
from compaction.summary.models import Scripted
from context.rendering import Rendering
from context.script import Assistant, Call, Result, Results, System, User

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from context.script import FormatName, Script, Step
    from memctx.compaction import Compacted

PORT = "The payment webhook listens on port 8443."
ASK = "Now move the deployment to Friday and tell the team in the channel #release."


def script(turns: int = 6, *, system: bool = False, calls: int = 1) -> Script:
    """Return a conversation with a call in every turn, some failed, and files read and changed."""
    steps: list[Step] = [System("You are brief.")] if system else []
    for number in range(turns):
        steps.append(
            User((f"Question {number}: {PORT if number == 0 else 'go on with it. ' * 30}",))
        )
        for loop in range(calls):
            name = "edit" if number % 2 else "read"
            call = Call(f"call_{number}_{loop}", name, {"path": f"src/file{number}.py"})
            is_error = number % 3 == 2
            text = f"error: no such file {number}" if is_error else f"content {number}.{loop} " * 40
            steps += [
                Assistant(calls=(call,)),
                Results((Result(call.id, name, text, is_error=is_error),)),
            ]
        steps.append(Assistant((f"Answer {number}: done with it. " * 20,)))
    return tuple(steps)


def talk(format: FormatName = "anthropic", turns: int = 6, **options: Any) -> list[Any]:
    """Return the conversation in a format, with the newest ask at its end."""
    return Rendering((*script(turns, **options), User((ASK,))), format).whole()


def opened(path: Path, summarizer: Any = None, **settings: Any) -> memctx.Memory:
    """Open a memory with a small window, which keeps few messages."""
    config = memctx.Config(
        context_window=4_000,
        disk={"durability": "os"},
        compaction={"keep_recent_tokens": 300, "mode": "default"},
        summarizer=Scripted() if summarizer is None else summarizer,
    )
    return memctx.open(path / "memory", session_id="s1", config=config.replace(**settings))


def compacted(memory: memctx.Memory, messages: Sequence[Any], **options: Any) -> Compacted:
    return asyncio.run(memory.compact(messages, **options))
