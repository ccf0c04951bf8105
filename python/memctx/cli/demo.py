"""`make demo`: questions about messages that left the context window, with memctx and with plain truncation.

A process plays a long session of a coding agent through `Memory.prepare`, turn by turn, in a window that holds a part
of it, and ends. This process opens the store it left and asks about messages that are no longer in the window. Beside
each answer stands what plain truncation to the same size still holds.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import memctx

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Message = dict[str, Any]

WINDOW = 16_000
STEPS = 160
TASK = "Build the shop's checkout. Work through the files one by one."
# What the agent says and what its tools return, by step; all of it leaves the window long before the questions.
DECISIONS = {
    5: "Decision: the webhook listens on port 8443 and verifies the signature before it parses the body.",
    11: "已确定：支付回调失败后按 1、5、25 分钟重试，三次之后写入死信队列。",
    17: "I read the settings.",
}
OUTPUTS = {
    17: "DATABASE_URL=postgres://pay:Vq7rT2mKx9@ledger.internal:5432/payments\nRATE_LIMIT=50\n",
}
# What is asked at the end, and what the answer must contain.
QUESTIONS = {
    "Which port does the webhook listen on?": "port 8443",
    "支付回调失败后怎么重试？": "1、5、25 分钟",
    "Which DATABASE_URL does the payments service use?": "ledger.internal:5432",
}
FILES = ("parser.py", "models.py", "views.py", "forms.py", "currency.py", "audit.py")


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of one question."""

    question: str
    wanted: str
    in_block: bool
    """True if the recalled block holds the answer."""
    in_window: bool
    """True if a message that never left the window holds it, which would prove nothing."""
    in_truncated: bool
    """True if plain truncation to as many tokens holds it."""
    block: str
    """The block that was recalled for this question."""


def main() -> None:
    """Run the demonstration and print the results."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        command = [sys.executable, "-m", "memctx.cli.demo", "play", str(store)]
        played = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)  # noqa: S603
        messages = session()
        with open_memory(store) as memory:
            answers = [ask(memory, messages, *asked) for asked in QUESTIONS.items()]
            archived = memory.stats()["segments"]
    print(f"{'Asked about what left the context window':<52}{'memctx':<10}truncation")
    for answer in answers:
        memory_has = "recalled" if answer.in_block and not answer.in_window else "not shown"
        width = 50 - sum(ord(letter) > 0x2E80 for letter in answer.question)  # noqa: PLR2004 - wide letters
        print(
            f"  {answer.question:<{width}}{memory_has:<10}{'kept' if answer.in_truncated else 'gone'}"
        )
    print(
        "\nWhat the model gets with the first and the last question (secrets are masked on disk):\n"
    )
    for answer in (answers[0], answers[-1]):
        print("\n".join(f"  {line[:150]}" for line in answer.block.splitlines() if line))
    print(
        f"\nThe agent worked {STEPS} steps: {len(messages)} messages, {played['tokens']:,} tokens, "
        f"in a window of {WINDOW:,}.\n"
        f"Its process ended; this one opened the {archived} segments it left on disk and asked.\n"
        f"{played['trims']} of {played['turns']} turns trimmed; the others kept the prompt cache. "
        f"A turn took {played['median_ms']:.1f} ms (median). Requests a provider would refuse: {played['refused']}."
    )
    if not all(answer.in_block and not answer.in_window for answer in answers):
        raise SystemExit("memctx did not recall every answer")


def ask(memory: memctx.Memory, messages: Sequence[Message], question: str, wanted: str) -> Answer:
    """Ask a question as the newest message and locate the answer."""
    asked = [*messages, {"role": "user", "content": question}]
    turn = memory.prepare(asked)
    own = {id(message) for message in asked}
    blocks = [str(message["content"]) for message in turn.messages if id(message) not in own]
    window = [message for message in turn.messages if id(message) in own]
    return Answer(
        question,
        wanted,
        in_block=any(wanted in block for block in blocks),
        in_window=holds(window, wanted),
        in_truncated=holds(truncate(asked, turn.report.tokens.after), wanted),
        block=blocks[-1] if blocks else "",
    )


def play(store: Path) -> None:
    """Play the session through a memory as a host would, and print the figures as JSON."""
    messages = session()
    calls = [index for index, message in enumerate(messages) if message["role"] != "assistant"]
    times: list[float] = []
    trims = refused = tokens = 0
    with open_memory(store) as memory:
        for newest in calls:
            started = time.perf_counter()
            turn = memory.prepare(messages[: newest + 1])
            times.append((time.perf_counter() - started) * 1000)
            trims += any(unit.is_new for unit in turn.report.trimmed)
            refused += bool(memctx.validate(turn.messages))
            tokens = turn.report.tokens.before
    figures = {"turns": len(times), "trims": trims, "refused": refused, "tokens": tokens}
    print(json.dumps({**figures, "median_ms": statistics.median(times)}))


def open_memory(store: Path) -> memctx.Memory:
    """Open the memory of the session with a small window."""
    return memctx.open(store, session_id="demo", context_window=WINDOW)


def session() -> list[Message]:
    """Return the messages of the whole session."""
    steps = (message for step in range(1, STEPS + 1) for message in work(step))
    return [{"role": "user", "content": TASK}, *steps]


def work(step: int) -> Iterator[Message]:
    """Yield the messages of one step: what the agent says and calls, the result, and now and then the user."""
    file = FILES[step % len(FILES)]
    path = "deploy/.env" if step in OUTPUTS else f"src/{file}"
    function = {"name": "read", "arguments": json.dumps({"path": path})}
    call = {"id": f"call_{step}", "type": "function", "function": function}
    text = DECISIONS.get(step, f"Step {step}: the sums in {file} come next.")
    lines = (
        f"{step + n}: sum_{n} = round_half_even(amount * rate_{step * n % 97})" for n in range(16)
    )
    yield {"role": "assistant", "content": text, "tool_calls": [call]}
    yield {
        "role": "tool",
        "tool_call_id": call["id"],
        "content": OUTPUTS.get(step) or "\n".join(lines),
    }
    if step % 8 == 0:
        yield {
            "role": "assistant",
            "content": f"{step} files are done, all of them round half to even.",
        }
        yield {"role": "user", "content": f"Good. {FILES[(step + 1) % len(FILES)]} comes next."}


def truncate(messages: Sequence[Message], tokens: int) -> list[Message]:
    """Return the newest messages that fit, which is what hosts without memory keep."""
    left: list[Message] = []
    for message in reversed(messages):
        tokens -= memctx.estimate_tokens(json.dumps(message, ensure_ascii=False), "script")
        if tokens < 0:
            break
        left.insert(0, message)
    return left


def holds(messages: Sequence[Message], wanted: str) -> bool:
    """Return whether any message contains a text."""
    return any(wanted in str(message["content"]) for message in messages)


if __name__ == "__main__":
    if sys.argv[1:2] == ["play"]:
        play(Path(sys.argv[2]))
    else:
        main()
