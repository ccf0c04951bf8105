"""The page of a replay: one self-contained HTML file without network access.

It is readable without scripts; those that are in it only add a readout, and filters to the list of turns.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memctx import files
from memctx._html import Markup, join, tag
from memctx.cli.escaping import plain
from memctx.cli.replay.page import comparison, figures, overview, share, story
from memctx.cli.replay.page.markup import data

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from memctx.cli.replay.result import Replay

__all__ = ["comparison_html", "html", "write_html", "write_page"]

FOLDER = Path(__file__).parent
# The content of a session must not make a browser fetch anything.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'%3E"
    "%3Cpath d='M0 8V4h2V2h2v3h2V3h2v5z' fill='%232a7a72'/%3E%3C/svg%3E"
)


def html(replay: Replay, *, price: float = 1.0) -> str:
    """Return the page as a text; ``price`` is that of a million input tokens, in dollars.

    >>> from memctx.cli.replay import replay
    >>> page = html(replay([{"role": "user", "content": "<b>Which port?</b>"}]))
    >>> page.startswith("<!doctype html>"), "<b>Which" in page
    (True, False)
    """
    body = join(
        overview.header(replay),
        tag(
            "main",
            overview.tiles(replay),
            figures.context(replay),
            overview.costs(replay, price),
            figures.cache(replay),
            figures.latency(replay),
            story.turns(replay),
            story.facts(replay),
            overview.notes(),
        ),
        tag("output", id="readout", class_="readout", hidden=True),
        tag("script", data(figures.readout(replay)), type="application/json", id="turns"),
        tag("script", data(share.svg(replay)), type="application/json", id="share"),
        tag("script", _asset("page.js")),
    )
    return _page(f"{replay.name}, replayed", body)


def comparison_html(replays: Sequence[tuple[str, str, Replay]]) -> str:
    """Return a page that shows replays of one session side by side, each with its name and its settings.

    >>> from memctx.cli.replay import replay
    >>> played = replay([{"role": "user", "content": "Which port?"}])
    >>> "Largest prompt" in comparison_html([("A", "", played), ("B", 'placement = "tail"', played)])
    True
    """
    return _page(
        f"{replays[0][2].name}, compared",
        join(
            comparison.header(replays),
            tag(
                "main",
                comparison.table(replays),
                tag("div", *map(comparison.column, replays), class_="beside"),
                overview.notes(),
            ),
        ),
    )


def write_html(replay: Replay, path: str | PathLike[str], *, price: float = 1.0) -> Path:
    """Write the page of a replay to a file atomically and return its path; ``price`` is as for `html`.

    >>> import tempfile
    >>> from memctx.cli.replay import replay
    >>> played = replay([{"role": "user", "content": "Which port?"}])
    >>> write_html(played, tempfile.mkdtemp() + "/replay.html").name
    'replay.html'

    Raises:
        OSError: the file cannot be written.
    """
    return write_page(html(replay, price=price), path)


def write_page(page: str, path: str | PathLike[str]) -> Path:
    """Write a page to a file atomically and return its path."""
    target = Path(path)
    files.make_folder(target.parent)
    files.replace(target, page.encode("utf-8", "replace"), sync=False)
    return target


def _page(title: str, body: Markup) -> str:
    head = join(
        Markup('<meta charset="utf-8">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="color-scheme" content="light dark">'),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("link", rel="icon", href=ICON),
        tag("title", title),
        tag("style", _asset("page.css")),
    )
    page = f"<head>{head}</head>\n<body>{body}</body>"
    return f'<!doctype html>\n<html lang="en">\n{plain(page)}\n</html>\n'


def _asset(name: str) -> Markup:
    return Markup((FOLDER / name).read_text("utf-8"))
