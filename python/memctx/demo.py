"""`make demo`: a conversation outgrows its window, and what was decided at its start is still answered.

A long session of a coding agent goes through `Memory.prepare` turn by turn, in a window that holds a part of it. Then
the process ends, another one opens the store, and three questions in three languages are asked. Beside each answer
stands what plain truncation to the same size would have left. At the end, what is known, a correction, and a page that
shows every turn.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import memctx
from memctx.replay import Recording, replay, write_html

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WINDOW = 12_000
STEPS = 180
TASK = "Build a payment service for Stripe. Deploy target is the EU cluster."
# What the agent decides once, early, and what the user says, by the step it is said in.
DECIDED = {3: "We decided that the webhook listens on port 8443 and verifies signatures first."}
SAID = {
    7: "支付回调失败后按 1、5、25 分钟重试，最多三次，之后写入死信队列。",
    12: "レート制限は加盟店ごとに毎秒50リクエスト、トークンバケットでお願いします。",
    20: "The database is postgres://pay:Vq7rT2mKx9@db.internal:5432/payments",
}
# What is asked at the end, and what the answer must hold.
QUESTIONS = {
    "Which port does the webhook listen on?": "8443",
    "支付回调失败后怎么重试？": "死信队列",
    "加盟店のレート制限は？": "50リクエスト",
}
# Lines of a result; a few results are long, and are shortened once there is too little room.
SHORT, LONG = 12, 120
LONG_STEPS = (9, 15)
CORRECTION = "We decided that the webhook listens on port 9443 and verifies signatures first."
FILES = ("webhook.py", "ledger.py", "refunds.py", "invoices.py", "currency.py", "audit.py")


def main() -> None:
    """Run the demonstration and print what it does."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory"
        with opened(path) as memory:
            messages = played(memory)
            print(f"\nWhere the last turn stands:\n{memory.prepare(messages).report}\n")
        print("The process ends; another one opens the store.\n")
        with opened(path) as memory:
            for question, wanted in QUESTIONS.items():
                asked = [*messages, {"role": "user", "content": question}]
                turn = memory.prepare(asked)
                kept = truncated(asked, turn.report.tokens.after)
                print(f"? {question}")
                print(f"  memctx      {found(turn.messages, wanted)}")
                print(f"  truncation  {found(kept, wanted)}")
                print(f"  refused by the provider: {memctx.validate(turn.messages) or 'nothing'}\n")
            archived = memory.archive(messages)
            print(
                f"Compacted now: {archived.added} pieces more to the archive, {archived.duplicates} were there."
            )
            masked = memory.search("which postgres database?", limit=1)[0].segment
            print(f"Secrets never reach the disk: {masked.content}\n")
            corrected(memory)
    page = write_html(
        replay(Recording("demo", messages), context_window=WINDOW, reserve_tokens=1_000),
        Path(tempfile.gettempdir()) / "memctx-demo.html",
    )
    print(f"\nEvery turn of it, to look at: {page}")


def opened(path: Path) -> memctx.Memory:
    """The memory of the session, with a small window."""
    return memctx.open(
        path,
        session_id="demo",
        context_window=WINDOW,
        reserve_tokens=1_000,
        knowledge_extraction="rules",
    )


def corrected(memory: memctx.Memory) -> None:
    """Let a later decision take the place of the first, and show that both are known for what they are."""
    memory.flush().result()
    print(f"Known, by rules alone: {[fact.content for fact in memory.facts]}")
    memory.archive([{"role": "user", "content": CORRECTION}])
    memory.flush().result()
    for hit in memory.facts.search("which port has the webhook?"):
        states = memory.facts.history(hit.fact.id)
        print(f"Corrected: {hit.fact.content}")
        print(f"           before that: {states[0].content}")


def played(memory: memctx.Memory) -> list[dict[str, Any]]:
    """The whole session, each turn of it prepared as a host would."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": TASK}]
    trims = 0
    for step in range(1, STEPS + 1):
        turn = memory.prepare(messages)
        shortened = [result for result in turn.report.pruned if result.is_new]
        if shortened:
            before = sum(result.tokens_before for result in shortened)
            after = sum(result.tokens_after for result in shortened)
            print(
                f"step {step:>3}: long results shortened: {len(shortened)}, from {before:,} to {after:,} tokens"
            )
        trimmed = [unit for unit in turn.report.trimmed if unit.is_new]
        if trimmed:
            trims += 1
            tokens = turn.report.tokens
            print(
                f"step {step:>3}: {len(messages)} messages, {tokens.before:,} tokens; "
                f"{len(trimmed)} units leave for the archive, {tokens.after:,} tokens are sent"
            )
        messages += worked(step)
    print(
        f"{STEPS} steps, {len(messages)} messages, {trims} trims, every other turn sent as it was."
    )
    return messages


def worked(step: int) -> Iterator[dict[str, Any]]:
    """What one step adds: a call of a tool, its result, the answer, and what the user says next."""
    file = FILES[step % len(FILES)]
    arguments = json.dumps({"path": f"src/payments/{file}", "line": step})
    call = {
        "id": f"call_{step}",
        "type": "function",
        "function": {"name": "read", "arguments": arguments},
    }
    lines = (
        f"{step + n}: total_{n} = round_half_even(amount * rate_{(step * n) % 97})"
        for n in range(LONG if step in LONG_STEPS else SHORT)
    )
    yield {"role": "assistant", "content": None, "tool_calls": [call]}
    yield {"role": "tool", "tool_call_id": f"call_{step}", "content": "\n".join(lines)}
    answer = DECIDED.get(step, f"Read {file}; step {step} rounds as the others do.")
    yield {"role": "assistant", "content": answer}
    yield {
        "role": "user",
        "content": SAID.get(step, f"Go on with {FILES[(step + 1) % len(FILES)]}."),
    }


def truncated(messages: Sequence[dict[str, Any]], tokens: int) -> list[dict[str, Any]]:
    """The newest messages that fit, which is what hosts without memory keep."""
    left: list[dict[str, Any]] = []
    for message in reversed(messages):
        tokens -= memctx.estimate_tokens(json.dumps(message, ensure_ascii=False), "script")
        if tokens < 0:
            break
        left.insert(0, message)
    return left


def found(messages: Sequence[dict[str, Any]], wanted: str) -> str:
    """The line that holds the answer, or that there is none."""
    texts = (str(message["content"] or "") for message in messages[:-1])
    lines = (line for text in texts for line in text.splitlines() if wanted in line)
    return next(lines, "gone")


if __name__ == "__main__":
    main()
