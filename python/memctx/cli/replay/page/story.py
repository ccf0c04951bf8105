"""Turns and facts on the page of a replay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memctx.cli.formatting import format_compact, format_count, format_milliseconds
from memctx.cli.replay.page.markup import Markup, tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx.cli.replay.result import (
        FactHistory,
        FactState,
        PrunedResult,
        RecalledItem,
        Replay,
        ReplayedTurn,
        TrimmedMessages,
    )

# The rest is collapsed.
SHOWN_TURNS = 25
SHOWN_ITEMS = 12


def turns(replay: Replay) -> Markup:
    """Return the section of eventful turns, in order."""
    eventful = [turn for turn in replay.turns if turn.is_eventful]
    if not eventful:
        return _section(
            "Nothing was shortened, trimmed or recalled: all of it fitted, and no question had an answer in memory."
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
    rest = eventful[SHOWN_TURNS:]
    return _section(
        f"{len(eventful):,} of {format_count(len(replay.turns), 'turn')} decided something; the others repeat it.",
        tag("div", *buttons, class_="filters", role="group", aria_label="Show turns", hidden=True),
        tag("div", *map(_turn, eventful[:SHOWN_TURNS]), class_="turns"),
        tag(
            "details",
            tag("summary", f"{format_count(len(rest), 'later turn')}"),
            tag("div", *map(_turn, rest), class_="turns"),
            class_="more rest",
        )
        if rest
        else "",
    )


def _section(lead: str, *parts: str) -> Markup:
    return tag(
        "section", tag("h2", "Turn by turn"), tag("p", lead, class_="lead"), *parts, id="story"
    )


def _turn(turn: ReplayedTurn) -> Markup:
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
        tag("div", _facts(turn), *_groups(turn), class_="inside"),
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


def _groups(turn: ReplayedTurn) -> list[Markup]:
    groups = [
        _group("Failed", [tag("li", error) for error in turn.errors]),
        _group("Brought back", [_recalled_item(item) for item in turn.recalled]),
        _group(
            "Left the context",
            [_trimmed_item(item) for item in _heaviest(turn.trimmed)],
            len(turn.trimmed),
        ),
        _group(
            "Sent shorter",
            [_pruned_item(item) for item in turn.pruned[:SHOWN_ITEMS]],
            len(turn.pruned),
        ),
    ]
    return [group for group in groups if group]


def _heaviest(items: Sequence[TrimmedMessages]) -> list[TrimmedMessages]:
    """Return the items with the most tokens, in the order of the session."""
    chosen = sorted(items, key=lambda item: -item.tokens)[:SHOWN_ITEMS]
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
    when = "" if item.said_in is None else f"said in turn {item.said_in} · "
    part = " · best passage of it" if item.is_cut else ""
    role = f"fact: {item.role}" if item.kind == "fact" else item.role
    return _item(role, item.excerpt, f"{when}score {item.score:.2f}{part}")


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
