"""Choice and calls of the summarizer of a compaction."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from typing import TYPE_CHECKING, Any

import pytest

import memctx
from compaction.summary.models import Scripted
from compaction.summary.server import OVERLOADED, Streamed, serving
from memctx import ConfigError
from memctx.compaction.summary import AnthropicSummarizer
from memctx.compaction.summary.function import DEFAULT_MODEL, resolve_summarizer

from .talks import compacted, opened, talk

if TYPE_CHECKING:
    from pathlib import Path

    from memctx.compaction.summary import SummaryRequest

pytestmark = pytest.mark.timing  # timeouts of a fraction of a second


def test_a_summarizer_is_made_from_a_model_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real SDK, which reads its address and key from the environment; the words are seen as they come."""
    words = "The webhook listens on port 8443; the deployment waits for Friday."
    with serving(OVERLOADED, Streamed(words)) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
        seen: list[str] = []
        with opened(tmp_path, "anthropic:some-model", context_window=40_000) as memory:
            result = compacted(memory, talk(), on_text=seen.append, instructions="Keep ports.")
    assert result.fallback_level == "full"
    assert result.summary.startswith(words)
    assert "".join(seen) == words
    assert len(seen) > 3
    assert server.requests[0]["model"] == "some-model"
    assert "Keep ports." in server.prompts()[0]
    assert result.usage.calls == 2
    assert result.usage.input_tokens > 0


def test_settings_resolve_to_summarizers() -> None:
    named = resolve_summarizer("anthropic")
    assert isinstance(named, AnthropicSummarizer)
    assert named.model == DEFAULT_MODEL
    own = Scripted()
    assert resolve_summarizer(own) is own


@pytest.mark.parametrize("setting", ["openai:x", "claude", 8, ""])
def test_invalid_summarizers_are_refused(setting: Any) -> None:
    with pytest.raises(ConfigError, match=r"summarizer is .*; expected 'anthropic'"):
        memctx.Config(summarizer=setting)


def test_instructions_of_the_settings_and_of_the_call_both_count(tmp_path: Path) -> None:
    model = Scripted()
    with opened(tmp_path, model, compaction={"instructions": "Keep ports."}) as memory:
        compacted(memory, talk(), instructions="Focus on decisions")
    assert "Keep ports.\nFocus on decisions" in (model.requests[0].instructions or "")


def test_safeguard_asks_for_its_sections(tmp_path: Path) -> None:
    model = Scripted()
    with opened(tmp_path, model, compaction={"mode": "safeguard"}) as memory:
        result = compacted(memory, talk())
    assert "## Open TODOs" in (model.requests[0].instructions or "")
    assert any("Decisions" in problem for problem in result.problems), "a bad summary is reported"
    assert result.fallback_level == "full"


def test_a_function_that_hangs_does_not_block_the_loop(tmp_path: Path) -> None:
    stopped = threading.Event()

    def stuck(request: SummaryRequest) -> str:
        stopped.wait(30)
        return request.kind

    with opened(tmp_path, stuck, compaction={"timeout_seconds": 0.2}) as memory:
        result = compacted(memory, talk())
    stopped.set()
    assert (result.did_compact, result.fallback_level) == (True, "fixed")
    assert "no time left" in " ".join(result.problems)


def test_compactions_run_concurrently(tmp_path: Path) -> None:
    """They do not get in each other's way, and nothing is archived twice."""
    messages = talk()

    async def several(memory: memctx.Memory) -> list[memctx.Compacted]:
        return await asyncio.gather(*(memory.compact(messages) for _ in range(5)))

    with opened(tmp_path) as memory:
        results = asyncio.run(several(memory))
        assert len({tuple(map(str, result.messages)) for result in results}) == 1
        assert memory.counters.compaction_count == 5
        assert sum(result.archived for result in results) == memory.stats()["segments"]


def test_compactions_run_from_threads(tmp_path: Path) -> None:
    results: list[memctx.Compacted] = []
    with opened(tmp_path) as memory:
        threads = [
            threading.Thread(target=lambda: results.append(memory.compact_sync(talk())))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert memory.counters.compaction_count == 4
    assert all(result.did_compact for result in results)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks of POSIX")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_compactions_work_after_a_fork(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        assert memory.compact_sync(talk()).did_compact
        held = memory._compactor._counter_file._lock  # noqa: SLF001 - as another thread may hold it
        held.acquire()  # which the child must not wait for
        child = os.fork()
        if child == 0:
            status = 1
            signal.alarm(20)
            try:
                status = 0 if memory.compact_sync(talk(turns=7)).did_compact else 2
            finally:
                os._exit(status)
        held.release()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert memory.counters.compaction_count == 2


@pytest.mark.parametrize("stage", ["session_before_compact", "before_compaction"])
def test_a_compaction_cancelled_while_hooks_run_changes_nothing(tmp_path: Path, stage: Any) -> None:
    begun, cancelled = asyncio.Event(), []

    async def hook(_: object) -> None:
        begun.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(stage)
            raise

    async def run(memory: memctx.Memory) -> None:
        task = asyncio.create_task(memory.compact(talk()))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0)
        assert cancelled == [stage], "the hook goes on"

    model = Scripted()
    with opened(tmp_path, model) as memory:
        memory.on(stage, hook)
        asyncio.run(run(memory))
        assert memory.counters.compaction_count == 0
    assert model.requests == []
