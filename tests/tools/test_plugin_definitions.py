"""The definitions in `plugins/`, which are generated from the tools and the settings of memctx."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

from memctx.tools import schemas

PLUGINS = Path(__file__).parents[2] / "plugins"


def test_the_definitions_of_the_plugins_are_up_to_date() -> None:
    generator = runpy.run_path(str(PLUGINS / "generate.py"))
    written = generator["TARGET"].read_text("utf-8")
    assert written == generator["definitions"](), "run plugins/generate.py"


def test_the_manifest_of_the_openclaw_plugin_declares_every_tool() -> None:
    manifest = json.loads((PLUGINS / "openclaw" / "openclaw.plugin.json").read_text("utf-8"))
    assert manifest["contracts"]["tools"] == [tool["name"] for tool in schemas("mcp")]
