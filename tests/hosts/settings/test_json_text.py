"""Edits of JSON as text: any edit gives the document that the same edit of the values gives, and removal undoes it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctx.errors import ConfigError
from memctx.hosts.settings.json_text import JsonText

KEYS = st.sampled_from(["a", "b", "hooks", "é"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text('ab{}[],:/*"\\\n', max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)
STYLES = st.sampled_from(
    [
        {},
        {"indent": 2},
        {"indent": "\t"},
        {"separators": (",", ":")},
    ]
)


@given(OBJECTS, STYLES, VALUES)
def test_a_member_is_added_and_removed(
    value: dict[str, Any], style: dict[str, Any], new: Any
) -> None:
    document = JsonText(json.dumps(value, **style), "f")
    assert document.root.to_value() == value
    document.set(("memctx", "inner"), new)
    assert json.loads(document.text) == {**value, "memctx": {"inner": new}}
    document.remove(("memctx",))
    assert json.loads(document.text) == value


@given(OBJECTS, STYLES, st.lists(st.integers(0, 5), max_size=4))
def test_items_are_added_and_dropped(
    value: dict[str, Any], style: dict[str, Any], known: list[int]
) -> None:
    document = JsonText(json.dumps({**value, "list": known}, **style), "f")
    for number in (100, 101):
        document.append(("list",), {"n": number})
    assert json.loads(document.text)["list"] == [*known, {"n": 100}, {"n": 101}]
    document.drop_items(("list",), lambda item: isinstance(item, dict))
    assert json.loads(document.text) == {**value, "list": known}


@given(OBJECTS, STYLES, KEYS)
def test_any_member_can_be_removed(value: dict[str, Any], style: dict[str, Any], key: str) -> None:
    document = JsonText(json.dumps(value, **style), "f")
    document.remove((key,))
    value.pop(key, None)
    assert json.loads(document.text) == value


@given(st.text('{}[]",:/*\\ \n1a', max_size=30))
def test_any_text_is_read_as_json_is_or_refused(text: str) -> None:
    try:
        pairs: Any = json.loads(text, object_pairs_hook=list)
    except ValueError:
        pairs = None
    try:
        found = JsonText(text, "f").root.to_value()
    except ConfigError:
        # Refused although it is JSON: no object, or one in which a name occurs twice.
        assert pairs is None or not text.lstrip().startswith("{") or '"' in text
    else:
        assert isinstance(found, dict)


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(ConfigError, match="nested too deep"):
        JsonText('{"a":' * 5_000, "f")
