"""The ASGI application: routes, errors as JSON, and the files of the page."""

from __future__ import annotations

import json
import logging
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.routing import Route

from memctx.errors import ConfigError, MemctxError
from memctx.ui import calls, comparison, facts, overview, search, transcript, why
from memctx.ui.backend import RequestError
from memctx.ui.guard import Guard
from memctx.ui.parameters import Parameters
from memctx.ui.replays import Replays

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from memctx.ui.backend import Backend

    Answer = Callable[[Backend, Parameters], dict[str, Any] | Response]

logger = logging.getLogger("memctx.ui")

ASSETS = Path(__file__).parent / "assets"
KINDS = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
READS: dict[str, Answer] = {
    "page": overview.show_page,
    "overview": overview.show_overview,
    "health": overview.show_health,
    "session": transcript.show_session,
    "messages": transcript.show_messages,
    "message": transcript.show_part,
    "find": transcript.find_message,
    "search": search.search_messages,
    "facts": facts.list_facts,
    "fact": facts.show_fact,
    "contradictions": facts.find_contradictions,
    "preview": why.preview_recall,
    "why": why.explain_recall,
}
"""Answers to GET requests, by the name behind ``/api/``."""
WRITES: dict[str, Answer] = {
    "facts/add": facts.add_fact,
    "facts/update": facts.update_fact,
    "facts/supersede": facts.supersede_fact,
    "facts/forget": facts.forget_fact,
    "facts/restore": facts.restore_fact,
}
"""Answers to POST requests that change the store."""


def make_app(backend: Backend, *, token: str, port: int) -> ASGIApp:
    """Return the guarded application of a store, for one browser that has the token.

    >>> import tempfile
    >>> from memctx import Config
    >>> from memctx.ui import Backend
    >>> app = make_app(Backend.of(Path(tempfile.mkdtemp()), Config(), may_write=False), token="k3Vx", port=8000)
    """
    jobs = Replays(backend)
    # Replays write nothing to the store, but they take time: no link may start one.
    work: dict[str, Answer] = {
        "verify": overview.verify_store,
        "replays/start": lambda _, given: jobs.start(given),
        "replays/cancel": lambda _, given: jobs.cancel(given),
    }
    reads: dict[str, Answer] = {
        **READS,
        "replay": lambda _, given: calls.series_of(jobs.get(given.text("id"))),
        "call": lambda _, given: calls.call_of(
            jobs.get(given.text("id")), given.integer("number", 1, at_least=1, at_most=10**9)
        ),
        "settings.toml": comparison.download_settings,
        "comparison.html": lambda _, given: comparison.download_page(jobs, given),
    }
    writes: dict[str, Answer] = {name: partial(_write, answer) for name, answer in WRITES.items()}

    async def lifespan_end(_: object) -> None:
        await run_in_threadpool(jobs.close)

    routes = [
        *(
            Route(f"/api/{name}", partial(_read, backend, answer), methods=["GET"])
            for name, answer in reads.items()
        ),
        *(
            Route(f"/api/{name}", partial(_post, backend, answer), methods=["POST"])
            for name, answer in {**work, **writes}.items()
        ),
        *(
            Route(f"/{path.name}" if path.name != "index.html" else "/", partial(_asset, path))
            for path in sorted(ASSETS.iterdir())
            if path.suffix in KINDS
        ),
    ]
    app = Starlette(routes=routes, lifespan=partial(_lifespan, lifespan_end))
    return Guard(app, token=token, port=port)


class _lifespan:  # noqa: N801 - as the standard library names context managers
    """The life of the application: at its end, ``end`` is awaited."""

    def __init__(self, end: Callable[[object], Any], app: object) -> None:
        self._end, self._app = end, app

    async def __aenter__(self) -> None:
        """Do nothing: memories open when they are first needed."""

    async def __aexit__(self, *_: object) -> None:
        await self._end(self._app)


async def _asset(path: Path, _: Request) -> Response:
    return Response(await run_in_threadpool(path.read_bytes), media_type=KINDS[path.suffix])


async def _read(backend: Backend, answer: Answer, request: Request) -> Response:
    given = dict(request.query_params)
    return await run_in_threadpool(_respond, backend, answer, given)


async def _post(backend: Backend, answer: Answer, request: Request) -> Response:
    try:
        given: object = json.loads(await request.body())
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        return _error(400, "expected a JSON object")
    return await run_in_threadpool(_respond, backend, answer, cast("dict[str, Any]", given))


def _write(answer: Answer, backend: Backend, given: Parameters) -> dict[str, Any] | Response:
    backend.check_writable()
    done = answer(backend, given)
    backend.commit()
    return done


def _respond(backend: Backend, answer: Answer, given: dict[str, Any]) -> Response:
    started = time.perf_counter()
    try:
        backend.memories.check()
        found = answer(backend, Parameters(given))
    except RequestError as error:
        return _error(error.status, str(error))
    except ConfigError as error:
        return _error(400, str(error))
    except (MemctxError, OSError) as error:
        return _error(503, str(error))
    except Exception as error:
        logger.exception("a request failed")
        return _error(500, f"{type(error).__name__}: {error}")
    response = found if isinstance(found, Response) else _json(found)
    response.headers["server-timing"] = f"app;dur={(time.perf_counter() - started) * 1000:.1f}"
    return response


def _json(value: object, status: int = 200) -> Response:
    # ASCII only, so that halves of characters do no harm.
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return Response(text, status, media_type="application/json")


def _error(status: int, message: str) -> Response:
    return _json({"error": message}, status)
