"""A turn never shows a fact that was corrected, whether the correction is still in the window or has left it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

import memctx
from memctx.protocols import CandidateFact, ExtractionResult

if TYPE_CHECKING:
    from pathlib import Path

    from memctx.protocols import Request

Messages = list[dict[str, str]]


@dataclass(frozen=True)
class Correction:
    """A statement, its correction, and a question about both."""

    old: str
    new: str
    question: str
    stale: str
    """Part of the old statement that no correction has."""
    fresh: str
    known: tuple[str, str]
    """The two as a model would write them down."""


CORRECTIONS = (
    Correction(
        "The release date is 2026-03-12.",
        "The release date is 2026-04-02 now, marketing needs more time.",
        "What is the release date?",
        "2026-03-12",
        "2026-04-02",
        ("The release date is 2026-03-12", "The release date is 2026-04-02"),
    ),
    Correction(
        "The gateway listens on port 8443.",
        "The gateway listens on port 9443, the proxy took the old one.",
        "Which port does the gateway listen on?",
        "8443",
        "9443",
        ("The gateway uses port 8443", "The gateway uses port 9443 because the proxy took 8444"),
    ),
    Correction(
        "We deploy to eu-west-1.",
        "We switched to eu-west-3, the old region was too expensive.",
        "Which region do we deploy to?",
        "eu-west-1",
        "eu-west-3",
        ("The project deploys to eu-west-1", "The project deploys to eu-west-3"),
    ),
    Correction(
        "The request timeout is 30 seconds.",
        "The request timeout is 90 seconds because the reports take longer.",
        "How long is the request timeout?",
        "30 seconds",
        "90 seconds",
        ("The request timeout is 30 seconds", "The request timeout is 90 seconds"),
    ),
    Correction(
        "The package manager is npm.",
        "The package manager is pnpm from now on, npm was too slow.",
        "Which package manager is used?",
        "is npm",
        "pnpm",
        ("The package manager is npm", "The package manager is pnpm"),
    ),
    Correction(
        "Priya owns the billing service.",
        "Marco owns the billing service now, Priya moved to sales.",
        "Who owns the billing service?",
        "Priya owns",
        "Marco",
        ("Priya owns the billing service", "Marco owns the billing service"),
    ),
)
TABLE = {
    text: known
    for each in CORRECTIONS
    for text, known in zip((each.old, each.new), each.known, strict=True)
}
# When each correction is said: before the first compaction, before the second, or after both.
ORDERS = [
    *((stage,) * 6 for stage in range(3)),
    *(tuple((at + shift) % 3 for at in range(6)) for shift in range(3)),
    *(tuple((at // 2 + shift) % 3 for at in range(6)) for shift in range(3)),
]


class TableExtractor:
    """Writes known statements down in other words, as a model would, with or without their sources."""

    def __init__(self, *, has_sources: bool) -> None:
        self.has_sources = has_sources

    async def extract(self, request: Request) -> ExtractionResult:
        """Return the facts of the messages in the table."""
        found = [
            CandidateFact(
                "config",
                TABLE[message.text],
                sources=(message.segment,) if self.has_sources else (),
            )
            for message in request.messages
            if message.text in TABLE
        ]
        return ExtractionResult(tuple(found))


EXTRACTORS: dict[str, Any] = {
    "rules": {"knowledge_extraction": "rules"},
    "scripted": {"extractor": TableExtractor(has_sources=True)},
    "scripted without sources": {"extractor": TableExtractor(has_sources=False)},
}


def say(messages: Messages, text: str) -> None:
    messages += [{"role": "user", "content": text}, {"role": "assistant", "content": "Noted."}]


def chat(messages: Messages, stage: int) -> None:
    """Add small talk, so that there is something to compact."""
    for number in range(4):
        words = f"Remark {stage}.{number} about the weather, the lunch and the long walk. " * 12
        messages += [
            {"role": "user", "content": words},
            {"role": "assistant", "content": words.upper()},
        ]


def knowledge(messages: list[Any]) -> str:
    """Return the facts that are shown."""
    text = "\n".join(str(message["content"]) for message in messages)
    return "\n".join(re.findall(r"<knowledge>\n(.*?)\n</knowledge>", text, re.DOTALL))


def ask(memory: memctx.Memory, messages: Messages, said: set[Correction]) -> tuple[int, int]:
    """Ask all questions; return the number of stale facts shown, and of corrected ones that are known or seen."""
    stale = fresh = 0
    for each in CORRECTIONS:
        messages.append({"role": "user", "content": each.question})
        turn = memory.prepare(messages)
        assert turn.report.errors == ()
        stale += sum(other.stale in knowledge(turn.messages) for other in said)
        sent = "\n".join(str(message["content"]) for message in turn.messages)
        fresh += each in said and each.fresh in sent
        messages.append({"role": "assistant", "content": "Let me look that up."})
    return stale, fresh


def run(folder: Path, order: tuple[int, ...], *, asks_between: bool, **options: Any) -> Any:
    """Hold the conversation; return the stale and the fresh facts of all questions."""
    messages: Messages = []
    said: set[Correction] = set()
    counts: list[tuple[int, int]] = []
    with memctx.open(
        folder,
        session_id="s",
        context_window=16_000,
        compaction={"keep_recent_tokens": 200},
        **options,
    ) as memory:
        for each in CORRECTIONS:
            say(messages, each.old)
        for stage in range(3):
            for at, each in zip(order, CORRECTIONS, strict=True):
                if at == stage:
                    say(messages, each.new)
                    said.add(each)
            if asks_between or stage == 2:
                counts.append(ask(memory, messages, said))
            if stage < 2:
                chat(messages, stage)
                messages = list(memory.compact_sync(messages).messages)
                memory.wait_for_facts(timeout=30).result(timeout=60)
    return counts


@pytest.mark.parametrize("asks_between", [False, True], ids=["asked at the end", "asked all along"])
@pytest.mark.parametrize("extractor", EXTRACTORS)
def test_no_corrected_fact_is_shown_in_any_order_of_compaction_and_correction(
    tmp_path: Path, extractor: str, *, asks_between: bool
) -> None:
    for number, order in enumerate(ORDERS):
        counts = run(
            tmp_path / str(number), order, asks_between=asks_between, **EXTRACTORS[extractor]
        )
        assert [stale for stale, _ in counts] == [0] * len(counts), order
        # "We switched to eu-west-3" has no word of the question, once it has left the window.
        assert counts[-1][1] >= len(CORRECTIONS) - 1, f"{order}: corrections are unknown"


def test_a_trim_that_keeps_the_old_statement_keeps_the_corrected_fact(tmp_path: Path) -> None:
    """The host passes everything it has, and the correction has left the window."""
    messages: Messages = []
    with memctx.open(
        tmp_path, session_id="s", context_window=4_000, **EXTRACTORS["rules"]
    ) as memory:
        for each in CORRECTIONS:
            say(messages, each.old)
        for each, stage in product(CORRECTIONS, range(2)):
            say(messages, each.new) if stage else chat(messages, stage)
        for each in CORRECTIONS:
            messages.append({"role": "user", "content": each.question})
            turn = memory.prepare(messages)
            memory.wait_for_facts(timeout=30).result(timeout=60)
            shown = knowledge(turn.messages)
            assert not [other.stale for other in CORRECTIONS if other.stale in shown], shown
            messages.append({"role": "assistant", "content": "Let me look that up."})


def test_forgotten_and_superseded_facts_leave_the_blocks_that_show_them(tmp_path: Path) -> None:
    with memctx.open(tmp_path, session_id="s", context_window=16_000) as memory:
        port = memory.facts.add("config", "The gateway listens on port 8443")
        host = memory.facts.add("config", "The gateway host is gw-1.internal")
        messages: Messages = [{"role": "user", "content": "Which port and host has the gateway?"}]
        shown = knowledge(memory.prepare(messages).messages)
        assert "8443" in shown
        assert "gw-1" in shown
        memory.facts.supersede(port.id, "The gateway listens on port 9443")
        messages += [
            {"role": "assistant", "content": "One moment."},
            {"role": "user", "content": "Which port of the gateway is it?"},
        ]
        shown = knowledge(memory.prepare(messages).messages)
        assert "8443" not in shown
        assert "9443" in shown
        assert "gw-1" in shown
        memory.facts.forget(host.id)
        messages += [
            {"role": "assistant", "content": "One moment."},
            {"role": "user", "content": "And the host of the gateway?"},
        ]
        assert "gw-1" not in knowledge(memory.prepare(messages).messages)


def test_a_fact_that_is_confirmed_or_asked_about_stays(tmp_path: Path) -> None:
    for number, text in enumerate(
        (
            "Yes, the gateway listens on port 8443.",
            "Does the gateway listen on port 9443?",
            "If the gateway listens on port 9443, the proxy breaks.",
            "The admin panel listens on port 9443.",
        )
    ):
        with memctx.open(tmp_path / str(number), session_id="s", context_window=16_000) as memory:
            memory.facts.add("config", "The gateway listens on port 8443")
            messages = [
                {"role": "user", "content": text},
                {"role": "assistant", "content": "I see."},
                {"role": "user", "content": "Which port does the gateway listen on?"},
            ]
            shown = knowledge(memory.prepare(messages).messages)
            assert "8443" in shown, text
