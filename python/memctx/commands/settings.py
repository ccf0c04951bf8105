"""Verbs on settings: `config show`, `config check`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

from memctx.commands.outcome import Outcome, Table
from memctx.config import Config
from memctx.config.environment import variable
from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike


def show(
    file: str | PathLike[str] | None = None, *, environ: Mapping[str, str] | None = None
) -> Outcome:
    """Every setting, its value and where that comes from."""
    environ = os.environ if environ is None else environ
    config = Config.load(file=file, environ=environ)
    by_file = {} if file is None else Config.load(file=file, environ={}).given()
    by_environ = Config.load(environ=environ).given()
    values: dict[str, Any] = config.model_dump(mode="json")
    sources = {
        name: variable(name) if name in by_environ else str(file) if name in by_file else "default"
        for name in values
    }
    rows = tuple(
        (f"{name}.{inner}" if inner else name, _word(value), sources[name])
        for name in values
        for inner, value in _flat(values[name])
    )
    told = {name: {"value": values[name], "source": sources[name]} for name in values}
    return Outcome({"settings": told}, (Table(("setting", "value", "from"), rows),))


def check(
    file: str | PathLike[str] | None = None, *, environ: Mapping[str, str] | None = None
) -> Outcome:
    """Whether the settings of a file and of the environment can be used."""
    try:
        config = Config.load(file=file, environ=environ)
    except (ConfigError, OSError) as error:
        faults = str(error).splitlines()
        data = {"is_ok": False, "faults": faults}
        return Outcome(data, ("\n".join(faults),), is_ok=False)
    given = sorted(config.given())
    words = f"All is well; set are {', '.join(given)}." if given else "All is well; all defaults."
    return Outcome({"is_ok": True, "faults": [], "given": given}, (words,))


def _flat(value: object) -> list[tuple[str, object]]:
    """A value, or those of a group under their own names."""
    if not isinstance(value, dict) or not value:
        return [("", value)]
    return list(cast("dict[str, object]", value).items())


def _word(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:,}" if isinstance(value, int) else str(value)
