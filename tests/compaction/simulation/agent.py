"""Agent of the simulation: a host with a session file and no compaction of its own. It may be killed at any moment.

``python -m compaction.simulation.agent FOLDER URL`` plays the story of ``FOLDER/plan.json`` from where the session file
ends, and leaves behind what it said and got (``ledger.jsonl``) and what happened (``events.jsonl``).
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anthropic

import memctx
from memctx.compaction import run_with_recovery
from memctx.compaction.summary import AnthropicSummarizer, ClientOptions
from memctx.hosts.openclaw import Workspace
from memctx.hosts.pi import Transcript

from .provider import MODEL, SEARCH, SUMMARIZER
from .story import Plan, Story

if TYPE_CHECKING:
    from memctx import Memory
    from memctx.compaction import Compacted


SESSION = "simulation"
ANSWER_TOKENS = 1_000
TOOLS: list[Any] = [
    {
        "name": name,
        "description": f"{name} something in the project",
        "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}},
    }
    for name in ("read", "edit", "exec", SEARCH)
]


def memory_of(folder: Path, plan: Plan, url: str = "http://127.0.0.1:1") -> Memory:
    """Open the agent's memory with default settings."""
    return memctx.open(
        folder / "memory",
        session_id=SESSION,
        context_window=plan.window,
        workspace=folder / "workspace",
        summarizer=AnthropicSummarizer(
            SUMMARIZER,
            options=ClientOptions(api_key="none", base_url=url, max_retries=plan.attempts - 1),
        ),
    )


class Agent:
    """Runs turns until the story ends."""

    def __init__(self, folder: Path, url: str) -> None:
        plan = Plan.of(json.loads((folder / "plan.json").read_text()))
        self._story = Story(plan)
        self._memory = memory_of(folder, plan, url)
        self._workspace = Workspace(folder / "workspace")
        self._transcript = Transcript.open(folder / "session.jsonl", session_id=SESSION)
        self._ledger = (folder / "ledger.jsonl").open("a", encoding="utf-8")
        self._events = (folder / "events.jsonl").open("a", encoding="utf-8")
        self._client = anthropic.AsyncAnthropic(api_key="none", base_url=url, max_retries=0)
        self._messages: list[dict[str, Any]] = self._transcript.context().for_model()
        self._usage: Any = None

    async def run(self) -> None:
        """Go on where the session file ends."""
        asked, step = self._progress()
        self._note("started", turn=asked, step=step, messages=len(self._messages))
        while True:
            if asked and (calls := self._calls()):
                results = [self._result(asked - 1, call) for call in calls]
                self._say("result", {"role": "user", "content": results})
            elif asked and self._messages[-1]["role"] == "user":
                await self._speak(asked - 1, step)
                step += 1
            elif asked < self._story.rounds:
                self._say("ask", {"role": "user", "content": self._story.round(asked).ask})
                asked, step = asked + 1, 0
            else:
                break
        self._note("ended", compactions=self._memory.counters.compaction_count)
        self._memory.close()
        await self._client.close()

    async def _speak(self, number: int, step: int) -> None:
        """Ask the model, whatever that takes."""
        await self._make_room(number, step)
        recovered = await run_with_recovery(
            lambda messages: self._asked(messages, f"answer:{number}:{step}"),
            self._messages,
            self._memory,
            transcript=self._transcript,
        )
        if recovered.compacted is not None:
            self._took(recovered.compacted, number)
        answer = recovered.answer
        content = [
            block.model_dump(exclude_none=True, exclude={"citations", "caller"})
            for block in answer.content
        ]
        self._say("answer", {"role": "assistant", "content": content})
        self._usage = answer.usage

    async def _asked(
        self, messages: list[Any], what: str, system: str = ""
    ) -> anthropic.types.Message:
        turn = await self._memory.aprepare(messages, model=MODEL)
        for error in () if turn.report.is_over_limit else turn.report.errors:
            self._note("memory failed", error=error)
        answer = await self._client.messages.create(
            model=MODEL,
            max_tokens=ANSWER_TOKENS,
            system=f"{self._workspace.system_prompt()}\n{system}",
            messages=turn.messages,
            tools=TOOLS,
            metadata={"user_id": what},
        )
        self._memory.observe(answer.usage, turn=turn)
        return answer

    async def _make_room(self, number: int, step: int) -> None:
        """Have notes written and the conversation compacted where that is due."""
        memory, usage = self._memory, self._usage
        if memory.should_write_notes(self._messages, usage=usage):

            async def run_turn(system: str, prompt: str) -> str:
                asked = [*self._messages, {"role": "user", "content": prompt}]
                answer = await self._asked(asked, f"notes:{number}:{step}", system)
                return "".join(block.text for block in answer.content if block.type == "text")

            written = await memory.write_notes(run_turn, self._messages, usage=usage)
            self._note("notes", turn=number, outcome=written.outcome, reason=written.reason)
        if memory.should_compact(self._messages, usage=usage):
            compacted = await memory.compact(
                self._messages, reason="threshold", transcript=self._transcript
            )
            self._took(compacted, number)

    def _took(self, compacted: Compacted, number: int) -> None:
        self._messages = compacted.messages
        if compacted.did_compact:
            self._usage = None
        rebuilt = self._transcript.context().for_model()
        self._note(
            "compacted" if compacted.did_compact else "not compacted",
            turn=number,
            reason=compacted.reason,
            skipped=compacted.skipped,
            fallback_level=compacted.fallback_level,
            before=compacted.tokens_before,
            after=compacted.tokens_after,
            is_split=compacted.is_split_turn,
            is_rebuilt=rebuilt == compacted.messages,
            problems=compacted.problems,
        )

    def _say(self, kind: str, message: dict[str, Any]) -> None:
        """Append a message to the session file, then to the conversation."""
        self._transcript.append_message(message)
        self._messages = [*self._messages, message]
        self._ledger.write(json.dumps({"kind": kind, "message": message}) + "\n")
        self._ledger.flush()

    def _note(self, event: str, **fields: object) -> None:
        self._events.write(json.dumps({"event": event, **fields}) + "\n")
        self._events.flush()

    def _progress(self) -> tuple[int, int]:
        """Return the number of asks in the session file, and of answers to the last."""
        asked = answered = 0
        for entry in self._transcript.lineage():
            message = entry.message if entry.type == "message" else None
            if message is None:
                continue
            if message["role"] == "assistant":
                answered += 1
            elif isinstance(message["content"], str):
                asked, answered = asked + 1, 0
        return asked, answered

    def _calls(self) -> list[dict[str, Any]]:
        """Return the calls without results."""
        last = self._messages[-1]
        is_answer = last["role"] == "assistant"
        return (
            [block for block in last["content"] if block["type"] == "tool_use"] if is_answer else []
        )

    def _result(self, number: int, call: dict[str, Any]) -> dict[str, Any]:
        """Return the result of a call: from a search of the memory, or from the story."""
        calls = {each.id: each for step in self._story.round(number).steps for each in step.calls}
        if call["name"] == SEARCH:
            hits = self._memory.search(call["input"]["query"], limit=5)
            text, is_error = "\n\n".join(hit.segment.content for hit in hits), False
        else:
            text, is_error = calls[call["id"]].result, calls[call["id"]].is_error
        return {
            "type": "tool_result",
            "tool_use_id": call["id"],
            "content": text,
            "is_error": is_error,
        }


if __name__ == "__main__":
    asyncio.run(Agent(Path(sys.argv[1]), sys.argv[2]).run())
