"""Hooks of MkDocs: pages made from the repository, from the code and from recorded figures."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import charts
import commands
import examples
import reference
import sources
from mkdocs.structure.files import File, Files

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
FIRST = ("/README.md", "/index.md")
"""Pages that open a section."""

PAGES: dict[str, str] = {}
"""Generated pages: text by path in the site."""


def _generate() -> dict[str, str]:
    return {
        **reference.pages(ROOT),
        **examples.pages(ROOT),
        **sources.pages(ROOT),
    }


def _expand(entries: object, paths: list[str]) -> object:
    """Return a section of the navigation with each ``folder/*`` replaced by the other pages of the folder."""
    if not isinstance(entries, list):
        return entries
    expanded: list[object] = []
    for entry in entries:
        if isinstance(entry, str) and entry.endswith("/*"):
            folder = entry.removesuffix("*")
            inside = [path for path in paths if path.startswith(folder)]
            expanded += sorted(inside, key=lambda path: not path.endswith(FIRST))
        else:
            expanded.append(entry)
    return expanded


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Complete the navigation, and let `mike` switch versions where it builds one."""
    if "MIKE_DOCS_VERSION" in os.environ:
        config.extra["version"] = {"provider": "mike"}
    PAGES.update(_generate())
    docs = Path(config.docs_dir)
    written = [path.relative_to(docs).as_posix() for path in docs.rglob("*.md")]
    listed = str(config.nav)
    paths = [path for path in [*sorted(written), *PAGES] if path not in listed]
    config.nav = [
        {title: _expand(entries, paths) for title, entries in section.items()}
        for section in config.nav or ()
    ]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    for path, text in PAGES.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Point links to files of the repository at their pages, and insert charts and the table of commands."""
    linked = sources.rewrite_links(markdown, page.file.src_uri)
    return commands.insert_commands(charts.insert_charts(linked, ROOT), ROOT)


def on_page_content(html: str, **_: object) -> str:
    """Let tables be scrolled by keyboard where they are wider than the page, as the theme does with code."""
    return html.replace("<table>", '<table tabindex="0">')


def on_post_page(output: str, **_: object) -> str:
    """Name the search, which the theme leaves without a name."""
    return output.replace('role="dialog">', 'role="dialog" aria-label="Search">')
