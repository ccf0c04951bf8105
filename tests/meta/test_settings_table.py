"""The README's table of settings is the class, row by row."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from memctx import Config
from memctx.config import Compaction, Pruning

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

README = Path(__file__).parents[2] / "README.md"


def row(name: str, field: FieldInfo) -> str:
    default = field.get_default(call_default_factory=True, validated_data={})
    default = default.mode if isinstance(default, Pruning | Compaction) else default
    shown = str(default) if isinstance(default, Path) else json.dumps(default)
    return f"| `{name}` | `{shown.strip(chr(34))}` | {field.description} |"


def test_the_table_of_settings_is_current() -> None:
    """Should it differ, the rows that belong into the README are in the message."""
    _, _, section = README.read_text("utf-8").partition("\n## Settings\n")
    table = re.findall(r"^\| `.*$", re.split(r"^## ", section, flags=re.MULTILINE)[0], re.MULTILINE)
    classes = (Config, Pruning, Compaction)
    settings = [pair for each in classes for pair in each.model_fields.items()]
    expected = [row(name, field) for name, field in settings]
    assert len(expected) > 30
    assert table == expected, "\n".join(expected)
