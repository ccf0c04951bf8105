"""Importing 100,000 messages: how many a second, at what peak of memory, and what a kill half-way costs.

The transcripts are made up, the same each time: agent sessions of Claude Code with tool calls, conversations of a
ChatGPT export, plain lines. Each import runs in a process of its own, whose peak is the largest resident size that the
system saw, with the interpreter and the import of memctx, which is given apart. Then one is killed half-way and run
again; what the store holds in the end must be what it holds after an uninterrupted import.

    python benches/python/imports.py
    python benches/python/imports.py --messages 20000
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memctx.lowlevel import LogReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CHILD = """
import json, resource, sys
from memctx.cli.import_export import import_transcripts
def peak():
    try:  # what the system counts for a child begins with the size of its parent
        lines = open("/proc/self/status").read().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) // 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> (20 if sys.platform == "darwin" else 10)
before = peak()
def tell(progress):
    print(json.dumps({"messages": progress.messages}), flush=True)
done = import_transcripts(sys.argv[1], sys.argv[2], on_progress=tell)
print(json.dumps({"messages": done.messages, "added": done.added, "sessions": done.sessions, "files": done.files,
                  "seconds": done.seconds, "before": before, "peak": peak()}), flush=True)
"""
WORDS = (
    "the port webhook index shard release settings file test query host cache error retry branch merge deploy "
    "server memory token window session archive search vector fact user reads writes moves fails passes before after"
).split()
SEED = 7
BEGAN = 1_760_000_000


@dataclass(frozen=True)
class Run:
    """Result of an import in its own process."""

    messages: int
    added: int
    sessions: int
    files: int
    seconds: float
    before: int
    peak: int


def text(draw: random.Random, words: int) -> str:
    return " ".join(draw.choice(WORDS) for _ in range(words)) + f" {draw.randrange(1_000_000)}."


def claude_code(folder: Path, messages: int) -> None:
    """Write sessions of 200 messages, one file each: a question, a call and its result, an answer."""
    draw = random.Random(SEED)
    for session in range(messages // 200):
        path, last = folder / "project" / f"session-{session:05d}.jsonl", None
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8") as file:
            for at in range(200):
                call = f"t{session}-{at // 4}"
                role, content = (
                    ("user", text(draw, 30)),
                    (
                        "assistant",
                        [
                            {
                                "type": "tool_use",
                                "id": call,
                                "name": "Read",
                                "input": {"path": text(draw, 2)},
                            }
                        ],
                    ),
                    (
                        "user",
                        [{"type": "tool_result", "tool_use_id": call, "content": text(draw, 150)}],
                    ),
                    ("assistant", [{"type": "text", "text": text(draw, 60)}]),
                )[at % 4]
                line = {
                    "type": role,
                    "uuid": f"u{session}-{at}",
                    "parentUuid": last,
                    "sessionId": f"session-{session:05d}",
                    "timestamp": (BEGAN + session * 3600 + at) * 1000,
                    "message": {"role": role, "content": content},
                }
                last = line["uuid"]
                file.write(f"{json.dumps(line)}\n")


def chatgpt(folder: Path, messages: int) -> None:
    """Write conversations of 40 messages, all in one list."""
    draw = random.Random(SEED)

    def conversation(number: int) -> dict[str, Any]:
        nodes: dict[str, Any] = {}
        for at in range(40):
            message = {
                "id": f"m{number}-{at}",
                "author": {"role": "assistant" if at % 2 else "user"},
                "create_time": BEGAN + number * 3600 + at,
                "content": {"content_type": "text", "parts": [text(draw, 80)]},
            }
            parent = f"n{at - 1}" if at else None
            nodes[f"n{at}"] = {"id": f"n{at}", "parent": parent, "children": [], "message": message}
        return {"conversation_id": f"gpt-{number}", "current_node": "n39", "mapping": nodes}

    with (folder / "conversations.json").open("w", encoding="utf-8") as file:
        file.write("[")
        for number in range(messages // 40):
            file.write(f"{',' if number else ''}{json.dumps(conversation(number))}")
        file.write("]")


def plain(folder: Path, messages: int) -> None:
    """Write one session in one file."""
    draw = random.Random(SEED)
    with (folder / "talk.jsonl").open("w", encoding="utf-8") as file:
        for at in range(messages):
            role = "assistant" if at % 2 else "user"
            line = {
                "session_id": "s1",
                "role": role,
                "content": text(draw, 60),
                "timestamp": BEGAN + at,
            }
            file.write(f"{json.dumps(line)}\n")


SOURCES: dict[str, Callable[[Path, int], None]] = {
    "claude-code": claude_code,
    "chatgpt": chatgpt,
    "plain": plain,
}


def run(store: Path, source: Path, kill_at: int | None = None) -> Run | None:
    """Import in a new process; return None if it was killed after a number of messages."""
    command = [sys.executable, "-c", CHILD, str(store), str(source)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told: dict[str, Any] = {}
        for line in process.stdout:
            told = json.loads(line)
            if kill_at is not None and told["messages"] >= kill_at:
                process.send_signal(signal.SIGKILL)
                return None
    if process.returncode:
        raise SystemExit(f"the import ended with {process.returncode}")
    return Run(**told)


def held(store: Path) -> Iterator[tuple[str, str, str, float]]:
    for each in LogReader(store).scan():
        yield each.session_id, each.role, each.content, each.timestamp


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--messages", type=int, default=100_000)
    asked = parser.parse_args()
    heads = f"{'source':<12} {'files':>6} {'sessions':>8} {'messages':>8} {'seconds':>8}"
    print(f"{heads} {'per s':>7} {'peak':>7} {'bare':>6}")
    for name, write in SOURCES.items():
        with tempfile.TemporaryDirectory() as folder:
            source, store = Path(folder) / "source", Path(folder) / "memory"
            source.mkdir()
            write(source, asked.messages)
            whole = run(store, source)
            assert whole is not None
            rate = whole.messages / whole.seconds
            print(
                f"{name:<12} {whole.files:>6} {whole.sessions:>8} {whole.messages:>8} {whole.seconds:>8.2f}"
                f" {rate:>7.0f} {whole.peak:>4} MB {whole.before:>3} MB"
            )
            other = Path(folder) / "killed"
            run(other, source, kill_at=asked.messages // 2)
            kept = sum(1 for _ in held(other))
            again = run(other, source)
            assert again is not None
            rows = list(held(other))
            missing, twice = len(set(held(store)) - set(rows)), len(rows) - len(set(rows))
            print(
                f"{'':<12} killed with {kept} stored, {again.messages} messages more in {again.seconds:.2f} s:"
                f" {missing} missing, {twice} twice"
            )


if __name__ == "__main__":
    main()
