"""Pages of the site made of files outside `docs`, and links between files as links between pages."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

PAGES = {
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "SECURITY.md": "project/security.md",
    "RELEASING.md": "project/releasing.md",
    "CODE_OF_CONDUCT.md": "project/code-of-conduct.md",
    "benches/README.md": "benchmarks/how.md",
    "benches/RESULTS.md": "benchmarks/results.md",
    "packages/memctx-model/README.md": "project/model.md",
    "model/README.md": "project/training.md",
    "plugins/openclaw/README.md": "project/openclaw-plugin.md",
    "plugins/pi/README.md": "project/pi-plugin.md",
}
"""Files of the repository that are pages, and their paths in the site."""

HOME = {"README.md": "index.md"}

LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#|/)([^)\s#]+)(#[^)\s]*)?(?=\))")
FENCE = re.compile(r"^(```.*?^```$)", re.DOTALL | re.MULTILINE)


def pages(root: Path) -> dict[str, str]:
    """Return the text of each page by its path in the site."""
    return {page: (root / source).read_text("utf-8") for source, page in PAGES.items()}


def page_of(source: str) -> str:
    """Return the path in the site of a file of the repository."""
    if source in PAGES or source in HOME:
        return (PAGES | HOME)[source]
    if source.startswith("docs/"):
        return source.removeprefix("docs/")
    if source.startswith("examples/"):
        return str(posixpath.splitext(source)[0]) + ".md"
    raise ValueError(f"{source} is no page of the site; expected one of {', '.join(PAGES)}")


def source_of(page: str) -> str:
    """Return the file of the repository that a page is made of."""
    return next((source for source, made in PAGES.items() if made == page), f"docs/{page}")


def rewrite_links(markdown: str, page: str) -> str:
    """Return text with links to files of the repository changed to links to their pages."""
    folder = posixpath.dirname(source_of(page))

    def rewrite(match: re.Match[str]) -> str:
        path, anchor = match.groups()
        source = posixpath.normpath(posixpath.join(folder, path))
        if page.startswith(("reference/", "examples/")) or (
            page not in PAGES.values() and source.startswith("docs/")
        ):
            return match[0]  # a page of the site already
        return posixpath.relpath(page_of(source), posixpath.dirname(page) or ".") + (anchor or "")

    parts = FENCE.split(markdown)
    return "".join(
        part if index % 2 else LINK.sub(rewrite, part) for index, part in enumerate(parts)
    )
