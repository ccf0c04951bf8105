"""Turns and facts on the page of a replay."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from memctx._html import Markup, marked, tag
from memctx.cli.formatting import format_compact, format_count, format_milliseconds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memctx.cli.replay.result import (
        FactHistory,
        FactState,
        PrunedResult,
        RecalledItem,
        Replay,
        ReplayedTurn,
        SentPart,
        TrimmedMessages,
    )

# The rest is collapsed.
SHOWN_TURNS = 25
SHOWN_ITEMS, FEW_ITEMS = 12, 2
# Items of a kind on the whole page: with many eventful turns each shows fewer, so that a page stays below a megabyte.
ITEMS = 450
# Bytes of all turns together; when they are used up, turns are shown without details.
ROOM = 740_000
# Characters of a block that are shown, for each item of a kind.
BLOCK_CHARS = 200

LEFT_OUT = tag(
    "p", "Details are left out, so that the page stays small; --json has them.", class_="note"
)


def turns(replay: Replay) -> Markup:
    """Return the section of eventful turns, in order."""
    eventful = [turn for turn in replay.turns if turn.is_eventful]
    if not eventful:
        return _section(
            "Nothing was shortened, trimmed or recalled: all of it fit, and no question had an answer in memory."
        )
    kinds = {
        "trimmed": sum(bool(turn.trimmed) for turn in eventful),
        "recalled": sum(bool(turn.recalled) for turn in eventful),
        "shortened": sum(bool(turn.pruned) for turn in eventful),
    }
    buttons = [
        tag("button", "all ", tag("b", str(len(eventful))), type="button", aria_pressed="true"),
        *(
            tag(
                "button",
                f"{kind} ",
                tag("b", str(count)),
                type="button",
                aria_pressed="false",
                data_kind=kind,
            )
            for kind, count in kinds.items()
            if count
        ),
    ]
    most = max(FEW_ITEMS, min(SHOWN_ITEMS, ITEMS // len(eventful)))
    shown = list(_fitting(eventful, most))
    rest = shown[SHOWN_TURNS:]
    return _section(
        f"{len(eventful):,} of {format_count(len(replay.turns), 'turn')} changed what is sent; the others keep it.",
        tag(
            "p",
            tag("span", tag("span", style="width:70%"), class_="meter", aria_hidden="true"),
            "Score: the probability that a passage answers the question, from 0 to 1; the best are brought back."
            " Similarity: how close its meaning is to that of the question, from 0 to 1. ",
            tag("mark", "Marked"),
            " words are those that the question asks for.",
            class_="legend-line",
        )
        if kinds["recalled"]
        else "",
        tag("div", *buttons, class_="filters", role="group", aria_label="Show turns", hidden=True),
        tag("div", *shown[:SHOWN_TURNS], class_="turns"),
        tag(
            "details",
            tag("summary", f"{format_count(len(rest), 'later turn')}"),
            tag("div", *rest, class_="turns"),
            class_="more rest",
        )
        if rest
        else "",
    )


def _section(lead: str, *parts: str) -> Markup:
    return tag(
        "section", tag("h2", "Turn by turn"), tag("p", lead, class_="lead"), *parts, id="story"
    )


def _fitting(turns: Sequence[ReplayedTurn], most: int) -> Iterator[Markup]:
    """Yield turns with their details as long as there is room, and the others without."""
    briefs = [_turn(turn, 0) for turn in turns]
    room = ROOM - sum(len(brief.encode()) for brief in briefs)
    for turn, brief in zip(turns, briefs, strict=True):
        whole = _turn(turn, most)
        room -= len(whole.encode()) - len(brief.encode())
        yield whole if room > 0 else brief


def _turn(turn: ReplayedTurn, most: int) -> Markup:
    """Return a turn with ``most`` items of each kind; without details if that is 0."""
    gone = sum(len(unit.messages) for unit in turn.trimmed)
    badges = [
        tag("span", f"{count} {words}", class_=f"badge {css}")
        for count, words, css in (
            (len(turn.pruned), "shortened", "pruned"),
            (gone, "trimmed", "trimmed"),
            (len(turn.recalled), "recalled", "returned"),
            (len(turn.errors), "failed", "failed"),
        )
        if count
    ]
    kinds = [
        kind
        for kind, items in (
            ("shortened", turn.pruned),
            ("trimmed", turn.trimmed),
            ("recalled", turn.recalled),
        )
        if items
    ]
    head = tag(
        "summary",
        tag("span", str(turn.number), class_="number"),
        tag("span", turn.query or "(no question)", class_="query"),
        tag("span", *badges, class_="badges"),
    )
    return tag(
        "details",
        head,
        tag(
            "div",
            _facts(turn),
            *((*_groups(turn, most), _prompt(turn, most)) if most else (LEFT_OUT,)),
            class_="inside",
        ),
        class_="turn",
        id=f"turn-{turn.number}",
        data_kinds=" ".join(kinds),
    )


def _facts(turn: ReplayedTurn) -> Markup:
    tokens, cache = turn.tokens, turn.cache
    notes = [
        f"{turn.messages:,} messages of {format_compact(tokens.before)} tokens, {format_compact(tokens.after)} sent",
        f"{format_compact(turn.cached_tokens)} read from the cache",
        format_milliseconds(turn.latency),
    ]
    if cache.first_changed is not None:
        notes.insert(2, f"{format_compact(cache.rewritten_tokens)} written again")
    if turn.is_deferred:
        notes.append("a trim waits for the end of the tool loop")
    if turn.protected:
        kept = ", ".join(f"{count:,} {reason}" for reason, count in turn.protected.items())
        notes.append(f"protected: {kept}")
    return tag("p", " · ".join(notes), class_="note")


def _groups(turn: ReplayedTurn, most: int) -> list[Markup]:
    groups = [
        _group("Failed", [tag("li", error) for error in turn.errors]),
        _group(
            "Brought back",
            [_recalled_item(item) for item in turn.recalled[:most]],
            len(turn.recalled),
        ),
        _group(
            "Left the context",
            [_trimmed_item(item) for item in _heaviest(turn.trimmed, most)],
            len(turn.trimmed),
        ),
        _group(
            "Sent shorter",
            [_pruned_item(item) for item in turn.pruned[:most]],
            len(turn.pruned),
        ),
    ]
    return [group for group in groups if group]


def _heaviest(items: Sequence[TrimmedMessages], most: int) -> list[TrimmedMessages]:
    """Return the items with the most tokens, in the order of the session."""
    chosen = sorted(items, key=lambda item: -item.tokens)[:most]
    return sorted(chosen, key=lambda item: item.messages)


def _group(title: str, items: Sequence[Markup], count: int = 0) -> Markup:
    if not items:
        return Markup()
    left = count - len(items)
    more = tag(
        "p",
        f"and {left:,} smaller ones" if title.startswith("Left") else f"and {left:,} more",
        class_="note",
    )
    return tag("div", tag("h3", title), tag("ul", *items, class_="items"), more if left > 0 else "")


def _item(role: str, excerpt: str, why: str) -> Markup:
    return tag(
        "li",
        tag("span", role, class_="role"),
        tag("span", excerpt or "(no text)", class_="excerpt"),
        tag("span", why, class_="why"),
    )


def _trimmed_item(item: TrimmedMessages) -> Markup:
    count = f"{len(item.messages)} messages, " if len(item.messages) > 1 else ""
    return _item(
        item.role, item.excerpt, f"{count}{format_compact(item.tokens)} tokens · {item.reason}"
    )


def _recalled_item(item: RecalledItem) -> Markup:
    pattern = "|".join(map(re.escape, sorted(item.words, key=len, reverse=True)))
    spans = [found.span() for found in re.finditer(pattern, item.excerpt)] if item.words else []
    similar = "" if item.similarity is None else f" · similarity {item.similarity:.2f}"
    when = "" if item.said_in is None else f"said in turn {item.said_in}"
    part = " · best passage of it" if item.is_cut else ""
    role = f"fact: {item.role}" if item.kind == "fact" else item.role
    meter = tag("span", style=f"width:{min(item.score, 1.0):.0%}")
    return tag(
        "li",
        tag("span", role, class_="role"),
        tag("span", marked(item.excerpt, spans) if item.excerpt else "(no text)", class_="excerpt"),
        tag(
            "span",
            tag("span", meter, class_="meter", aria_hidden="true"),
            f"score {item.score:.2f}{similar}",
            tag("span", f"{when}{part}", class_="said"),
            class_="why",
        ),
    )


def _prompt(turn: ReplayedTurn, most: int) -> Markup:
    """Return the prompt part by part, what memory added in full."""
    if not turn.sent:
        return Markup()
    rows: list[Markup] = []
    expected = 0
    for (is_added, is_scattered), group in groupby(turn.sent, key=_kind_of):
        parts = list(group)
        if is_added:
            rows += (_added(part, most * BLOCK_CHARS) for part in parts)
            continue
        for run in [parts] if is_scattered and len(parts) > 1 else [[part] for part in parts]:
            first, last = run[0].first or 0, run[-1].last or 0
            if first > expected:
                gone = format_count(first - expected, "message")
                rows.append(tag("li", f"{gone} not sent", class_="gap"))
            expected = last + 1
            count = sum((part.last or 0) - (part.first or 0) + 1 for part in run)
            span = f"message {first}" if first == last else f"messages {first} to {last}"
            some = "" if count == last - first + 1 else f"{count:,} of "
            tokens = sum(part.tokens for part in run)
            rows.append(tag("li", f"{some}{span} · {format_compact(tokens)} tokens"))
    sent = tag("summary", f"What was sent: {format_compact(turn.tokens.after)} tokens")
    return tag("details", sent, tag("ol", *rows, class_="prompt"), class_="sent-view")


def _kind_of(part: SentPart) -> tuple[bool, bool]:
    """Return whether memory added a part, and whether it is no more than two messages of the host."""
    if part.first is None or part.last is None:
        return True, False
    return False, part.last - part.first < 2  # noqa: PLR2004 - as above


def _added(part: SentPart, longest: int) -> Markup:
    text = part.text if len(part.text) <= longest else f"{part.text[:longest]}…"
    label = "added by memory" if part.text else "added by memory in an earlier turn"
    head = tag("span", f"{label} · {format_compact(part.tokens)} tokens", class_="what")
    return tag("li", head, tag("pre", text, tabindex=0) if text else "", class_="added")


def _pruned_item(item: PrunedResult) -> Markup:
    how = "head and tail kept" if item.form == "soft" else "cleared"
    change = (
        f"{format_compact(item.tokens_before)} → {format_compact(item.tokens_after)} tokens · {how}"
    )
    return _item("tool", item.excerpt, change)


def facts(replay: Replay) -> Markup:
    """Return the section of facts and their histories."""
    corrected = sum(len(history.states) > 1 for history in replay.facts)
    lead = (
        f"{format_count(len(replay.facts), 'fact')} known at the end, {corrected:,} of them after a correction."
        if replay.facts
        else "No facts were found in this session."
    )
    histories = [tag("ol", *map(_history, replay.facts), class_="threads")] if replay.facts else []
    return tag("section", tag("h2", "Facts"), tag("p", lead, class_="lead"), *histories)


def _history(history: FactHistory) -> Markup:
    *earlier, now = history.states
    return tag(
        "li",
        tag("span", history.type, class_="role"),
        tag("div", *(_state(state, "s") for state in earlier), _state(now, "strong")),
    )


def _state(state: FactState, element: str) -> Markup:
    when = "" if state.turn is None else f"turn {state.turn}"
    return tag("p", tag(element, state.content), " ", tag("span", when, class_="note"))
