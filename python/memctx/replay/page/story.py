"""The turns in which something was decided, each with what left and what came back, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memctx.replay.number import counted, milliseconds, short
from memctx.replay.page.markup import Markup, tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx.replay.result import Gone, Replay, ReplayedTurn, Returned, Shortened

# As many as a page is scrolled through for; the others open on request.
SHOWN_TURNS = 25
SHOWN_ITEMS = 12


def turns(replay: Replay) -> Markup:
    """All such turns, first to last."""
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
        f"{len(eventful):,} of {counted(len(replay.turns), 'turn')} decided something; the others repeat it.",
        tag("div", *buttons, class_="filters", role="group", aria_label="Show turns", hidden=True),
        tag("div", *map(_turn, eventful[:SHOWN_TURNS]), class_="turns"),
        tag(
            "details",
            tag("summary", f"{counted(len(rest), 'later turn')}"),
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
        tag("span", turn.query or "(nobody asked anything)", class_="query"),
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
    told = [
        f"{turn.messages:,} messages of {short(tokens.before)} tokens, {short(tokens.after)} sent",
        f"{short(turn.cached_tokens)} read from the cache",
        milliseconds(turn.latency),
    ]
    if cache.first_changed is not None:
        told.insert(2, f"{short(cache.rewritten_tokens)} written again")
    if turn.is_deferred:
        told.append("a trim waits for the end of the tool loop")
    if turn.protected:
        kept = ", ".join(f"{count:,} {reason}" for reason, count in turn.protected.items())
        told.append(f"protected: {kept}")
    return tag("p", " · ".join(told), class_="note")


def _groups(turn: ReplayedTurn) -> list[Markup]:
    groups = [
        _group("Failed", [tag("li", error) for error in turn.errors]),
        _group("Brought back", [_returned(item) for item in turn.recalled]),
        _group(
            "Left the context", [_gone(item) for item in _heaviest(turn.trimmed)], len(turn.trimmed)
        ),
        _group(
            "Sent shorter",
            [_shortened(item) for item in turn.pruned[:SHOWN_ITEMS]],
            len(turn.pruned),
        ),
    ]
    return [group for group in groups if group]


def _heaviest(items: Sequence[Gone]) -> list[Gone]:
    """Those that cost most, in the order of the session."""
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


def _gone(item: Gone) -> Markup:
    count = f"{len(item.messages)} messages, " if len(item.messages) > 1 else ""
    return _item(item.role, item.excerpt, f"{count}{short(item.tokens)} tokens · {item.reason}")


def _returned(item: Returned) -> Markup:
    when = "" if item.said_in is None else f"said in turn {item.said_in} · "
    part = " · best passage of it" if item.is_cut else ""
    role = f"fact: {item.role}" if item.kind == "fact" else item.role
    return _item(role, item.excerpt, f"{when}match {item.match:.2f}{part}")


def _shortened(item: Shortened) -> Markup:
    how = "head and tail kept" if item.form == "soft" else "cleared"
    change = f"{short(item.tokens_before)} → {short(item.tokens_after)} tokens · {how}"
    return _item("tool", item.excerpt, change)
