"""`Endpoint`: the HTTP part that all remote embedders share."""

from __future__ import annotations

import json
import os
import random
import re
import threading
import time
from functools import cache
from http import HTTPStatus
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from memctx.errors import ConfigError, EmbeddingError
from memctx.retry_after import retry_after_in

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping

    import httpx2

# Seconds between two tries, where the server does not say.
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 8.0
# Who is to be left alone for longer is asked again by whoever keeps the queue, not from here.
LONGEST_WAIT = 30.0
# A turn comes some seconds after the last; making a connection anew would take most of the time that a query has.
KEPT_OPEN = 90.0
# Far more than the largest batch of the largest vectors.
LARGEST_ANSWER = 64 * 2**20

TRANSIENT = {
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.CONFLICT,
    HTTPStatus.TOO_EARLY,
    HTTPStatus.TOO_MANY_REQUESTS,
}
REFUSED = {
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
}
DEAD_CODES = {"billing_error", "insufficient_quota"}
CODE = re.compile(r"[A-Za-z_]{1,48}")


class RefusedError(EmbeddingError):
    """The server did not like what was sent; a shorter text it may."""


class Endpoint:
    """Sends JSON to a server and reads its answer, a JSON object.

    Errors are told without the words of the server, which may repeat what was sent, and without what the HTTP client
    raised, which holds the request and so the key.

    Args:
        url: Where paths begin.
        name: The model, for errors.
        headers: What is sent along, the key among it.
        retries: How often a request is repeated that failed for a reason that may pass.
    """

    def __init__(self, url: str, name: str, headers: Mapping[str, str], retries: int) -> None:
        check_url(url)
        if retries < 0:
            raise ConfigError(f"retries must be 0 or more, not {retries!r}")
        if find_spec("httpx2") is None:
            raise ConfigError(
                f"{name} is reached through the package 'httpx2', which is not installed: "
                "pip install 'memctx[remote]'"
            )
        self._url = url.rstrip("/")
        self._name = name
        self._headers = dict(headers)
        self._retries = retries
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._client: httpx2.Client | None = None
        self._process = 0

    def post(
        self, path: str, body: Mapping[str, object], *, timeout: float, can_retry: bool
    ) -> dict[str, Any]:
        """The answer, after as many tries as it takes or as there are, each of ``timeout`` seconds."""
        content = json.dumps(body, ensure_ascii=False).encode()
        tries = 0
        while True:
            outcome = self._attempt(path, content, timeout)
            if not isinstance(outcome, EmbeddingError):
                return outcome
            is_last = not can_retry or tries >= self._retries
            pause = None if is_last else pause_after(outcome, tries)
            if pause is None or self._closed.wait(pause):
                raise outcome
            tries += 1

    def warm(self) -> None:
        """Import the HTTP client and read certificates, which takes longer than a query may."""
        document_in(b"{}")
        self._ready()

    def close(self) -> None:
        """Close connections; what waits for its next try stops waiting."""
        self._closed.set()
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _ready(self) -> httpx2.Client:
        import httpx2  # noqa: PLC0415 - takes longer than all of memctx

        with self._lock:
            if self._closed.is_set():
                raise EmbeddingError(f"{self._name} was closed")
            # A fork must not write into its parent's connections.
            if self._client is None or self._process != os.getpid():
                self._process = os.getpid()
                self._client = httpx2.Client(
                    headers={"content-type": "application/json", **self._headers},
                    verify=ssl_context(),
                    limits=httpx2.Limits(keepalive_expiry=KEPT_OPEN),
                )
            return self._client

    def _attempt(
        self, path: str, content: bytes, timeout: float
    ) -> dict[str, Any] | EmbeddingError:
        """One request. An error is given back rather than raised, so that it has no context."""
        deadline = time.monotonic() + timeout
        try:
            with self._ready().stream(
                "POST", self._url + path, content=content, timeout=timeout
            ) as response:
                answer = read(response, deadline)
                status, headers = response.status_code, response.headers
        except Exception as error:  # noqa: BLE001 - whatever it is, it goes no further
            return self._failure(error)
        document = document_in(answer)
        if status != HTTPStatus.OK:
            return self._refusal(status, headers, document)
        if document is None:
            return EmbeddingError(f"what {self._name} sent is no answer of its API", can_retry=True)
        return document

    def _failure(self, error: Exception) -> EmbeddingError:
        """What it means that there was no answer."""
        names = {cls.__name__ for cls in type(error).__mro__}
        if isinstance(error, EmbeddingError):
            return error
        if isinstance(error, TimeoutError) or "TimeoutException" in names:
            return EmbeddingError(f"{self._name} did not answer in time", can_retry=True)
        if names & {"TransportError", "DecodingError"} and "UnsupportedProtocol" not in names:
            return EmbeddingError(f"the connection to {self._name} failed", can_retry=True)
        return EmbeddingError(f"{self._name} could not be asked ({type(error).__name__})")

    def _refusal(
        self, status: int, headers: Mapping[str, str], document: dict[str, Any] | None
    ) -> EmbeddingError:
        """What a status other than success means."""
        sent = " ".join(self._headers.values())
        codes = [code for code in codes_in(document) if code not in sent]
        reason = f" ({', '.join(codes)})" if codes else ""
        text = f"{self._name} answered with status {status}{reason}"
        is_transient = status in TRANSIENT or status >= HTTPStatus.INTERNAL_SERVER_ERROR
        if is_transient and DEAD_CODES.isdisjoint(codes):
            return EmbeddingError(text, can_retry=True, retry_after=retry_after_in(headers))
        return (RefusedError if status in REFUSED else EmbeddingError)(text)


@cache
def ssl_context() -> ssl.SSLContext:
    """The certificates of this machine, read once: that takes most of the time in which a client is made."""
    import httpx2  # noqa: PLC0415 - as above

    return httpx2.create_ssl_context()


def check_url(url: str) -> None:
    """Complain about what is no address, or one with a secret in it, which would be logged."""
    parts = urlsplit(url)
    if parts.username is not None or parts.query or parts.fragment:
        raise ConfigError(
            "base_url must be an address without user, password, question mark and hash; "
            "a key is given as api_key"
        )
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigError(f"base_url must begin with http:// or https:// and a host, not {url!r}")


def pause_after(error: EmbeddingError, tries: int) -> float | None:
    """Seconds to wait before the next try; None if there is to be none."""
    if not error.can_retry or (error.retry_after or 0) > LONGEST_WAIT:
        return None
    pause = min(FIRST_PAUSE * 2**tries, LONGEST_PAUSE)
    spread = random.uniform(0.5, 1.0)  # noqa: S311 - so that many do not come back at once
    wanted = error.retry_after
    return pause * spread if wanted is None else wanted + FIRST_PAUSE * (1 - spread)


def read(response: httpx2.Response, deadline: float) -> bytes:
    """The body, unless it takes too long: the client looks only at the time between two pieces."""
    pieces: list[bytes] = []
    size = 0
    for piece in response.iter_bytes():
        pieces.append(piece)
        size += len(piece)
        if time.monotonic() > deadline:
            raise TimeoutError
        if size > LARGEST_ANSWER:
            raise ValueError(size)
    return b"".join(pieces)


def document_in(answer: bytes) -> dict[str, Any] | None:
    """The JSON object that a body is; None if it is none."""
    # In half the time of the standard library, in which no other thread runs: numbers come by the hundred thousand.
    from pydantic_core import from_json  # noqa: PLC0415 - importing memctx must not import pydantic

    try:
        document: object = from_json(answer)
    except ValueError:
        return None
    return cast("dict[str, Any]", document) if isinstance(document, dict) else None


def codes_in(document: dict[str, Any] | None) -> list[str]:
    """The words for the cause that programs are meant to read."""
    error = (document or {}).get("error")
    if not isinstance(error, dict):
        return []
    fields = cast("dict[str, object]", error)
    found = (fields.get(name) for name in ("type", "code", "status"))
    codes = [code for code in found if isinstance(code, str) and CODE.fullmatch(code)]
    return list(dict.fromkeys(codes))
