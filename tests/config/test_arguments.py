"""The arguments that editors show are the settings that there are."""

from __future__ import annotations

import inspect

import memctx
from memctx import Config
from memctx.config import arguments
from memctx.config.group import groups_of
from memctx.config.settings import Arguments, OpenArguments


def test_every_setting_is_a_typed_argument_of_open() -> None:
    named = set(inspect.signature(memctx.open).parameters) - {
        "path",
        "session_id",
        "config",
        "settings",
    }
    assert named == {"context_window"}
    assert set(OpenArguments.__annotations__) | named == set(Config.fields)
    assert set(Arguments.__annotations__) == set(Config.fields)


def test_every_group_has_typed_arguments() -> None:
    groups = groups_of(Config)
    for name, group in groups.items():
        kind = group.__name__.replace("Settings", "Arguments")
        assert list(getattr(arguments, kind).__annotations__) == list(group.fields), name
        assert kind in str(OpenArguments.__annotations__[name]), name
