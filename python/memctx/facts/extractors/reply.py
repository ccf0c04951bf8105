"""Reply parsing: read candidate facts from a model's reply, and report the parts that cannot be used.

Problems and errors say where a fault is and of what kind. They never quote the reply, which may repeat the
conversation.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeGuard, cast, get_args

from memctx.errors import ExtractionError
from memctx.facts import FACT_TYPES, Action, CandidateFact, FactType
from memctx.facts.extractors.prompt import replace_surrogates, spoken_messages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memctx.protocols import Request

ACTIONS: tuple[Action, ...] = get_args(Action)
# A fact is a sentence; longer texts were copied rather than understood.
MAX_CONTENT = 2_000
MAX_CONTEXT = 1_000
# Many times the length of 15 facts; searching more is not worth the time.
MAX_REPLY = 1_000_000
MAX_TRIES = 1_000
MAX_WASTED = 2 * MAX_REPLY
MAX_PROBLEMS = 20

FENCE = re.compile(r"```[\w-]*[ \t]*\n(.*?)```", re.DOTALL)
DECODER = json.JSONDecoder(strict=False)  # line breaks inside strings are read too


def read_reply(
    text: str, request: Request, *, is_cut: bool = False
) -> tuple[tuple[CandidateFact, ...], tuple[str, ...]]:
    """Return the candidate facts of a reply, and the problems with the rest of it.

    ``is_cut`` says that the reply was truncated. A reply without anything usable raises an error that is not final:
    asked again, the model may do better.
    """
    items, problems = find_facts(text[:MAX_REPLY])
    if is_cut:
        problems.insert(0, "the answer was cut off; facts may be missing at its end")
    candidates: list[CandidateFact] = []
    for number, item in enumerate(items, 1):
        candidate = _parse_fact(item, request, f"fact {number}", problems)
        if candidate is not None:
            candidates.append(candidate)
    if not candidates and (items or is_cut):
        message = f"the answer holds no usable fact: {'; '.join(problems[:3])}"
        raise ExtractionError(message, is_malformed=True)
    return limit_facts(candidates, request, problems)


def limit_facts(
    candidates: list[CandidateFact], request: Request, problems: list[str]
) -> tuple[tuple[CandidateFact, ...], tuple[str, ...]]:
    """Return as many candidates as were asked for, and the first problems."""
    if len(candidates) > request.most:
        left_out = len(candidates) - request.most
        problems.append(f"{left_out} facts left out: no more than {request.most} were asked for")
    if len(problems) > MAX_PROBLEMS:
        problems[MAX_PROBLEMS:] = [f"and {len(problems) - MAX_PROBLEMS} more"]
    return tuple(candidates[: max(request.most, 0)]), tuple(problems)


def find_facts(text: str) -> tuple[list[object], list[str]]:
    """Return the list of facts in a reply, whatever surrounds it; of broken JSON, the items that are whole."""
    # Of several lists the last one counts: the others are the model's reasoning.
    fenced = [found[1] for found in FENCE.finditer(text)]
    for candidate in (text, *reversed(fenced)):
        items = _find_list(_decode(candidate.strip().removeprefix("\ufeff")))
        if items is not None:
            return items, []
    lists: list[list[object]] = []
    facts: list[object] = []
    for value in _iter_objects(text):
        items = _find_list(value)
        if items is not None and "facts" in value:
            lists.append(items)
        else:
            facts += items or ()
    if lists:
        return lists[-1], []
    if not facts:
        raise ExtractionError("the answer is not the JSON that was asked for", is_malformed=True)
    return facts, ["the answer is broken JSON; the facts in it that are whole were taken"]


def _decode(text: str) -> object:
    """Return the JSON value of a text, or None."""
    try:
        return cast("object", DECODER.decode(text))
    except (ValueError, RecursionError):
        return None


def _find_list(value: object) -> list[object] | None:
    """Return the list of facts that a JSON value is or holds; one fact alone is a list of one."""
    if is_object(value):
        value = value.get("facts", [value] if "content" in value else None)
    return cast("list[object]", value) if isinstance(value, list) else None


def _iter_objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield every whole JSON object in a text, of nested ones the outermost."""
    index = wasted = 0
    for _ in range(MAX_TRIES):
        index = text.find("{", index)
        if index < 0 or wasted > MAX_WASTED:
            return
        try:
            value, index = DECODER.raw_decode(text, index)
        except (ValueError, RecursionError) as error:
            wasted += getattr(error, "pos", index) - index
            index += 1
        else:
            yield value


def _parse_fact(
    item: object, request: Request, name: str, problems: list[str]
) -> CandidateFact | None:
    """Return one fact of a reply; None, with a further problem, if it cannot be used."""
    if not is_object(item):
        problems.append(f"{name} is {describe(item)}, not an object")
        return None
    candidate = parse_content(item, name, problems)
    if candidate is None:
        return None
    messages = spoken_messages(request)
    cited = _parse_numbers(item.get("messages"), len(messages))
    if cited is None:
        problems.append(f"{name} cites no existing message; all are taken as its source")
    sources = [messages[number - 1].segment for number in cited or range(1, len(messages) + 1)]
    candidate = replace(candidate, sources=tuple(dict.fromkeys(sources)))
    return _set_action(candidate, item, request, name, problems)


def _set_action(
    candidate: CandidateFact,
    item: dict[str, Any],
    request: Request,
    name: str,
    problems: list[str],
) -> CandidateFact:
    """Return the candidate with the model's action; without it, and with a further problem, if it is impossible."""
    action = item.get("action")
    if action is None:
        return candidate
    if not is_action(action):
        problems.append(f"{name} has an unknown action; the local rule decides")
        return candidate
    if action == "add":
        return replace(candidate, action=action)
    known = _parse_numbers([item.get("known")], len(request.known))
    if known is None:
        problems.append(f"{name} names no known fact; the local rule decides")
        return candidate
    return replace(candidate, action=action, target=request.known[known[0] - 1].id)


def parse_content(item: dict[str, Any], name: str, problems: list[str]) -> CandidateFact | None:
    """Return a fact of type, content and context; None, with a further problem, if these are not valid."""
    type, content, context = (item.get(key) for key in ("type", "content", "context"))  # noqa: A001 - as the field
    fault = None
    if not _is_fact_type(type):
        fault = f"has a type that is none of {', '.join(FACT_TYPES)}"
    elif not isinstance(content, str):
        fault = f"has {describe(content)} as its content, not text"
    elif not content.strip():
        fault = "has no content"
    elif len(content) > MAX_CONTENT:
        fault = f"has {len(content)} characters, more than {MAX_CONTENT}"
    else:
        if not isinstance(context, str) or len(context) > MAX_CONTEXT:
            if context is not None:
                problems.append(f"{name} has a context that is not a short text; it was left out")
            context = ""
        text, context = (replace_surrogates(each.strip()) for each in (content, context))
        return CandidateFact(type, text, context=context or None)
    problems.append(f"{name} {fault}")
    return None


def _parse_numbers(value: object, most: int) -> list[int] | None:
    """Return the numbers from 1 to ``most`` in a list, sorted; None if there is none."""
    values = cast("list[object]", value) if isinstance(value, list) else []
    numbers = {number for item in values if (number := _parse_number(item)) and 1 <= number <= most}
    return sorted(numbers) or None


def _parse_number(value: object) -> int | None:
    """Return a number, also one that is written as text."""
    if isinstance(value, str) and re.fullmatch(r"\d{1,6}", value, re.ASCII):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def describe(value: object) -> str:
    """Return the type of a JSON value in words."""
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
    """Return whether a JSON value is an object."""
    return isinstance(value, dict)


def _is_fact_type(value: object) -> TypeGuard[FactType]:
    """Return whether a value is one of the fact types."""
    return isinstance(value, str) and value in FACT_TYPES


def is_action(value: object) -> TypeGuard[Action]:
    """Return whether a value is one of the five actions."""
    return isinstance(value, str) and value in ACTIONS
