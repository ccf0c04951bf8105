"""Filters of LangGraph's stores: values by their fields, namespaces by their labels."""

from __future__ import annotations

import operator
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from langgraph.store.base import MatchCondition

    Test: TypeAlias = Callable[[Any], bool]

ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
OPERATORS = ("$eq", "$ne", *ORDER)


def compile_filter(conditions: Mapping[str, Any]) -> Test:
    """Return a function that tests a value for all conditions on its fields; dots lead to fields of fields.

    >>> is_adult = compile_filter({"user": {"age": {"$gte": 18}}, "user.name": "Ada"})
    >>> is_adult({"user": {"name": "Ada", "age": 30}}), is_adult({"user": {"name": "Ada"}})
    (True, False)

    Raises:
        ConfigError: an operator is unknown.
    """
    tests = [(name, _test_of(wanted)) for name, wanted in conditions.items()]

    def passes(value: object) -> bool:
        if not isinstance(value, dict):
            return False
        fields = cast("dict[str, Any]", value)
        for name, test in tests:  # noqa: SIM110 - quicker than `all`, and called for every item
            if not test(fields[name] if name in fields else _field(fields, name)):
                return False
        return True

    return passes


def has_labels(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    """Return whether a namespace begins or ends with a path; ``*`` is any label.

    Raises:
        ConfigError: the condition is of another kind.
    """
    path = tuple(condition.path)
    if condition.match_type not in {"prefix", "suffix"}:
        raise ConfigError(f"match_type is {condition.match_type!r}; expected prefix or suffix")
    if len(namespace) < len(path):
        return False
    is_prefix = condition.match_type == "prefix"
    labels = namespace[: len(path)] if is_prefix else namespace[len(namespace) - len(path) :]
    return all(wanted in {"*", label} for label, wanted in zip(labels, path, strict=True))


def _field(fields: dict[str, Any], name: str) -> object:
    """Return a field by a path of names; None if there is none."""
    first, _, rest = name.partition(".")
    below = fields.get(first)
    if not rest or not isinstance(below, dict):
        return None
    found = cast("dict[str, Any]", below)
    return found[rest] if rest in found else _field(found, rest)


def _test_of(wanted: object) -> Test:
    if isinstance(wanted, dict):
        conditions = cast("dict[str, Any]", wanted)
        if not any(name.startswith("$") for name in conditions):
            return compile_filter(conditions)
        tests = [_comparison(name, than) for name, than in conditions.items()]
        return tests[0] if len(tests) == 1 else lambda value: all(test(value) for test in tests)
    if isinstance(wanted, list | tuple):
        parts = [_test_of(each) for each in cast("list[object]", wanted)]
        return lambda value: (
            isinstance(value, list)
            and len(cast("list[object]", value)) == len(parts)
            and all(
                test(each) for test, each in zip(parts, cast("list[object]", value), strict=True)
            )
        )
    return partial(operator.eq, wanted)


def _comparison(name: str, than: object) -> Test:
    if name == "$eq":
        return partial(operator.eq, than)
    if name == "$ne":
        return partial(operator.ne, than)
    if name not in ORDER:
        raise ConfigError(f"filter has the operator {name!r}; expected {', '.join(OPERATORS)}")
    return partial(_is_in_order, ORDER[name], than)


def _is_in_order(compare: Callable[[Any, Any], bool], than: object, value: object) -> bool:
    """Compare as numbers, or else as texts; what has no order passes no comparison."""
    try:
        return compare(float(cast("Any", value)), float(cast("Any", than)))
    except (TypeError, ValueError):
        return isinstance(value, str) and isinstance(than, str) and compare(value, than)
