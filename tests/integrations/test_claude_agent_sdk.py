"""Hooks and session store of the Claude Agent SDK, run with its own Claude Code against the loopback provider."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("claude_agent_sdk")

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    TextBlock,
    list_sessions_from_store,
    query,
)
from claude_agent_sdk.testing import run_session_store_conformance

import memctx
from memctx.integrations.claude_agent_sdk import EVENTS, MemctxMemory, MemctxSessionStore
from providers.server import Provider
from real_hosts.story import CODENAME, DECISION, FILLER, WINDOW, Told

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from providers.server import Request

pytestmark = [pytest.mark.integrations, pytest.mark.timeout(300)]

QUESTION = "Which codename has the release of the invoice exporter?"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give Claude Code a home of its own."""
    for name in ("ANTHROPIC_AUTH_TOKEN", "CLAUDE_CONFIG_DIR", "CLAUDECODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (tmp_path / "project").mkdir()


@dataclass
class Talk:
    """Conversations through the SDK, and what the model was sent."""

    provider: Provider
    model: Told
    project: Path
    answers: list[str] = field(default_factory=list[str])

    def options(self, **given: Any) -> ClaudeAgentOptions:
        env = {
            "ANTHROPIC_BASE_URL": self.provider.url,
            "ANTHROPIC_API_KEY": "x",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "SHELL": "/bin/sh",
        }
        return ClaudeAgentOptions(cwd=self.project, env=env, setting_sources=[], **given)

    async def ask(self, client: ClaudeSDKClient, prompt: str, answer: str) -> list[Request]:
        """Give a prompt, and return the requests that it made."""
        start = len(self.provider.requests)
        self.model.text, self.model.is_compacting = answer, prompt == "/compact"
        await client.query(prompt)
        async for message in client.receive_response():
            if isinstance(message, AssistantMessage):
                texts = [block for block in message.content if isinstance(block, TextBlock)]
                self.answers += [block.text for block in texts]
        return self.provider.requests[start:]


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Talk]:
    model = Told()
    with Provider(window=WINDOW, model=model) as provider:
        yield Talk(provider, model, tmp_path / "project")


def sent(requests: list[Request]) -> str:
    return json.dumps([request.body for request in requests], ensure_ascii=False)


async def compacted(talk: Talk, options: ClaudeAgentOptions) -> tuple[str, str]:
    """Hold a conversation over a compaction; return what the model is sent right after it, and for a question."""
    ask = talk.ask
    async with ClaudeSDKClient(options) as client:
        await ask(client, f"We decided that the webhook listens on port {DECISION}.", "Noted.")
        named = f"I settled on the codename {CODENAME} for the release of the invoice exporter."
        await ask(client, "Pick a codename for the release of the invoice exporter.", named)
        await ask(client, "Do the first item of the list.", FILLER)
        await ask(client, "/compact", "")
        after = await ask(client, "Go on with the list.", "Done.")
        asked = await ask(client, QUESTION, "Let me see.")
    return sent(after), sent(asked)


async def begun(talk: Talk, options: ClaudeAgentOptions) -> str:
    """Begin another conversation in the project, and return what the model is sent."""
    async with ClaudeSDKClient(options) as client:
        return sent(await talk.ask(client, QUESTION, "Let me see."))


def own_refusals(talk: Talk) -> list[str]:
    """Return refusals but for those of thinking from before a compaction, which Claude Code sends once."""
    return [each for each in talk.provider.refused if "prefix_binding_mismatch" not in each]


def test_fact_from_before_a_compaction_reaches_the_model(talk: Talk, tmp_path: Path) -> None:
    memory = MemctxMemory(tmp_path / "memory")
    options = memory.options(talk.options())
    after, asked = asyncio.run(compacted(talk, options))
    other = asyncio.run(begun(talk, options))
    memory.close()
    assert "The conversation was compacted." in after
    assert DECISION in after
    assert CODENAME in asked
    assert CODENAME in other
    assert DECISION in other
    assert own_refusals(talk) == []
    assert not (tmp_path / "memory" / "hosts" / "hooks.log").exists()


def test_second_query_is_told_what_the_first_one_said(talk: Talk, tmp_path: Path) -> None:
    memory = MemctxMemory(tmp_path / "memory")
    options = memory.options(talk.options())
    talk.model.text = f"The codename of the invoice exporter is {CODENAME}."

    async def hold() -> None:
        for prompt in ("Pick a codename for the invoice exporter.", QUESTION):
            async for _ in query(prompt=prompt, options=options):
                pass

    asyncio.run(hold())
    memory.close()
    assert CODENAME not in sent(talk.provider.requests[:1])
    assert CODENAME in sent(talk.provider.requests[1:])
    assert talk.provider.refused == []


def test_without_memory_it_does_not(talk: Talk) -> None:
    options = talk.options()
    told = [*asyncio.run(compacted(talk, options)), asyncio.run(begun(talk, options))]
    assert [CODENAME in each for each in told] == [False] * 3
    assert [DECISION in each for each in told] == [False] * 3
    assert own_refusals(talk) == []


def test_without_recall_it_does_not(
    talk: Talk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCTX_AUTO_RECALL", "false")
    memory = MemctxMemory(tmp_path / "memory")
    _, asked = asyncio.run(compacted(talk, memory.options(talk.options())))
    memory.close()
    assert CODENAME not in asked
    with memctx.open(tmp_path / "memory", session_id="s", cross_session=True) as opened:
        assert CODENAME in str([hit.segment.content for hit in opened.search(QUESTION)])


def test_damaged_memory_fails_no_call(talk: Talk, tmp_path: Path) -> None:
    (tmp_path / "memory").write_text("no folder")
    memory = MemctxMemory(tmp_path / "memory")
    asyncio.run(compacted(talk, memory.options(talk.options())))
    memory.close()
    assert talk.answers[-1] == "Let me see."
    assert own_refusals(talk) == []


def test_hooks_of_the_user_run_first_and_options_stay_as_they_are(tmp_path: Path) -> None:
    async def deny(*given: Any) -> Any:
        del given
        return {}

    own = HookMatcher(hooks=[deny])
    given = ClaudeAgentOptions(hooks={"Stop": [own], "PreToolUse": [own]}, model="haiku")
    options = MemctxMemory(tmp_path / "memory").options(given)
    assert options.model == "haiku"
    assert options.hooks is not None
    assert set(options.hooks) == {*EVENTS, "PreToolUse"}
    assert options.hooks["Stop"][0] is own
    assert len(options.hooks["Stop"]) == 2
    assert given.hooks == {"Stop": [own], "PreToolUse": [own]}
    assert not (tmp_path / "memory").exists()


def test_unknown_event_and_payload_are_answered_by_nothing(tmp_path: Path) -> None:
    memory = MemctxMemory(tmp_path)
    [matcher] = memory.hooks["Stop"]
    context: Any = {"signal": None}
    for payload in ({}, {"hook_event_name": "PreToolUse", "session_id": "s"}, {"prompt": 7}):
        assert asyncio.run(matcher.hooks[0](payload, None, context)) == {}  # type: ignore[arg-type]
    memory.close()


def test_session_store_conforms(tmp_path: Path) -> None:
    numbers = iter(range(100))
    asyncio.run(
        run_session_store_conformance(lambda: MemctxSessionStore(tmp_path / str(next(numbers))))
    )
    assert next(numbers) > 10


def test_session_store_keeps_an_entry_once_and_is_private(tmp_path: Path) -> None:
    store = MemctxSessionStore(tmp_path / "memory")
    key: Any = {"project_key": "p", "session_id": "s"}
    entry: Any = {"type": "user", "uuid": "u1", "text": "日本"}
    title: Any = {"type": "custom-title", "customTitle": "A talk"}

    async def add() -> Any:
        await store.append(key, [entry, title])
        await asyncio.gather(*(store.append(key, [entry, title]) for _ in range(8)))
        return await MemctxSessionStore(tmp_path / "memory").load(key)

    loaded = asyncio.run(add())
    assert loaded.count(entry) == 1
    assert loaded.count(title) == 9
    assert store.path.stat().st_mode & 0o077 == 0


def test_session_is_resumed_from_the_store_alone(
    talk: Talk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemctxSessionStore(tmp_path / "memory")
    named = f"I settled on the codename {CODENAME}."

    async def first() -> None:
        async with ClaudeSDKClient(talk.options(session_store=store)) as client:
            await talk.ask(client, "Pick a codename.", named)

    asyncio.run(first())
    [found] = asyncio.run(list_sessions_from_store(store, directory=str(talk.project)))
    assert found.first_prompt == "Pick a codename."
    monkeypatch.setenv("HOME", str(tmp_path / "elsewhere"))
    (tmp_path / "elsewhere").mkdir()

    async def again() -> str:
        options = talk.options(session_store=store, resume=found.session_id)
        async with ClaudeSDKClient(options) as client:
            return sent(await talk.ask(client, "Go on.", "Done."))

    assert named in asyncio.run(again())
