"""Workspaces: the Markdown files that an agent lives by, in its system prompt and searchable.

>>> import pathlib, tempfile
>>> from memctx.workspace import Workspace
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

from memctx.workspace.document import Source
from memctx.workspace.files import Access, Loaded, LoadedFile, Workspace
from memctx.workspace.search import Cited, WorkspaceSearch
from memctx.workspace.truncate import Truncated, truncate

__all__ = [
    "Access",
    "Cited",
    "Loaded",
    "LoadedFile",
    "Source",
    "Truncated",
    "Workspace",
    "WorkspaceSearch",
    "truncate",
]
