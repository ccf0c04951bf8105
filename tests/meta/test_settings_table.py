"""The tables of settings in the guide match the classes, row by row."""

from __future__ import annotations

import json
import re
from operator import attrgetter
from pathlib import Path

from memctx import Config

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "settings.md"


def row(path: str, description: str | None) -> str:
    default = attrgetter(path)(Config())
    shown = str(default) if isinstance(default, Path) else json.dumps(default)
    return f"| `{path}` | `{shown.strip(chr(34))}` | {description} |"


def test_the_tables_of_settings_are_current() -> None:
    """On a difference, the message has the rows that belong into the guide."""
    table = re.findall(r"^\| `.*$", GUIDE.read_text("utf-8"), re.MULTILINE)
    expected = [row(path, field.description) for path, field in Config.paths().items()]
    assert len(expected) > 75
    assert table == expected, "\n".join(expected)


def test_every_group_is_a_section_with_its_description() -> None:
    sections = re.findall(r"^## `(\w+)`\n\n(.*)$", GUIDE.read_text("utf-8"), re.MULTILINE)
    groups = {path.partition(".")[0] for path in Config.paths() if "." in path}
    fields = Config.fields
    expected = [(name, f"{fields[name].description}.") for name in fields if name in groups]
    assert sections == expected
