"""The tables of settings in the guide match the classes, row by row."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from memctx import Config
from memctx.config import Compaction, Pruning, WorkspaceSearchSettings

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

# Of a group the table shows the setting that stands for all of it.
GROUPS = {"pruning": "mode", "compaction": "mode", "workspace_search": "enabled"}
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "settings.md"


def row(name: str, field: FieldInfo) -> str:
    default = (
        getattr(Config(), name)
        if name in GROUPS
        else field.get_default(call_default_factory=True, validated_data={})
    )
    default = getattr(default, GROUPS[name]) if name in GROUPS else default
    shown = str(default) if isinstance(default, Path) else json.dumps(default)
    return f"| `{name}` | `{shown.strip(chr(34))}` | {field.description} |"


def test_the_table_of_settings_is_current() -> None:
    """On a difference, the message has the rows that belong into the guide."""
    table = re.findall(r"^\| `.*$", GUIDE.read_text("utf-8"), re.MULTILINE)
    classes = (Config, Pruning, Compaction, WorkspaceSearchSettings)
    settings = [pair for each in classes for pair in each.model_fields.items()]
    expected = [row(name, field) for name, field in settings]
    assert len(expected) > 30
    assert table == expected, "\n".join(expected)
