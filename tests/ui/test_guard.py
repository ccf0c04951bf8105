"""Only the browser that opened the address first gets in, and only its own page: every other request is refused."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from memctx.ui.guard import Guard
from ui.conftest import SHOP, TOKEN, Page, serve

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from starlette.types import Message, Receive, Scope, Send

PATHS = ["/", "/app.js", "/style.css", "/api/overview", "/api/search?query=gate", "/nothing"]


@pytest.fixture
def stranger(page: Page) -> Iterator[httpx2.Client]:
    """Return a client without the cookie."""
    with httpx2.Client(base_url=page.origin, timeout=10) as client:
        yield client


@pytest.mark.parametrize("path", PATHS)
def test_nothing_answers_without_the_cookie(stranger: httpx2.Client, path: str) -> None:
    found = stranger.get(path)
    assert found.status_code == 401
    assert "memctx ui" in found.text


def test_a_token_works_once(page: Page, stranger: httpx2.Client) -> None:
    assert stranger.get("/", params={"token": TOKEN}).status_code == 403
    assert stranger.get("/api/overview").status_code == 401
    assert page.client.get("/", params={"token": TOKEN}).status_code == 200, (
        "a reload of the first browser"
    )


@pytest.mark.parametrize("token", ["", "wrong", f"{TOKEN}x", TOKEN[:-1], "%ff", "ü"])
def test_a_wrong_token_is_refused_and_spends_nothing(filled: Path, token: str) -> None:
    with serve(filled, may_write=False, is_opened=False) as page:
        assert page.client.get(f"/?token={token}").status_code == 403
        assert page.client.get(f"/?token={TOKEN}").status_code == 200


def test_a_prefetch_does_not_spend_the_token() -> None:
    async def app(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise AssertionError("it is not asked")

    guard = Guard(app, token=TOKEN, port=80)
    assert visit(guard, (b"sec-purpose", b"prefetch;prerender")) == 503
    assert visit(guard) == 200
    assert visit(guard) == 403


def visit(guard: Guard, *headers: tuple[bytes, bytes]) -> int:
    """Return the status of a visit to the address."""
    sent: list[Any] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        raise AssertionError("there is no body")

    scope = {
        "type": "http",
        "method": "GET",
        "path": "/",
        "query_string": f"token={TOKEN}".encode(),
        "headers": [(b"host", b"127.0.0.1:80"), *headers],
    }
    asyncio.run(guard(scope, receive, send))
    status: int = sent[0]["status"]
    return status


def test_a_cookie_of_an_earlier_run_is_refused(page: Page, filled: Path) -> None:
    name, _, old = page.cookie.partition(";")[0].partition("=")
    with serve(filled, may_write=False) as later, httpx2.Client(base_url=later.origin) as stranger:
        for named in (name, f"memctx-ui-{later.port}"):
            found = stranger.get("/api/overview", headers={"Cookie": f"{named}={old}"})
            assert found.status_code == 401


@pytest.mark.parametrize(
    "foreign",
    ['prefs={"theme":"dark"}', "version=2", "path=/a", "name=hello world", "flag", "a/b=1", "=x"],
)
def test_cookies_of_other_programs_on_the_host_do_no_harm(page: Page, foreign: str) -> None:
    own = page.cookie.partition(";")[0]
    with httpx2.Client(base_url=page.origin) as client:
        for cookies in (f"{foreign}; {own}", f"{own}; {foreign}"):
            assert client.get("/api/overview", headers={"Cookie": cookies}).status_code == 200
        assert client.get("/api/overview", headers={"Cookie": foreign}).status_code == 401


@pytest.mark.parametrize(
    "host",
    [
        "attacker.example",
        "attacker.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "127.0.0.1.example:{port}",
        "",
    ],
)
def test_a_rebinding_host_name_is_refused(page: Page, host: str) -> None:
    found = page.client.get("/api/overview", headers={"Host": host.format(port=page.port)})
    assert found.status_code in {400, 421}


@pytest.mark.parametrize(
    "origin", ["https://attacker.example", "null", "http://127.0.0.1:1", "http://localhost"]
)
def test_requests_of_other_origins_are_refused(page: Page, origin: str) -> None:
    assert page.client.get("/api/overview", headers={"Origin": origin}).status_code == 403
    posted = page.client.post(
        "/api/verify", json={}, headers={"Origin": origin, "X-Memctx-Page": "1"}
    )
    assert posted.status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_requests_of_other_sites_are_refused(page: Page, site: str) -> None:
    assert page.client.get("/api/overview", headers={"Sec-Fetch-Site": site}).status_code == 403


@pytest.mark.parametrize("missing", ["Origin", "X-Memctx-Page", "Content-Type"])
def test_posts_that_a_form_could_send_are_refused(page: Page, missing: str) -> None:
    headers = {"Origin": page.origin, "X-Memctx-Page": "1", "Content-Type": "application/json"}
    del headers[missing]
    assert page.client.post("/api/verify", content=b"{}", headers=headers).status_code == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_other_methods_are_refused(page: Page, method: str) -> None:
    assert page.client.request(method, "/api/overview").status_code == 405


def test_bodies_that_are_large_or_of_unknown_length_are_refused(page: Page) -> None:
    headers = {"Origin": page.origin, "X-Memctx-Page": "1", "Content-Type": "application/json"}
    large = page.client.post("/api/verify", content=b" " * 1_000_001, headers=headers)
    assert large.status_code == 413
    chunked = page.client.post("/api/verify", content=iter([b"{}"]), headers=headers)
    assert chunked.status_code == 413


@pytest.mark.parametrize("path", ["/", "/api/overview", "/app.js", "/nothing"])
def test_every_response_has_the_security_headers(page: Page, path: str) -> None:
    headers = page.client.get(path).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer"


def test_the_cookie_is_kept_from_scripts_and_other_sites(page: Page) -> None:
    name, _, attributes = page.cookie.partition("=")
    assert name == f"memctx-ui-{page.port}"
    assert set(attributes.split("; ")[1:]) == {"HttpOnly", "SameSite=Strict", "Path=/"}


@pytest.mark.parametrize("path", ["/../app.py", "/%2e%2e/app.py", "/assets/app.js", "/app.js/"])
def test_no_path_leads_out_of_the_files_of_the_page(page: Page, path: str) -> None:
    assert page.client.get(path).status_code in {307, 404}


def test_edits_are_refused_without_write(page: Page) -> None:
    before = page.get("facts")
    for name in ("add", "update", "supersede", "forget", "restore"):
        given = {
            "id": before["facts"][0]["id"],
            "revision": 0,
            "content": "x",
            "type": "config",
            "session": SHOP,
        }
        refused = page.post(f"facts/{name}", **given)
        assert refused.status_code == 403
        assert "--write" in refused.json()["error"]
    assert page.get("facts") == before
