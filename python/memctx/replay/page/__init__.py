"""The page of a replay: one HTML file with all that it needs, which loads nothing and sends nothing.

It is readable without scripts; those that are in it only add a readout, and filters to the list of turns.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memctx import durable
from memctx.replay.page import figures, knowledge, overview, story
from memctx.replay.page.markup import Markup, data, joined, tag

if TYPE_CHECKING:
    from os import PathLike

    from memctx.replay.result import Replay

__all__ = ["html", "write_html"]

FOLDER = Path(__file__).parent
# Whatever a recorded session says, no browser fetches anything for it.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'%3E"
    "%3Cpath d='M0 8V4h2V2h2v3h2V3h2v5z' fill='%232a7a72'/%3E%3C/svg%3E"
)


def html(replay: Replay) -> str:
    """The page as a text.

    >>> from memctx.replay import replay
    >>> page = html(replay([{"role": "user", "content": "<b>Which port?</b>"}]))
    >>> page.startswith("<!doctype html>"), "<b>Which" in page
    (True, False)
    """
    head = joined(
        Markup('<meta charset="utf-8">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="color-scheme" content="light dark">'),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("link", rel="icon", href=ICON),
        tag("title", f"{replay.name}, replayed"),
        tag("style", _asset("page.css")),
    )
    body = joined(
        overview.header(replay),
        tag(
            "main",
            overview.tiles(replay),
            figures.context(replay),
            figures.cache(replay),
            figures.latency(replay),
            story.turns(replay),
            knowledge.facts(replay),
            overview.notes(),
        ),
        tag("output", id="readout", class_="readout", hidden=True),
        tag("script", data(figures.readout(replay)), type="application/json", id="turns"),
        tag("script", _asset("page.js")),
    )
    return f'<!doctype html>\n<html lang="en">\n<head>{head}</head>\n<body>{body}</body>\n</html>\n'


def write_html(replay: Replay, path: str | PathLike[str]) -> Path:
    """Write the page of a replay to a file, whole or not at all; where it is.

    >>> import tempfile
    >>> from memctx.replay import replay
    >>> played = replay([{"role": "user", "content": "Which port?"}])
    >>> write_html(played, tempfile.mkdtemp() + "/replay.html").name
    'replay.html'

    Raises:
        OSError: the file cannot be written.
    """
    target = Path(path)
    durable.make_folder(target.parent)
    durable.replace(target, html(replay).encode("utf-8", "replace"), sync=False)
    return target


def _asset(name: str) -> Markup:
    return Markup((FOLDER / name).read_text("utf-8"))
