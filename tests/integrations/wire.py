"""A transport that records requests and answers them from a list, for clients of SDKs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import httpx2


@dataclass
class Wire:
    """The requests of a client, as they left it."""

    answers: list[tuple[int, Any]]
    """Status and body of each response; the last one is repeated. A list is a stream of events."""
    bodies: list[Any] = field(default_factory=list[Any])

    @property
    def client(self) -> httpx2.Client:
        """Return a client over the transport."""
        return httpx2.Client(transport=httpx2.MockTransport(self._answer))

    @property
    def async_client(self) -> httpx2.AsyncClient:
        """Return an asynchronous client over the transport."""
        return httpx2.AsyncClient(transport=httpx2.MockTransport(self._answer))

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        self.bodies.append(json.loads(request.read() or b"null"))
        status, body = self.answers[min(len(self.bodies), len(self.answers)) - 1]
        if not isinstance(body, list):
            return httpx2.Response(status, json=body)
        events = "".join(f"event: {it.get('type')}\ndata: {json.dumps(it)}\n\n" for it in body)
        return httpx2.Response(status, text=events, headers={"content-type": "text/event-stream"})
