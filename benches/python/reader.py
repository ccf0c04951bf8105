"""Reader: what a small language model answers with memory, with truncation, and with the evidence alone.

Conversations are played through `prepare` with the default settings, and each question is put as the newest message to
its own copy of the store. Three kinds: what a person told (`told.toml`), what a person told and corrected at most
twice, both scattered over long chats, and what tools printed in recorded sessions of agents (`trajectory.toml`).

    python benches/python/reader.py ask FOLDER PROMPTS.jsonl
    python benches/python/reader.py answer PROMPTS.jsonl MODEL.gguf

The second needs `xllamacpp` and the weights of a model whose chats are marked as Qwen's are; it may run in another
environment. A reply is right if it holds the answer, up to case, blanks and punctuation. A small reader exaggerates
what a large one forgives: compare the arms, not the levels.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
import tomllib
import unicodedata
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sessions import Message, Script

TOLD = Path(__file__).with_name("told.toml")
CHATS, CHATS_PLAYED = "beam_100k", 7
# Facts are told in this first part of a conversation.
EARLY = 0.8
SEED = 23
SYSTEM = (
    "You answer the last question of a user from the conversation so far. Reply with the answer alone, in a few "
    "words, as it was said. If the conversation does not say it, reply: I do not know."
)
LONGEST_REPLY = 28


def told(folder: Path, window: int) -> Iterator[tuple[Script, list[dict[str, Any]]]]:
    """Yield chats with what a person tells in them, and the questions."""
    import random  # noqa: PLC0415 - `answer` needs none of this

    from sessions import Assistant, User  # noqa: PLC0415 - as above
    from turn_recall import LENGTH  # noqa: PLC0415 - as above
    from turn_sets import ACKNOWLEDGMENT, Library  # noqa: PLC0415 - as above

    chance = random.Random(SEED)  # noqa: S311 - the same places every time
    items = tomllib.loads(TOLD.read_text(encoding="utf-8"))["told"]
    chance.shuffle(items)
    groups = [items[at::CHATS_PLAYED] for at in range(CHATS_PLAYED)]
    chats = Library(folder).conversations(
        CHATS, int(LENGTH * window), most=CHATS_PLAYED, questions=0
    )
    for group, chat in zip(groups, chats, strict=True):
        steps = list(chat.rendering.script)
        starts = [at for at, step in enumerate(steps) if isinstance(step, User)]
        starts = starts[: int(EARLY * len(starts))]
        said = []
        for item in group:
            places = sorted(chance.sample(starts, len(item["versions"])))
            said += list(zip(places, item["versions"], strict=True))
        for place, version in sorted(said, reverse=True):
            steps[place:place] = [User((version,)), Assistant((ACKNOWLEDGMENT,))]
        kinds = ("told", "corrected once", "corrected twice")
        yield (
            tuple(steps),
            [
                {
                    "kind": kinds[len(item["versions"]) - 1],
                    "question": item["question"],
                    "answer": item["answer"],
                    "evidence": [["user", version] for version in item["versions"]],
                }
                for item in group
            ],
        )


def printed(folder: Path) -> Iterator[tuple[Script, list[dict[str, Any]]]]:
    """Yield recorded sessions, and questions for what their tools printed."""
    import sessions  # noqa: PLC0415 - `answer` needs none of this
    from sessions import Rendering  # noqa: PLC0415 - as above
    from turn_sets import PRINTED, TRAJECTORY  # noqa: PLC0415 - as above

    asked = tomllib.loads(TRAJECTORY.read_text(encoding="utf-8"))["question"]
    for name in PRINTED:
        script = sessions.load(folder, name)
        texts = _flat(Rendering(script, "openai").whole())
        questions = []
        for one in (one for one in asked if one["session"] == name):
            role, text = next(each for each in texts if one["answer"] in each[1])
            questions.append(
                {
                    "kind": "printed",
                    "question": one["text"],
                    "answer": one.get("reply", one["answer"]),
                    "evidence": [[role, _around(text, one["answer"])]],
                }
            )
        yield script, questions


def _around(text: str, answer: str, reach: int = 600) -> str:
    at = text.index(answer)
    return text[max(0, at - reach) : at + len(answer) + reach]


def ask(folder: Path, out: Path, window: int) -> None:
    """Write the prompts of all questions."""
    from cache_sim import RESERVE, is_start  # noqa: PLC0415 - `answer` needs none of this
    from sessions import Assistant, Rendering, Weights  # noqa: PLC0415 - as above
    from turn_recall import opened, truncate  # noqa: PLC0415 - as above
    from turn_sets import asked  # noqa: PLC0415 - as above

    limit = window - min(RESERVE, window // 4)
    with out.open("w", encoding="utf-8") as lines, tempfile.TemporaryDirectory() as scratch:
        for number, (script, questions) in enumerate([*told(folder, window), *printed(folder)]):
            ended = (
                script if isinstance(script[-1], Assistant) else (*script, Assistant(("Done.",)))
            )
            rendering = Rendering(ended, "openai")
            played = Path(scratch) / str(number)
            with opened(played, window, "stable", "auto") as memory:
                for messages in rendering.turns():
                    memory.prepare(messages, format="openai")
                    memory.reembed()
            weights = Weights()
            for question in questions:
                whole = [*rendering.whole(), *asked(question["question"])]
                copy = Path(shutil.copytree(played, Path(scratch) / "copy"))
                with opened(copy, window, "stable", "auto") as memory:
                    remembered = memory.prepare(whole, format="openai").messages
                shutil.rmtree(copy)
                arms = {
                    "truncation": _flat(truncate(whole, weights.tokens, limit, is_start)[:-1]),
                    "memctx": _flat(remembered[:-1]),
                    "evidence": question["evidence"],
                    "newest alone": question["evidence"][-1:],
                }
                # A block may stand in the message of the question.
                last = _flat(remembered[-1:])[0][1].removesuffix(question["question"]).strip()
                arms["memctx"] += [["user", last]] if last else []
                for arm, talk in arms.items():
                    row = {**question, "conversation": number, "arm": arm, "talk": talk}
                    del row["evidence"]
                    lines.write(json.dumps(row, ensure_ascii=False) + "\n")


def _flat(messages: Sequence[Message]) -> list[list[str]]:
    """Return the role and all texts of each message, of a call its arguments."""
    flat = []
    for message in messages:
        content = message.get("content") or ""
        parts = [content] if isinstance(content, str) else [part["text"] for part in content]
        parts += [
            f"{call['function']['name']} {call['function']['arguments']}"
            for call in message.get("tool_calls", ())
        ]
        flat.append([message["role"], "\n".join(filter(None, parts))])
    return flat


def answer(prompts: Path, model: Path, threads: int) -> None:
    """Let the model answer every prompt, print what is right, and write the replies beside the prompts."""
    import xllamacpp  # noqa: PLC0415 - optional

    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.n_ctx, params.n_parallel, params.warmup = 32_768, 1, False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    server = xllamacpp.Server(params)
    rows = [json.loads(line) for line in prompts.read_text(encoding="utf-8").splitlines()]
    # What the prompts of a conversation have in common is read once.
    rows.sort(key=lambda row: (row["arm"], row["conversation"]))
    score: dict[tuple[str, str], list[bool]] = defaultdict(list)
    tokens: dict[str, list[int]] = defaultdict(list)
    with prompts.with_suffix(".replies.jsonl").open("w", encoding="utf-8") as out:
        for row in rows:
            said = "\n".join(f"[{role}] {text}" for role, text in row["talk"])
            is_there = _plain(row["answer"]) in _plain(said)
            prompt = (
                f"<|im_start|>system\n{SYSTEM}<|im_end|>\n<|im_start|>user\nConversation so far:\n{said}\n\n"
                f"Question: {row['question']}<|im_end|>\n<|im_start|>assistant\n"
            )
            got = server.handle_completions(
                {
                    "prompt": prompt,
                    "n_predict": LONGEST_REPLY,
                    "temperature": 0,
                    "cache_prompt": True,
                    "stop": ["<|im_end|>"],
                }
            )
            reply = got["choices"][0]["text"]
            is_right = _plain(row["answer"]) in _plain(reply)
            kinds = [row["kind"], "all", *(["where the answer is in the prompt"] * is_there)]
            for kind in kinds:
                score[row["arm"], kind].append(is_right)
            tokens[row["arm"]].append(got["usage"]["prompt_tokens"])
            out.write(
                json.dumps(
                    {**row, "talk": None, "reply": reply, "right": is_right, "is_there": is_there},
                    ensure_ascii=False,
                )
                + "\n"
            )
            out.flush()
    for (arm, kind), right in score.items():
        share = 100 * sum(right) / len(right)
        print(f"{arm:14} {kind:36} {share:5.1f} % of {len(right)}")
    for arm, read in tokens.items():
        print(f"{arm:14} {sum(read) / len(read):,.0f} tokens read", file=sys.stderr)


def _plain(text: str) -> str:
    return re.sub(r"[\s,.\u3002'\"`*]+", "", unicodedata.normalize("NFKC", text).casefold())


def main() -> None:
    """Write prompts or answer them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    commands = parser.add_subparsers(dest="command", required=True)
    asking = commands.add_parser("ask", help="write the prompts")
    asking.add_argument("data", type=Path)
    asking.add_argument("prompts", type=Path)
    asking.add_argument("--window", type=int, default=16_000)
    answering = commands.add_parser("answer", help="answer them")
    answering.add_argument("prompts", type=Path)
    answering.add_argument("model", type=Path)
    answering.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    if given.command == "ask":
        ask(given.data, given.prompts, given.window)
    else:
        answer(given.prompts, given.model, given.threads)


if __name__ == "__main__":
    main()
