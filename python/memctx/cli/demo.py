"""Demonstration: questions about messages that left the context window, with memctx and with plain truncation.

A process plays a session of a coding agent that outgrows its window, and ends. A second process opens the store that it
left and asks. The model is `memctx.testing.QuotingModel`, which knows nothing and quotes what it is sent: beside memory
it is sent the newest messages of as many tokens.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unicodedata
from dataclasses import asdict, dataclass
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import memctx
from memctx.testing import FakeModel, QuotingModel

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Message = dict[str, Any]

WINDOW = 16_000
STEPS = 200
TASK = "Build the shop's checkout. Work through the files one by one."
# What the agent says early in the session, by step; all of it leaves the window long before the questions.
SAID = {
    5: "Decision: the payment webhook listens on port 8443.",
    11: "Decision: customers may send goods back within 30 days.",
    17: "已确定：支付回调失败后按 1、5、25 分钟重试，三次之后写入死信队列。",
    23: "確認済み：本番データベースはフランクフルトのリージョンにあります。",
    29: "The shop is deployed to the region us-east-1.",
    47: "Correction: the shop is deployed to the region eu-west-3 now, no longer to us-east-1.",
}
FILES = ("parser.py", "models.py", "views.py", "forms.py", "currency.py", "audit.py")
PARAGRAPH = 100


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and what its answer must contain."""

    text: str
    wanted: str
    note: str = ""


QUESTIONS = (
    Question("Which region is the shop deployed to?", "eu-west-3", "corrected since"),
    Question("Which port does the payment webhook listen on?", "port 8443"),
    Question("Until when can a buyer return a product?", "30 days", "in other words"),
    Question("支付回调失败后怎么重试？", "1、5、25 分钟"),
    Question("本番データベースはどこにありますか？", "フランクフルト"),
)


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of one question."""

    question: str
    note: str
    answer: str
    """The model's answer to what memctx sends."""
    truncated: str
    """Its answer to the newest messages of as many tokens."""
    is_right: bool
    was_gone: bool
    """True if no message that is still sent as it was holds the answer."""
    block: str
    """The block that was recalled."""


@dataclass(frozen=True, slots=True)
class Demonstration:
    """The outcome of all questions."""

    tokens: int
    """Tokens of the session."""
    answers: tuple[Answer, ...]

    @property
    def is_good(self) -> bool:
        """True if memory answered every question, and none from a message that had stayed in the window."""
        return all(answer.is_right and answer.was_gone for answer in self.answers)

    def __str__(self) -> str:
        """Return the questions with both answers, and the block recalled for the first one."""
        first, *_ = self.answers
        head = (
            f"A coding agent has worked through {self.tokens:,} tokens in a window of {WINDOW:,}, and its process\n"
            "has ended. A second process asks about what had left the window long before: once with memctx,\n"
            "once with the newest messages of as many tokens. The model is a stand-in that knows nothing:\n"
            "it quotes what it is sent, or says that it does not know."
        )
        answers = (
            f"{each.question}{f'  ({each.note})' if each.note else ''}\n"
            f"  with memctx   {each.answer}\n  truncation    {each.truncated}"
            for each in self.answers
        )
        return "\n\n".join(
            (
                head,
                *answers,
                f"What memctx added for “{first.question}”:",
                _indented(first.block),
                *(() if self.is_good else ("memctx did not answer every question from memory.",)),
            )
        )


def run_demo(arguments: Sequence[str] | None = None) -> None:
    """Run the demonstration and print its outcome, for environments without click."""
    parser = argparse.ArgumentParser(
        prog="memctx demo", description="Show what memory recalls and truncation has lost."
    )
    parser.add_argument("--html", metavar="PAGE", type=Path, help="Write the session as a page.")
    page: Path | None = parser.parse_args(arguments).html
    if sys.stderr.isatty():
        print("Playing a session of 230 calls, then asking; about 10 seconds …", file=sys.stderr)
    done = demonstrate()
    print(f"{done}\n\n{next_step(page)}")
    raise SystemExit(0 if done.is_good else 1)


def demonstrate() -> Demonstration:
    """Play the session in one process, ask in another, and return the answers."""
    with tempfile.TemporaryDirectory(prefix="memctx-demo-") as folder:
        played = _process("play", folder)
        asked = _process("ask", folder)
    answers = tuple(Answer(**each) for each in asked["answers"])
    return Demonstration(played["tokens"], answers)


def next_step(page: Path | None) -> str:
    """Write the page if it is given, and say how to open it, else how to get one."""
    if page is None:
        return f"The session as a page, call by call: {_program()} demo --html memctx-demo.html"
    return f"Open the page in a browser: {write_page(page).resolve().as_uri()}"


def write_page(page: Path) -> Path:
    """Write the page of the session with all questions."""
    from memctx.cli.replay import Recording, replay, write_html  # noqa: PLC0415 - only for --html

    recording = Recording("memctx demo", asked_session())
    return write_html(replay(recording, context_window=WINDOW), page)


def _process(step: str, store: str) -> Any:  # noqa: ANN401 - JSON
    """Run a step in a process of its own, and return what it prints."""
    command = [sys.executable, "-m", "memctx.cli.demo", step, store]
    environ = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environ)  # noqa: S603
    return json.loads(done.stdout)


def _play(store: str) -> dict[str, Any]:
    """Play the session through a memory as a host would."""
    messages = session()
    calls = [index for index, message in enumerate(messages) if message["role"] != "assistant"]
    model = FakeModel("Noted.", window=WINDOW)
    tokens = 0
    with open_memory(store) as memory:
        for newest in calls:
            turn = memory.prepare(messages[: newest + 1])
            model(turn.messages)  # which refuses what a provider would refuse
            tokens = turn.report.tokens.before
        memory.reembed()  # what a process that lives longer does in the background
    return {"tokens": tokens}


def _ask(store: str) -> dict[str, Any]:
    """Ask every question as the newest message of the session."""
    messages = session()
    answers: list[Answer] = []
    model = FakeModel(QuotingModel(), window=WINDOW)
    with open_memory(store) as memory:
        for question in QUESTIONS:
            asked = [*messages, _user(question.text)]
            turn = memory.prepare(asked)
            given = {id(message) for message in asked}
            kept = [message for message in turn.messages if id(message) in given]
            blocks = [message for message in turn.messages if id(message) not in given]
            answer = model(turn.messages)
            answers.append(
                Answer(
                    question=question.text,
                    note=question.note,
                    answer=answer,
                    truncated=model(_truncate(asked, turn.report.tokens.after)),
                    is_right=question.wanted in answer,
                    was_gone=not any(question.wanted in str(each["content"]) for each in kept),
                    block=str(blocks[-1]["content"]) if blocks else "",
                )
            )
    return {"answers": [asdict(answer) for answer in answers]}


def open_memory(store: str) -> memctx.Memory:
    """Open the memory of the session with a small window."""
    return memctx.open(store, session_id="demo", context_window=WINDOW)


def session() -> list[Message]:
    """Return the messages of the whole session."""
    steps = (message for step in range(1, STEPS + 1) for message in _work(step))
    return [_user(TASK), *steps]


def asked_session() -> list[Message]:
    """Return the session with all questions at its end, each with its answer."""
    asked = (
        message
        for question in QUESTIONS
        for message in (_user(question.text), _assistant(question.wanted))
    )
    return [*session(), *asked]


def _work(step: int) -> Iterator[Message]:
    """Yield the messages of one step: a call, its result, and what agent and user say."""
    file = FILES[step % len(FILES)]
    function = {"name": "read", "arguments": json.dumps({"path": f"src/{file}"})}
    call = {"id": f"call_{step}", "type": "function", "function": function}
    lines = (
        f"{step + n}: sum_{n} = round_half_even(amount * rate_{step * n % 97})" for n in range(16)
    )
    said = SAID.get(step, f"Step {step}: the sums in {file} come next.")
    yield {**_assistant(said), "tool_calls": [call]}
    yield {"role": "tool", "tool_call_id": call["id"], "content": "\n".join(lines)}
    if step % 8 == 0:
        yield _assistant(f"{step} files are done, all of them round half to even.")
        yield _user(f"Good. {FILES[(step + 1) % len(FILES)]} comes next.")


def _user(text: str) -> Message:
    return {"role": "user", "content": text}


def _assistant(text: str) -> Message:
    return {"role": "assistant", "content": text}


def _truncate(messages: Sequence[Message], tokens: int) -> list[Message]:
    """Return the newest messages that fit, from a user's message or a call on, as hosts without memory send them."""
    left = len(messages)
    for index in range(len(messages) - 1, -1, -1):
        text = json.dumps(messages[index], ensure_ascii=False)
        tokens -= memctx.estimate_tokens(text, "script")
        if tokens < 0:
            break
        left = index if messages[index]["role"] != "tool" else left
    return list(messages[left:])


def _indented(block: str) -> str:
    lines = (
        fill(line, PARAGRAPH, initial_indent="  ", subsequent_indent="    ")
        if all(unicodedata.east_asian_width(letter) not in "WF" for letter in line)
        else f"  {line}"
        for line in block.splitlines()
        if line
    )
    return "\n".join(lines)


def _program() -> str:
    """Return how to call memctx in this environment."""
    if shutil.which("memctx"):
        return "memctx"
    return f"{os.path.relpath(sys.executable)} -m memctx"


if __name__ == "__main__":
    if sys.argv[1:2] in (["play"], ["ask"]):
        print(json.dumps({"play": _play, "ask": _ask}[sys.argv[1]](sys.argv[2])))
    else:
        run_demo()
