"""The page of a replay: one self-contained HTML file without network access.

It is readable without scripts; those that are in it only add a readout, and filters to the list of turns.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memctx import files
from memctx.cli.escaping import plain
from memctx.cli.replay.page import figures, overview, story
from memctx.cli.replay.page.markup import Markup, data, join, tag

if TYPE_CHECKING:
    from os import PathLike

    from memctx.cli.replay.result import Replay

__all__ = ["html", "write_html"]

FOLDER = Path(__file__).parent
# The content of a session must not make a browser fetch anything.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'%3E"
    "%3Cpath d='M0 8V4h2V2h2v3h2V3h2v5z' fill='%232a7a72'/%3E%3C/svg%3E"
)


def html(replay: Replay) -> str:
    """Return the page as a text.

    >>> from memctx.cli.replay import replay
    >>> page = html(replay([{"role": "user", "content": "<b>Which port?</b>"}]))
    >>> page.startswith("<!doctype html>"), "<b>Which" in page
    (True, False)
    """
    head = join(
        Markup('<meta charset="utf-8">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="color-scheme" content="light dark">'),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("link", rel="icon", href=ICON),
        tag("title", f"{replay.name}, replayed"),
        tag("style", _asset("page.css")),
    )
    body = join(
        overview.header(replay),
        tag(
            "main",
            overview.tiles(replay),
            figures.context(replay),
            figures.cache(replay),
            figures.latency(replay),
            story.turns(replay),
            story.facts(replay),
            overview.notes(),
        ),
        tag("output", id="readout", class_="readout", hidden=True),
        tag("script", data(figures.readout(replay)), type="application/json", id="turns"),
        tag("script", _asset("page.js")),
    )
    page = f"<head>{head}</head>\n<body>{body}</body>"
    return f'<!doctype html>\n<html lang="en">\n{plain(page)}\n</html>\n'


def write_html(replay: Replay, path: str | PathLike[str]) -> Path:
    """Write the page of a replay to a file atomically and return its path.

    >>> import tempfile
    >>> from memctx.cli.replay import replay
    >>> played = replay([{"role": "user", "content": "Which port?"}])
    >>> write_html(played, tempfile.mkdtemp() + "/replay.html").name
    'replay.html'

    Raises:
        OSError: the file cannot be written.
    """
    target = Path(path)
    files.make_folder(target.parent)
    files.replace(target, html(replay).encode("utf-8", "replace"), sync=False)
    return target


def _asset(name: str) -> Markup:
    return Markup((FOLDER / name).read_text("utf-8"))
