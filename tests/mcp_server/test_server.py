"""The SDK's client drives every tool, resource and prompt over both transports."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal

import anyio
import pytest
from mcp.shared.exceptions import MCPError

import process
from memctx.tools import schemas

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from mcp import Client

    from mcp_server.conftest import Server, Transport

both = pytest.mark.parametrize("transport", ["stdio", "http"])


async def answer(client: Client, name: str, **arguments: object) -> Any:
    """Return the structured result of a call, which the client has checked against the output schema."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    return result.structured_content


async def error(client: Client, name: str, **arguments: object) -> str:
    result = await client.call_tool(name, arguments)
    assert result.is_error, result.content
    assert result.structured_content is None
    [content] = result.content
    text: str = content.text  # type: ignore[union-attr]
    assert '"hint"' in text
    return text


def drive(
    server: Server,
    transport: Transport,
    steps: Callable[[Client], Awaitable[None]],
    mode: Literal["auto", "legacy"] = "auto",
    *options: str,
) -> None:
    """Run the steps of a test with a connected client."""

    async def run() -> None:
        async with server.connect(transport, mode, *options) as client:
            await steps(client)

    asyncio.run(asyncio.wait_for(run(), 60))


@both
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_every_tool_answers(
    server: Server, transport: Transport, mode: Literal["auto", "legacy"]
) -> None:
    subject = f"{transport} {mode}"
    reports: list[tuple[float, float | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        assert message is None
        reports.append((progress, total))

    async def steps(client: Client) -> None:
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == [tool["name"] for tool in schemas("mcp")]
        assert all(tool.output_schema for tool in listed)
        found = await answer(client, "memory_search", query="which port has the webhook?")
        [*_, hit] = found["messages"]
        got = await answer(client, "memory_get", id=hit["id"])
        assert got["message"]["text"] == hit["text"]
        assert got["before"] + got["after"]
        stored = await answer(client, "memory_store", content=f"The code name is {subject}")
        key = stored["fact"]["id"]
        updated = await answer(client, "memory_update", id=key, content=f"It is called {subject}")
        assert updated["previous_text"] == f"The code name is {subject}"
        asked = await answer(client, "memory_forget", id=key)
        assert not asked["is_forgotten"]
        done = await answer(client, "memory_forget", id=key, confirm=asked["confirm"])
        assert done["is_forgotten"]
        listing = await client.call_tool("memory_sessions", {}, progress_callback=note)
        sessions: Any = listing.structured_content
        assert [each["id"] for each in sessions["sessions"]] == ["shop"]
        status = await answer(client, "memory_status")
        assert (status["session_id"], status["messages"]) == ("shop", 2)
        assert reports[0] == (0, 3)

    drive(server, transport, steps, mode)


@both
def test_wrong_calls_are_answered(server: Server, transport: Transport) -> None:
    async def steps(client: Client) -> None:
        assert "query" in await error(client, "memory_search")
        assert "limit" in await error(client, "memory_search", query="x", limit=999)
        assert "no argument" in await error(client, "memory_search", query="x", color="red")
        assert "ffffffff" in await error(client, "memory_get", id="ffffffff")
        assert "no fact" in await error(client, "memory_forget", id="ffffffff", confirm="yes")
        with pytest.raises(MCPError, match="Unknown tool"):
            await client.call_tool("memory_destroy", {})
        with pytest.raises(MCPError, match="Unknown prompt"):
            await client.get_prompt("nothing")
        with pytest.raises(MCPError, match="Missing argument: topic"):
            await client.get_prompt("recall")
        for uri in (
            "memctx://sessions/nowhere",
            "memctx://notes/..%2Fsecret",
            "file:///etc/passwd",
        ):
            with pytest.raises(MCPError, match="Resource not found"):
                await client.read_resource(uri)
        with pytest.raises(MCPError, match="Invalid cursor"):
            await client.list_resources(cursor="last")

    drive(server, transport, steps)


@both
def test_a_hundred_concurrent_calls(server: Server, transport: Transport) -> None:
    async def steps(client: Client) -> None:
        calls = [
            answer(client, "memory_search", query=f"webhook port {number}") for number in range(100)
        ]
        found = await asyncio.gather(*calls)
        assert all(each["messages"] for each in found)

    drive(server, transport, steps)


@both
def test_a_canceled_call_leaves_the_server_ready(server: Server, transport: Transport) -> None:
    """A store that another process has locked makes the call wait."""

    async def steps(client: Client) -> None:
        await answer(client, "memory_status")
        with process.holding(server.store / "LOCK"):
            with anyio.move_on_after(0.2) as scope:
                await client.call_tool("memory_store", {"content": f"Closed: {transport}"})
            assert scope.cancelled_caught
            with anyio.fail_after(2):
                await answer(client, "memory_search", query="webhook")

    drive(server, transport, steps)


@both
def test_resources_and_prompts_show_what_is_stored(server: Server, transport: Transport) -> None:
    async def steps(client: Client) -> None:
        await answer(client, "memory_store", content="Deployments happen on Fridays")
        uris = [each.uri for each in (await client.list_resources()).resources]
        assert uris == [
            "memctx://sessions",
            "memctx://facts",
            "memctx://notes",
            "memctx://sessions/shop",
            "memctx://notes/MEMORY.md",
        ]
        texts = [(await client.read_resource(uri)).contents[0].text for uri in uris]  # type: ignore[union-attr]
        wanted = ("payment webhook", "Fridays", "MEMORY.md", "port 8443", "elevator")
        assert all(want in text for want, text in zip(wanted, texts, strict=True))
        templates = (await client.list_resource_templates()).resource_templates
        assert {each.name for each in templates} == {"session", "note"}
        assert [each.name for each in (await client.list_prompts()).prompts] == [
            "recall",
            "handoff",
        ]
        recalled = await client.get_prompt("recall", {"topic": "the {port} of the webhook"})
        assert "port 8443" in recalled.messages[0].content.text  # type: ignore[union-attr]
        handed = await client.get_prompt("handoff", {"focus": "billing"})
        text = handed.messages[0].content.text  # type: ignore[union-attr]
        assert "billing" in text
        assert "Fridays" in text

    drive(server, transport, steps)


def test_all_sessions_are_read_on_request(server: Server) -> None:
    async def steps(client: Client) -> None:
        found = await answer(client, "memory_search", query="tulips at dawn")
        assert [each["session_id"] for each in found["messages"]][:1] == ["garden/east"]
        [text] = (await client.read_resource("memctx://sessions/garden%2Feast")).contents
        assert "tulips" in text.text  # type: ignore[union-attr]

    drive(server, "stdio", steps, "auto", "--all-sessions")


@pytest.mark.slow
def test_projects_share_no_fact_of_the_same_text(server: Server, tmp_path: Path) -> None:
    said = {"content": "We decided to use Valkey for the session cache", "type": "decision"}
    stored: dict[str, str] = {}

    def store(name: str) -> None:
        async def steps(client: Client) -> None:
            found = await answer(client, "memory_store", **said)
            assert found["action"] == "add"
            stored[name] = found["fact"]["id"]
            listed = await answer(client, "memory_search", query="session cache", kind="facts")
            assert [fact["id"] for fact in listed["facts"]] == [stored[name]]
            for other in stored.keys() - {name}:
                await error(client, "memory_get", id=stored[other])

        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        drive(server, "stdio", steps, "auto", "--project", str(folder))

    store("shop")
    store("blog")
    assert len(set(stored.values())) == 2
