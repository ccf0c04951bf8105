"""Downloads of the what-if view: settings as TOML, and the comparison of two replays as one HTML file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from starlette.responses import Response

from memctx.cli.replay import comparison_html
from memctx.errors import ConfigError
from memctx.ui.backend import RequestError
from memctx.ui.replays import check_settings

if TYPE_CHECKING:
    from memctx.ui.backend import Backend
    from memctx.ui.parameters import Parameters
    from memctx.ui.replays import Replays


def to_toml(settings: dict[str, Any]) -> str:
    """Return settings as a file that ``--config`` takes.

    >>> print(to_toml({"placement": "tail", "recall.min_score": 0.5}))
    placement = "tail"
    recall.min_score = 0.5
    <BLANKLINE>
    """
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items())


def download_settings(_: Backend, given: Parameters) -> Response:
    """Return settings as a TOML file."""
    try:
        found: object = json.loads(given.text("settings"))
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ConfigError("settings is no JSON object; expected one of dotted names and values")
    settings = check_settings(cast("dict[str, Any]", found))
    return _download(to_toml(settings), "memctx.toml", "application/toml")


def download_page(replays: Replays, given: Parameters) -> Response:
    """Return the comparison of two replays as one HTML file."""
    jobs = [replays.get(given.text(name)) for name in ("first", "second")]
    results = [(job.settings, job.result) for job in jobs if job.result is not None]
    if len(results) != len(jobs):
        raise RequestError(409, "A replay is not finished; wait for it, then download again.")
    page = comparison_html(
        [
            (name, to_toml(settings), result)
            for name, (settings, result) in zip("AB", results, strict=True)
        ]
    )
    return _download(page, "memctx-comparison.html", "text/html")


def _download(text: str, name: str, kind: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text.encode("utf-8", "replace"), media_type=kind, headers=headers)
