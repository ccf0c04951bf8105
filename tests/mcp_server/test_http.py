"""The HTTP transport refuses requests without the token, and from pages of other origins."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import httpx2
import pytest

from memctx.errors import ConfigError
from memctx.mcp import HttpOptions

if TYPE_CHECKING:
    from mcp_server.conftest import Server

from mcp_server.conftest import TOKEN

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
RIGHT = {"Authorization": f"Bearer {TOKEN}"}


def post(server: Server, headers: dict[str, str]) -> httpx2.Response:
    accepted = {"Accept": "application/json, text/event-stream", **headers}
    return httpx2.post(server.url, json=INITIALIZE, headers=accepted, timeout=10)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": TOKEN},
        {"Authorization": "Bearer"},
    ],
    ids=["none", "wrong", "longer", "basic", "bare", "empty"],
)
def test_requests_without_the_token_are_refused(server: Server, headers: dict[str, str]) -> None:
    found = post(server, headers)
    assert found.status_code == 401
    assert found.headers["www-authenticate"].startswith("Bearer")
    assert json.loads(found.text)["error"] == "invalid_token"


def test_requests_with_the_token_are_answered(server: Server) -> None:
    assert post(server, RIGHT).status_code == 200
    assert post(server, {**RIGHT, "Origin": "http://localhost:3000"}).status_code == 200


@pytest.mark.parametrize("origin", ["https://attacker.example", "http://127.0.0.1.example", "null"])
def test_pages_of_other_origins_are_refused(server: Server, origin: str) -> None:
    assert post(server, {**RIGHT, "Origin": origin}).status_code == 403


def test_a_foreign_host_name_is_refused(server: Server) -> None:
    """A page whose name was made to resolve to this machine sends its own name."""
    assert post(server, {**RIGHT, "Host": "attacker.example"}).status_code == 421


@pytest.mark.parametrize("path", ["/", "/health", "/mcp/../"])
def test_no_other_path_answers_without_the_token(server: Server, path: str) -> None:
    assert httpx2.get(server.url.removesuffix("/mcp") + path, timeout=10).status_code == 401


def test_weak_options_are_refused() -> None:
    with pytest.raises(ConfigError, match="token has 5 characters"):
        HttpOptions("short")
    with pytest.raises(ConfigError, match="one interface"):
        HttpOptions("a-token-that-is-long-enough", host="0.0.0.0")  # noqa: S104 - it is refused
    with pytest.raises(ConfigError, match="port is 70000"):
        HttpOptions("a-token-that-is-long-enough", port=70_000)
