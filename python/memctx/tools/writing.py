"""Tools that change facts: `memory_store`, `memory_update`, `memory_forget`."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

from memctx.errors import ConfigError
from memctx.facts import CandidateFact
from memctx.facts import update as apply_candidates
from memctx.tools.definition import ToolError
from memctx.tools.lookup import find_fact, find_segment
from memctx.tools.reading import fact_item

if TYPE_CHECKING:
    from memctx._core import Fact
    from memctx.memory import Memory
    from memctx.tools.call import Call
    from memctx.tools.results import ForgetResult, StoreResult, UpdateResult

MAX_CHARS = 4_000
"""Most characters of a fact and of its context: longer text belongs into the conversation, which is archived."""
CODE_CHARS = 8


def store(call: Call, given: dict[str, Any]) -> StoreResult:
    """Remember a statement: add it, merge it with a known fact, or supersede the fact that it contradicts."""
    _check_length(given)
    facts = call.memory.facts
    candidate = CandidateFact(given["type"], given["content"], context=given["context"])
    [step] = apply_candidates(facts.store, [candidate])
    is_new = step.action in {"add", "supersede"}
    key = candidate.id if is_new else step.target
    # `add` returns the fact that says the same where the plan named none.
    fact = (facts.get(key) if key else None) or facts.add(
        candidate.type, candidate.content, context=candidate.context
    )
    replaced = facts.get(step.target) if step.action == "supersede" and step.target else None
    return {
        "action": step.action,
        "fact": fact_item(fact),
        "replaced": None if replaced is None else fact_item(replaced),
        "reason": step.reason,
    }


def update(call: Call, given: dict[str, Any]) -> UpdateResult:
    """Replace the text of a fact under the same id; the earlier text stays in its history."""
    _check_length(given)
    old = _find_active(call.memory, given["id"])
    new = call.memory.facts.update(old.id, given["content"], context=given["context"])
    return {"fact": fact_item(new), "previous_text": old.content}


def forget(call: Call, given: dict[str, Any]) -> ForgetResult:
    """Return a code for a fact or, if the code is passed, remove the fact from all searches and lists.

    The code depends on the fact and its text: it cannot be guessed, and it does not fit a fact that changed since.
    """
    fact = _find_active(call.memory, given["id"])
    code = _confirmation_code(fact)
    if given["confirm"] is None:
        return {
            "is_forgotten": False,
            "fact": fact_item(fact),
            "confirm": code,
            "next_step": "Nothing has changed. If this is the fact to forget, call memory_forget again with the "
            "same id and this value of confirm.",
        }
    if given["confirm"] != code:
        raise ToolError(
            "changed",
            "confirm does not fit this fact as it is now; nothing was forgotten",
            "Call memory_forget with the id alone, read the fact it returns, and pass the confirm it returns.",
        )
    call.memory.facts.forget(fact.id)
    return {
        "is_forgotten": True,
        "fact": {**fact_item(fact), "is_active": False},
        "confirm": None,
        "next_step": "The fact is no longer found. To restore it, store its text again.",
    }


def _confirmation_code(fact: Fact) -> str:
    seen = f"{fact.id}\n{fact.revision}\n{fact.content}"
    return sha256(seen.encode("utf-8", "surrogatepass")).hexdigest()[:CODE_CHARS]


def _find_active(memory: Memory, id: str) -> Fact:
    key = id.lstrip("#")
    try:
        fact = find_fact(memory, key)
    except ConfigError as error:
        raise _explain_missing(memory, key, error) from None
    if fact.is_active:
        return fact
    newer = fact.superseded_by
    raise ToolError(
        "changed",
        f"the fact {fact.id} no longer holds",
        "There is nothing to do." if newer is None else f"Its successor has the id {newer}.",
    )


def _explain_missing(memory: Memory, id: str, error: ConfigError) -> ToolError:
    if "begin with it" in str(error):
        return ToolError("not_found", str(error), "Pass one of these ids in full.")
    try:
        find_segment(memory, id)
    except ConfigError:
        hint = 'Find the id with memory_search and kind "facts", and pass it unchanged.'
        return ToolError("not_found", f"no fact has the id {id!r}", hint)
    return ToolError(
        "invalid_argument",
        f"{id!r} is an archived message, and only facts can be changed or forgotten",
        "To correct what it says, store the right statement with memory_store. Messages are deleted only by the "
        "user, with the command `memctx gc`.",
    )


def _check_length(given: dict[str, Any]) -> None:
    for name in ("content", "context"):
        length = len(given[name] or "")
        if length > MAX_CHARS:
            raise ToolError(
                "invalid_argument",
                f"{name} has {length} characters; at most {MAX_CHARS} are stored",
                "Store one short statement per call, in your own words.",
            )
