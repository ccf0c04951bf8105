"""OpenClaw workspaces: an agent's Markdown files, in its system prompt and searchable.

>>> import pathlib, tempfile
>>> from memctx.hosts.openclaw import Workspace
>>> root = pathlib.Path(tempfile.mkdtemp())
>>> _ = (root / "SOUL.md").write_text("You are brief.")
>>> print(Workspace(root).system_prompt())
# Project context
<BLANKLINE>
The files of the workspace, as they are now:
<BLANKLINE>
<file path="SOUL.md">
You are brief.
</file>
"""

from memctx import checks
from memctx.hosts.openclaw.files import daily_name as daily_name
from memctx.hosts.openclaw.passages import Source
from memctx.hosts.openclaw.search import Cited, WorkspaceSearch
from memctx.hosts.openclaw.silence import SILENT as SILENT
from memctx.hosts.openclaw.silence import SilenceFilter, is_silent
from memctx.hosts.openclaw.workspace import (
    Access,
    Loaded,
    LoadedFile,
    Truncated,
    Workspace,
    truncate,
)

__all__ = [
    "Access",
    "Cited",
    "Loaded",
    "LoadedFile",
    "SilenceFilter",
    "Source",
    "Truncated",
    "Workspace",
    "WorkspaceSearch",
    "is_silent",
    "truncate",
]

checks.guard(globals(), __all__)
