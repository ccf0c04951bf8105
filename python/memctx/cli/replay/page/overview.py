"""Header, key figures and notes on the page of a replay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memctx._html import Markup, tag
from memctx.cli.formatting import format_compact, format_count, format_milliseconds
from memctx.cli.replay.recording import KEPT_SHARE, SUMMARY_TOKENS
from memctx.providers import pricing

if TYPE_CHECKING:
    from memctx.cli.replay.result import Replay

TIMES = "\N{MULTIPLICATION SIGN}"


def header(replay: Replay) -> Markup:
    """Return the header: the session and a one-sentence result."""
    size = f"{format_count(replay.messages, 'message')} · {format_count(len(replay.turns), 'turn')}"
    window = "no window" if replay.window is None else f"window {replay.window:,} tokens"
    source = f"{replay.source} · " if replay.source else ""
    return tag(
        "header",
        tag("p", "memctx replay", class_="over"),
        tag("h1", replay.name),
        tag("p", f"{source}{replay.format} · {size} · {window}", class_="facts"),
        tag("p", _verdict(replay), class_="verdict"),
        *_warnings(replay),
    )


def _verdict(replay: Replay) -> str:
    if not replay.turns:
        return "The model was never called in this session."
    grown = format_compact(max(turn.tokens.before for turn in replay.turns))
    sent = format_compact(max(turn.tokens.after for turn in replay.turns))
    if not any(turn.is_eventful for turn in replay.turns):
        return f"The session grew to {grown} tokens and everything was sent as it was."
    fits = (
        f" Unedited, {format_count(replay.overfull, 'turn')} would not have fit into the window."
        if replay.overfull
        else ""
    )
    return f"The session grew to {grown} tokens; no prompt took more than {sent}.{fits}"


def _warnings(replay: Replay) -> list[Markup]:
    warnings: list[str] = []
    if replay.errors:
        first = next(turn.errors[0] for turn in replay.turns if turn.errors)
        warnings.append(
            f"Memory failed {format_count(replay.errors, 'time')}; those turns went out as they came. {first}"
        )
    if replay.skipped:
        warnings.append(
            f"{format_count(replay.skipped, 'line')} of the recording could not be read."
        )
    return [tag("p", text, class_="warning") for text in warnings]


def tiles(replay: Replay) -> Markup:
    """Return the six key figures."""
    turns = replay.turns
    if not turns:
        return Markup()
    peak = max(turn.tokens.after for turn in turns)
    gone = sum(len(unit.messages) for turn in turns for unit in turn.trimmed)
    shortened = sum(len(turn.pruned) for turn in turns)
    pruned = f"; {format_count(shortened, 'result')} shortened" if shortened else ""
    returned = sum(len(turn.recalled) for turn in turns)
    asked = sum(bool(turn.recalled) for turn in turns)
    whole = replay.unedited_cost or 1.0
    truncated = f"of unedited, {replay.truncated_cost / whole:.2f}{TIMES} by truncation"
    beside = "of unedited" if replay.limit is None else truncated
    window = (
        "no window was set"
        if replay.window is None
        else f"of {format_compact(replay.window)} tokens"
    )
    return tag(
        "dl",
        _tile("Largest prompt", format_compact(peak), window),
        _tile(
            "Left the context",
            format_compact(gone),
            f"messages, in {format_count(replay.trims, 'trim')}{pruned}",
        ),
        _tile(
            "Brought back",
            format_compact(returned),
            f"passages and facts, in {format_count(asked, 'turn')}",
        ),
        _tile(
            "Read from cache", f"{replay.cached_share:.0%}", format_count(replay.breaks, "break")
        ),
        _tile("Cost of input", f"{replay.cost / whole:.2f}{TIMES}", beside),
        _tile(
            "Added per turn",
            format_milliseconds(replay.latency(0.5)),
            f"95% within {format_milliseconds(replay.latency(0.95))}",
        ),
        class_="tiles",
    )


def costs(replay: Replay, price: float) -> Markup:
    """Return the cost of the input beside what hosts do without memory; ``price`` is that of a million tokens."""
    if not replay.turns or replay.limit is None:
        return Markup()
    whole = replay.unedited_cost or 1.0
    sent = sum(turn.tokens.after for turn in replay.turns)
    grown = sum(turn.tokens.before for turn in replay.turns)
    fits = (
        "everything"
        if not replay.overfull
        else f"everything; {replay.overfull:,} calls are refused"
    )
    rows = (
        ("No memory, unlimited window", grown, replay.unedited_cost, fits),
        ("Truncation", replay.truncated_tokens, replay.truncated_cost, "the newest messages"),
        (
            "Compaction",
            replay.compacted_tokens,
            replay.compacted_cost,
            f"{format_count(replay.compactions, 'summary').replace('summarys', 'summaries')} and the newest",
        ),
        ("memctx", sent, replay.cost, "the newest, and what a question needs of the rest"),
    )
    headings = (
        "policy",
        "tokens sent",
        "input cost",
        f"at ${price:g} a million",
        "what the model knows",
    )
    head = tag("tr", *(tag("th", each, scope="col") for each in headings))
    body = (
        tag(
            "tr",
            tag("th", name, scope="row"),
            tag("td", format_compact(tokens)),
            tag("td", f"{cost / whole:.2f}{TIMES}"),
            tag("td", f"${cost * price / 1e6:,.2f}"),
            tag("td", knows, class_="words"),
            class_="own" if name == "memctx" else None,
        )
        for name, tokens, cost, knows in rows
    )
    table = tag("table", tag("thead", head), tag("tbody", *body), class_="costs")
    lead = "The input of all calls, prompt cache included, beside what hosts do without memory."
    return tag(
        "section",
        tag("h2", "Cost of the input"),
        tag("p", lead, class_="lead"),
        tag("div", table, class_="wide", tabindex=0, role="group", aria_label="Cost of the input"),
    )


def _tile(name: str, value: str, note: str) -> Markup:
    return tag(
        "div", tag("dt", name), tag("dd", value), tag("dd", note, class_="note"), class_="tile"
    )


def notes() -> Markup:
    """Return the notes on how to read the page."""
    return tag(
        "footer",
        tag("h2", "How to read this"),
        tag(
            "p",
            "A turn is one call of the model. In each, the messages that the host had by then went through memory as"
            " they would have in the session, in a store that was thrown away afterwards. The answers are those of"
            " the recording; the model might have answered other prompts differently.",
        ),
        tag(
            "p",
            f"Tokens are estimates. Cost counts input only, with {pricing.CACHE_READ:g} of the plain price for"
            f" what is read from the provider's cache and {pricing.CACHE_WRITE:g} for what is written to it; no cache"
            " expires between turns. The unedited session is the same one in a window that never fills; truncation"
            " cuts its oldest messages so that the rest just fits, on every call; compaction replaces all but the"
            f" newest {KEPT_SHARE:.0%} by a summary of {SUMMARY_TOKENS:,} tokens whenever the limit is reached, and"
            " pays for the call that writes it. Secrets are masked. Of what may leave,"
            " the lowest scores leave first. Times are those of the machine that made this"
            " page.",
        ),
    )
