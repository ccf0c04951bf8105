"""Recall of a question: the block that a turn would show, and why one message is or is not in it, step by step.

The search and the block are those of a turn. The window is estimated: of the session in which the question is asked,
the newest messages that fit count as visible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from memctx import _core
from memctx.compaction import plan
from memctx.context import Budget
from memctx.errors import ConfigError
from memctx.memory import make_recall
from memctx.ui.backend import RequestError
from memctx.ui.search import CERTAINTY, explanation_of, values_of
from memctx.ui.transcript import describe_message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx._core import SearchHit, Segment
    from memctx.config import Config
    from memctx.context import Candidates, RecalledBlock
    from memctx.memory import Memory
    from memctx.ui.backend import Backend
    from memctx.ui.parameters import Parameters

MAX_HITS = 500
"""Hits among which the message is looked for."""
ASKED = ("same", "emptied", "other")
"""Places of a question: later in the session, in the session after its window was emptied, or in another session."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and where it is asked."""

    text: str
    memory: Memory
    config: Config
    session: str | None
    """The session whose newest messages are visible; None if no message is."""
    first_visible: int
    """Number of the first message in the window."""
    window: int

    @classmethod
    def of(cls, backend: Backend, given: Parameters, session: str | None) -> Question:
        """Read a question from a request."""
        asked = given.text("asked", "emptied")
        if asked not in ASKED:
            raise ConfigError(f"asked is {asked!r}; expected one of {', '.join(ASKED)}")
        is_alone = session is not None and asked != "other"
        memory = backend.memories.of(session or "") if is_alone else backend.memories.reader()
        default = plan.resolve_context_window_tokens(memory.config.context_window)
        window = given.integer("window", default, at_least=1_000, at_most=100_000_000)
        config = memory.config.replace(context_window=window)
        least = given.number("threshold")
        if least is not None:
            config = config.replace(recall={"min_score": least})
        first = 0
        if session is not None and asked == "same":
            first = _first_visible(backend.session(session).sizes, Budget.of(config).limit or 0)
        visible = session if asked == "same" else None
        return cls(given.text("question"), memory, config, visible, first, window)

    def search(self, backend: Backend) -> tuple[Candidates, RecalledBlock | None]:
        """Search as a turn does, and return what it finds and the block that it would show."""
        room = Budget.of(self.config).cap
        recall = make_recall(self.memory, self.config)
        log = None if self.session is None else backend.session(self.session)

        def find_visible(items: Sequence[SearchHit | str]) -> list[bool]:
            return [
                log is not None
                and not isinstance(item, str)
                and (log.find(item.segment.id) or 0) >= self.first_visible
                for item in items
            ]

        candidates = recall.search(self.text, find_visible, room=room, visible=None)
        return candidates, candidates.block((), room)


def preview_recall(backend: Backend, given: Parameters) -> dict[str, Any]:
    """Return the block that a turn would show for a question."""
    session = given.optional("session")
    if session is not None:
        backend.session(session)
    question = Question.of(backend, given, session)
    candidates, block = question.search(backend)
    items = () if block is None else block.items
    best = question.memory.search(question.text, limit=1, explain=True)
    return {
        "text": None if block is None else block.text,
        "tokens": 0 if block is None else block.tokens,
        "room": Budget.of(question.config).cap,
        "items": [
            {"id": item.id, "role": item.role, "score": item.score, "is_cut": item.is_cut}
            for item in items
        ],
        "threshold": question.config.recall.min_score,
        "certainty": values_of(explanation_of(best[0])).get(CERTAINTY) if best else 0.0,
        "degraded": candidates.degraded,
    }


def explain_recall(backend: Backend, given: Parameters) -> dict[str, Any]:
    """Return step by step why a message is or is not recalled for a question."""
    segment = _find_segment(backend, given)
    if segment is None:
        words = (
            "Not archived: no stored message has this text. Only what was archived can be recalled."
        )
        return _verdict([_step("archived", "stopped", words)], None)
    question = Question.of(backend, given, segment.session_id)
    steps = [_step("archived", "passed", f"Archived in session {segment.session_id}.")]
    steps += _check_scope(question, given, backend)
    steps.append(_check_visible(question, backend, segment))
    steps += _check_found(question, backend, segment)
    return _verdict(
        steps, describe_message(segment, backend.session(segment.session_id).find(segment.id))
    )


def _find_segment(backend: Backend, given: Parameters) -> Segment | None:
    """Return the message with an ``id``, or one whose content is ``text``."""
    memory = backend.memories.reader()
    wanted = given.optional("id")
    if wanted is not None:
        found = memory.store.get(wanted)
        if found is None:
            raise RequestError(404, f"id is {wanted!r}; no message has it")
        return found
    text = given.text("text").strip()
    hits = memory.search(text[:2_000], limit=50)
    exact = (hit.segment for hit in hits if hit.segment.content.strip() == text)
    near = (hit.segment for hit in hits if text in hit.segment.content)
    return next(exact, None) or next(near, None)


def _check_scope(question: Question, given: Parameters, backend: Backend) -> list[dict[str, Any]]:
    settings, steps = question.config, list[dict[str, Any]]()
    if given.text("asked", "emptied") == "other":
        is_seen = backend.memories.config.cross_session
        words = (
            "Asked in another session, which sees all sessions (cross_session is on)."
            if is_seen
            else "Asked in another session, which sees only its own: cross_session is off. "
            "Hooks of agent hosts do recall from other sessions of the same project."
        )
        steps.append(_step("session", "passed" if is_seen else "stopped", words))
    length, least = len(question.text.strip()), settings.recall.min_query_chars
    if not settings.auto_recall:
        steps.append(_step("recall", "stopped", "Turns recall nothing: auto_recall is off."))
    elif length < least:
        words = f"The question has {length} characters; turns recall from {least} on (recall.min_query_chars)."
        steps.append(_step("recall", "stopped", words))
    else:
        steps.append(_step("recall", "passed", "The question is long enough to recall anything."))
    return steps


def _check_visible(question: Question, backend: Backend, segment: Segment) -> dict[str, Any]:
    if question.session is None:
        return _step(
            "visible", "passed", "Not visible: the window holds no message of its session."
        )
    log = backend.session(question.session)
    number = log.find(segment.id) or 0
    shown = len(log) - question.first_visible
    window = (
        f"the newest {shown:,} of {len(log):,} messages fit a window of {question.window:,} tokens"
    )
    if number >= question.first_visible:
        words = f"Still visible: {window}, and this one is number {number + 1:,}. The model needs no reminder."
        return _step("visible", "stopped", words)
    away = question.first_visible - number
    return _step("visible", "passed", f"Left the window {away:,} messages ago: {window}.")


def _check_found(question: Question, backend: Backend, segment: Segment) -> list[dict[str, Any]]:
    """Return the steps of the search: certainty, rank and room."""
    recall = question.config.recall
    hits = question.memory.search(
        question.text, limit=MAX_HITS, ranking=recall.ranking, explain=True
    )
    rank = next((at for at, hit in enumerate(hits) if hit.segment.id == segment.id), None)
    if _same_words(question.text, segment.content):
        return [_step("repeats", "stopped", "It is the question itself, which the model sees.")]
    if rank is None:
        degraded = question.search(backend)[0].degraded
        meaning = f"; vectors took no part: {degraded}" if degraded else ", nor its meaning"
        words = f"Not among the {len(hits):,} best: it shares no telling word with the question{meaning}."
        return [_step("found", "stopped", words)]
    hit = hits[rank]
    steps = [
        _step(
            "found",
            "passed",
            f"Found at rank {rank + 1:,} with a score of {hit.score:.3f}.",
            hit.score,
        )
    ]
    is_openclaw = recall.ranking == "openclaw"
    sure = hit.score if is_openclaw else values_of(explanation_of(hit)).get(CERTAINTY, 0.0)
    what = "Its score" if is_openclaw else "The certainty that the question is answered at all"
    if sure < recall.min_score:
        words = (
            f"{what} is {sure:.3f}, below the threshold of {recall.min_score:g} "
            f"by {recall.min_score - sure:.3f} (recall.min_score)."
        )
        return [*steps, _step("threshold", "stopped", words, sure, recall.min_score)]
    words = f"{what} is {sure:.3f}, above the threshold of {recall.min_score:g}."
    steps.append(_step("threshold", "passed", words, sure, recall.min_score))
    return [*steps, _check_room(question, backend, segment, hit)]


def _check_room(
    question: Question, backend: Backend, segment: Segment, hit: SearchHit
) -> dict[str, Any]:
    candidates, block = question.search(backend)
    room, tokens = Budget.of(question.config).cap, 0 if block is None else block.tokens
    items = () if block is None else block.items
    item = next((each for each in items if each.id == segment.id), None)
    if item is not None:
        how = "its best passage" if item.is_cut else "whole"
        beside = f", beside {item.companion_of}" if item.companion_of else ""
        words = f"Recalled, {how}{beside}: the block takes {tokens:,} of {room:,} tokens."
        return _step("room", "passed", words, tokens, room)
    told = next((each for each in items if _content_of(question, each.id) == segment.content), None)
    if told is not None:
        return _step("room", "stopped", "The same words are recalled from another message.")
    if all(each.segment.id != segment.id for each in candidates.found[0]):
        count = len(candidates.found[0])
        words = (
            f"Its own score of {hit.score:.3f} is too low: the search took the {count:,} best "
            "that are likely to be part of the answer."
        )
        return _step("rank", "stopped", words, hit.score)
    words = (
        f"Out of room: better matches fill {tokens:,} of {room:,} tokens (recall.hard_cap_tokens)."
    )
    return _step("room", "stopped", words, tokens, room)


def _content_of(question: Question, id: str) -> str | None:
    found = question.memory.store.get(id)
    return None if found is None else found.content


def _first_visible(sizes: Any, limit: int) -> int:  # noqa: ANN401 - an array of numbers
    """Return the number of the first message from which on all fit."""
    total = 0
    for number in range(len(sizes) - 1, -1, -1):
        total += sizes[number]
        if total > limit:
            return number + 1
    return 0


def _same_words(first: str, second: str) -> bool:
    return _core.tokenize(first[:2_000]) == _core.tokenize(second[:2_000])


def _step(
    name: str,
    state: Literal["passed", "stopped"],
    words: str,
    value: float | None = None,
    needed: float | None = None,
) -> dict[str, Any]:
    return {"name": name, "state": state, "words": words, "value": value, "needed": needed}


def _verdict(steps: list[dict[str, Any]], message: dict[str, Any] | None) -> dict[str, Any]:
    stop = next((each for each in steps if each["state"] == "stopped"), None)
    words = steps[-1]["words"] if stop is None else stop["words"]
    return {"is_recalled": stop is None, "verdict": words, "steps": steps, "message": message}
