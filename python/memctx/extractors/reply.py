"""Reading what a model answered: all that can be used, and what could not be.

A problem or an error says where the fault is and of what kind. It never quotes the answer, which may repeat what was
said.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeGuard, cast, get_args

from memctx.errors import ExtractionError
from memctx.extractors.prompt import spoken, whole
from memctx.knowledge import FACT_TYPES, Action, Draft, FactType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memctx.extractors.protocol import Request

ACTIONS: tuple[Action, ...] = get_args(Action)
# A statement, not a document; what is longer was copied rather than understood.
LONGEST_CONTENT = 2_000
LONGEST_CONTEXT = 1_000
# What 15 facts need many times over; searching more for something usable is not worth the time.
LONGEST_REPLY = 1_000_000
MOST_TRIES = 1_000
MOST_PROBLEMS = 20

FENCE = re.compile(r"```[\w-]*\s*\n(.*?)\n?\s*```", re.DOTALL)
DECODER = json.JSONDecoder(strict=False)  # line breaks inside strings are read too


def read_reply(
    text: str, request: Request, *, is_cut: bool = False
) -> tuple[tuple[Draft, ...], tuple[str, ...]]:
    """The drafts in an answer, and what of it could not be used.

    ``is_cut`` says that the model was stopped before its end. An answer without anything usable is an error, and not a
    final one: asked again, the model may do better.
    """
    items, problems = facts_in(text[:LONGEST_REPLY])
    if is_cut:
        problems.insert(0, "the answer was cut off; facts may be missing at its end")
    drafts: list[Draft] = []
    for number, item in enumerate(items, 1):
        draft = draft_of(item, request, f"fact {number}", problems)
        if draft is not None:
            drafts.append(draft)
    if not drafts and (items or is_cut):
        told = f"the answer holds no usable fact: {'; '.join(problems[:3])}"
        raise ExtractionError(told, is_malformed=True)
    return at_most(drafts, request, problems)


def at_most(
    drafts: list[Draft], request: Request, problems: list[str]
) -> tuple[tuple[Draft, ...], tuple[str, ...]]:
    """As many drafts as were asked for, as many problems as anybody reads."""
    if len(drafts) > request.most:
        left_out = len(drafts) - request.most
        problems.append(f"{left_out} facts left out: no more than {request.most} were asked for")
    if len(problems) > MOST_PROBLEMS:
        problems[MOST_PROBLEMS:] = [f"and {len(problems) - MOST_PROBLEMS} more"]
    return tuple(drafts[: max(request.most, 0)]), tuple(problems)


def facts_in(text: str) -> tuple[list[object], list[str]]:
    """The list of facts in an answer, whatever stands around it; if it is broken, those of its items that are whole."""
    # Where there are several, the last: what comes before it was thought aloud.
    fenced = [found[1] for found in FENCE.finditer(text)]
    for candidate in (text, *reversed(fenced)):
        items = list_in(decoded(candidate.strip().removeprefix("\ufeff")))
        if items is not None:
            return items, []
    lists: list[list[object]] = []
    facts: list[object] = []
    for value in objects_in(text):
        items = list_in(value)
        if items is not None and "facts" in value:
            lists.append(items)
        else:
            facts += items or ()
    if lists:
        return lists[-1], []
    if not facts:
        raise ExtractionError("the answer is not the JSON that was asked for", is_malformed=True)
    return facts, ["the answer is broken JSON; the facts in it that are whole were taken"]


def decoded(text: str) -> object:
    """The JSON value that the text is, or None."""
    try:
        return cast("object", DECODER.decode(text))
    except (ValueError, RecursionError):
        return None


def list_in(value: object) -> list[object] | None:
    """The list of facts that a JSON value is or holds; one fact alone is a list of one."""
    if is_object(value):
        value = value.get("facts", [value] if "content" in value else None)
    return cast("list[object]", value) if isinstance(value, list) else None


def objects_in(text: str) -> Iterator[dict[str, Any]]:
    """Every whole JSON object in a text, the outermost of those that stand in each other."""
    place = 0
    for _ in range(MOST_TRIES):
        place = text.find("{", place)
        if place < 0:
            return
        try:
            value, place = DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            place += 1
        else:
            yield value


def draft_of(item: object, request: Request, name: str, problems: list[str]) -> Draft | None:
    """One fact of an answer; None, with a problem more, if it cannot be used."""
    if not is_object(item):
        problems.append(f"{name} is {kind_of(item)}, not an object")
        return None
    stated = statement_in(item, name, problems)
    if stated is None:
        return None
    messages = spoken(request)
    cited = numbers_in(item.get("messages"), len(messages))
    if cited is None:
        problems.append(f"{name} cites no message that there is; it is taken to be from all")
    sources = [messages[number - 1].segment for number in cited or range(1, len(messages) + 1)]
    draft = replace(stated, sources=tuple(dict.fromkeys(sources)))
    return with_action(draft, item, request, name, problems)


def with_action(
    draft: Draft, item: dict[str, Any], request: Request, name: str, problems: list[str]
) -> Draft:
    """The draft with what the model says it does; without, and with a problem more, if that cannot be."""
    action = item.get("action")
    if action is None:
        return draft
    if not is_action(action):
        problems.append(f"{name} has an action that is none; the local rule decides")
        return draft
    if action == "add":
        return replace(draft, action=action)
    known = numbers_in([item.get("known")], len(request.known))
    if known is None:
        problems.append(f"{name} is about a known fact that was not given; the local rule decides")
        return draft
    return replace(draft, action=action, target=request.known[known[0] - 1].id)


def statement_in(item: dict[str, Any], name: str, problems: list[str]) -> Draft | None:
    """Type, content and context of a fact, whoever says it; None, with a problem more, if they are no fact."""
    type, content, context = (item.get(key) for key in ("type", "content", "context"))  # noqa: A001 - as the field
    fault = None
    if not is_fact_type(type):
        fault = f"has a type that is none of {', '.join(FACT_TYPES)}"
    elif not isinstance(content, str):
        fault = f"has {kind_of(content)} as its content, not text"
    elif not content.strip():
        fault = "has no content"
    elif len(content) > LONGEST_CONTENT:
        fault = f"has {len(content)} characters, more than {LONGEST_CONTENT}"
    else:
        if not isinstance(context, str) or len(context) > LONGEST_CONTEXT:
            if context is not None:
                problems.append(f"{name} has a context that is no short text; it was left out")
            context = ""
        return Draft(type, whole(content.strip()), context=whole(context.strip()) or None)
    problems.append(f"{name} {fault}")
    return None


def numbers_in(value: object, most: int) -> list[int] | None:
    """The numbers from 1 to ``most`` in a list, in order; None if there is none."""
    values = cast("list[object]", value) if isinstance(value, list) else []
    numbers = {number for item in values if (number := number_of(item)) and 1 <= number <= most}
    return sorted(numbers) or None


def number_of(value: object) -> int | None:
    """A number, also one that was written as text."""
    if isinstance(value, str) and re.fullmatch(r"\d{1,6}", value, re.ASCII):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def kind_of(value: object) -> str:
    """What a JSON value is, in words."""
    names: dict[type[object], str] = {
        type(None): "nothing",
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "text",
        list: "a list",
    }
    return names.get(type(value), "an object")


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a JSON value is an object."""
    return isinstance(value, dict)


def is_fact_type(value: object) -> TypeGuard[FactType]:
    """Whether it is one of the six."""
    return isinstance(value, str) and value in FACT_TYPES


def is_action(value: object) -> TypeGuard[Action]:
    """Whether it is one of the five."""
    return isinstance(value, str) and value in ACTIONS
