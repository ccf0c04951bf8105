"""`Endpoint`: the HTTP connection that all remote embedders share."""

from __future__ import annotations

import json
import os
import threading
import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from memctx.errors import ConfigError, EmbeddingError
from memctx.providers import sdk
from memctx.providers.failures import (
    Failure,
    classify,
    classify_status,
    error_codes,
    malformed_response,
)
from memctx.providers.retry import RetryPolicy

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx2

    from memctx.providers.options import ClientOptions

TIMEOUT = 60.0
QUERY_TIMEOUT = 10.0
MAX_RETRIES = 3
# A longer wait is left to the worker that keeps the queue.
MAX_RETRY_AFTER = 30.0
# Turns are seconds apart, and opening a connection would take most of a query's time.
KEEPALIVE_SECONDS = 90.0
# Far more than the largest batch of the largest vectors.
MAX_RESPONSE_BYTES = 64 * 2**20


class RejectedError(EmbeddingError):
    """The server rejected the content of a request; it may accept a shorter text."""


class Endpoint:
    """Sends JSON to a server and reads its response, a JSON object.

    Errors contain neither the server's text, which may quote the request, nor exceptions of the HTTP client, which
    hold the request and so the key.

    Args:
        url: The address that paths are appended to.
        name: The model, for errors.
        headers: Headers of every request, the key among them.
        options: Timeouts (60 s, 10 s for queries) and retries (3).
    """

    def __init__(
        self, url: str, name: str, headers: Mapping[str, str], options: ClientOptions
    ) -> None:
        check_url(url)
        sdk.require_packages(name, "remote", "httpx2")
        self._url = url.rstrip("/")
        self._name = name
        self._headers = dict(headers)
        self._timeout = options.timeout_or(TIMEOUT)
        self._query_timeout = options.query_timeout or QUERY_TIMEOUT
        self._retries = RetryPolicy(
            options.max_retries_or(MAX_RETRIES), max_retry_after=MAX_RETRY_AFTER
        )
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._client: httpx2.Client | None = None
        self._process = 0

    def post(self, path: str, body: Mapping[str, object], *, is_query: bool) -> dict[str, Any]:
        """Return the response to a request. Requests for queries are not retried: a turn waits for them."""
        content = json.dumps(body, ensure_ascii=False).encode()
        if is_query:
            outcome = self._attempt(path, content, self._query_timeout)
        else:
            outcome = self._retries.run(
                lambda: self._attempt(path, content, self._timeout), self._closed
            )
        if not isinstance(outcome, Failure):
            return outcome
        if outcome.is_bad_request or outcome.kind == "overflow":
            raise RejectedError(outcome.message)
        raise EmbeddingError(
            outcome.message, is_retryable=outcome.is_retryable, retry_after=outcome.retry_after
        )

    def warm(self) -> None:
        """Import the HTTP client and read certificates, which takes longer than a query may."""
        parse_document(b"{}")
        self._open()

    def close(self) -> None:
        """Close connections, and end the wait for the next attempt."""
        self._closed.set()
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _open(self) -> httpx2.Client | None:
        """Return the HTTP client; None after `close`."""
        import httpx2  # noqa: PLC0415 - slow to import

        with self._lock:
            if self._closed.is_set():
                return None
            # A forked child must not write into its parent's connections.
            if self._client is None or self._process != os.getpid():
                self._process = os.getpid()
                self._client = httpx2.Client(
                    headers={"content-type": "application/json", **self._headers},
                    verify=sdk.ssl_context(),
                    limits=httpx2.Limits(keepalive_expiry=KEEPALIVE_SECONDS),
                )
            return self._client

    def _attempt(self, path: str, content: bytes, timeout: float) -> dict[str, Any] | Failure:
        """Send one request."""
        deadline = time.monotonic() + timeout
        try:
            client = self._open()
            if client is None:
                return Failure(f"{self._name} was closed", "rejected")
            url = self._url + path
            with client.stream("POST", url, content=content, timeout=timeout) as response:
                received = read_body(response, deadline)
                status, headers = response.status_code, response.headers
        except Exception as error:  # noqa: BLE001 - it may hold the key
            return classify(error, self._name)
        if received is None:
            limit = f"{MAX_RESPONSE_BYTES:,} bytes"
            return Failure(f"{self._name} sent a response of more than {limit}", "rejected")
        document = parse_document(received)
        if status != HTTPStatus.OK:
            sent = " ".join(self._headers.values())
            codes = [code for code in document_codes(document) if code not in sent]
            return classify_status(status, self._name, headers=headers, codes=codes)
        return malformed_response(self._name) if document is None else document


def check_url(url: str) -> None:
    """Reject a value that is no address, or an address with a secret in it, which would be logged."""
    parts = urlsplit(url)
    if parts.username is not None or parts.query or parts.fragment:
        raise ConfigError(
            "base_url must be an address without user, password, question mark and hash; "
            "a key is given as api_key"
        )
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigError(f"base_url must begin with http:// or https:// and a host, not {url!r}")


def find_key(options: ClientOptions, *variables: str, is_required: bool = True) -> str | None:
    """Return the API key of the options or of the environment; None if there is none and none is required."""
    found = (os.environ[name] for name in variables if os.environ.get(name))
    key = (options.api_key or next(found, "")).strip()
    if not key and is_required:
        raise ConfigError(f"there is no API key: pass api_key or set {' or '.join(variables)}")
    # An HTTP client that rejects the header would repeat it in its error.
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError("the API key contains characters that no key has")
    return key or None


def read_body(response: httpx2.Response, deadline: float) -> bytes | None:
    """Return the body of a response; None if it is too large.

    The HTTP client limits only the time between two pieces, so the deadline is checked here.
    """
    pieces: list[bytes] = []
    size = 0
    for piece in response.iter_bytes():
        pieces.append(piece)
        size += len(piece)
        if time.monotonic() > deadline:
            raise TimeoutError
        if size > MAX_RESPONSE_BYTES:
            return None
    return b"".join(pieces)


def parse_document(body: bytes) -> dict[str, Any] | None:
    """Return the JSON object in a body; None if it is none."""
    # Twice as fast as the standard library, which blocks all other threads: numbers come by the hundred thousand.
    from pydantic_core import from_json  # noqa: PLC0415 - importing memctx must not import pydantic

    try:
        document: object = from_json(body)
    except ValueError:
        return None
    return cast("dict[str, Any]", document) if isinstance(document, dict) else None


def document_codes(document: dict[str, Any] | None) -> list[str]:
    """Return the machine-readable codes of an error response."""
    error = (document or {}).get("error")
    return error_codes(cast("dict[str, object]", error)) if isinstance(error, dict) else []
