"""Extraction end to end: from the archive to the recalled block, over the real SDK and a local model server."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING, Any

import pytest

import memctx

from .cases import CASES, GOOD, extractor_at
from .server import fact, facts, hang, reply, serving

if TYPE_CHECKING:
    from pathlib import Path

    from .cases import Case
    from .server import Model

pytestmark = pytest.mark.timing  # timeouts of a fraction of a second

SECRET = "sk-ant-" + "api03-" + "Zx9Qw3Er7Ty1Ui5Op8As2Df6Gh4Jk0LzXcVbNm" * 2
SAID = [
    {"role": "system", "content": "You are a careful assistant; the code word is pelican."},
    {"role": "user", "content": f"The webhook must move. The key of the gateway is {SECRET}."},
    {"role": "assistant", "content": "It listens on port 8443 from now on."},
    {"role": "user", "content": "Good. Then the dashboard is next."},
    {"role": "assistant", "content": "The dashboard waits for the new charts."},
    {"role": "user", "content": "Leave the charts as they are."},
]
WEBHOOK = "The webhook listens on port 8443"


def opened(folder: Path, model: Model, **options: Any) -> memctx.Memory:
    extractor = extractor_at("anthropic", model.url, **{"timeout": 0.3, **options})
    return memctx.open(folder, session_id="s", context_window=200_000, extractor=extractor)


def known(memory: memctx.Memory) -> list[str]:
    return [each.content for each in memory.facts]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_failing_model_neither_blocks_the_host_nor_loses_facts(
    case: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The host continues while the model fails; once the model works again, the fact is stored."""
    with serving(*case.acts) as model, opened(tmp_path, model, **case.options) as memory:
        started = time.monotonic()
        assert memory.archive(SAID).added == len(SAID) - 1
        turn = memory.prepare(SAID)
        blocked = time.monotonic() - started
        assert turn.report.errors == ()
        asked = time.monotonic()
        first = memory.wait_for_facts(timeout=1.0).result(timeout=30)
        waited = time.monotonic() - asked
        assert memory.extraction is not None
        model.acts = [reply(GOOD.replace('"known": 1', '"known": 0'))]
        memory.extraction.retry()
        last = memory.wait_for_facts(timeout=30).result(timeout=60)
        assert last.is_complete, last.reason
        assert (last.progress.pending_segments, last.progress.dead_letters) == (0, 0)
        if case.facts is None:
            assert known(memory) == [WEBHOOK]
        else:
            assert len(memory.facts) >= min(case.facts, 1)
        assert len(list(memory.store.segments())) == len(SAID) - 1
    assert blocked < 5.0
    with capsys.disabled():
        progress = first.progress
        print(
            f"\n{case.name:<36} host {1000 * blocked:>4.0f} ms, wait {waited:>4.1f} s: {progress.state}, "
            f"{progress.pending_segments} pending, {progress.dead_letters} dead letters, then "
            f"{len(known(memory)) if not memory.closed else last.progress.counts.added} added",
            end="",
        )


def test_an_archived_message_becomes_a_fact_that_the_next_turn_shows(tmp_path: Path) -> None:
    with (
        serving(reply(facts(fact(WEBHOOK, messages=[2])))) as model,
        opened(tmp_path, model) as memory,
    ):
        memory.archive(SAID)
        assert asyncio.run(awaited(memory)).is_complete
        (found,) = memory.facts
        (source,) = found.sources
        segment = memory.store.get(source)
        assert segment is not None
        assert segment.content == SAID[2]["content"]
        turn = memory.prepare(
            [{"role": "user", "content": "Which port does the webhook listen on?"}]
        )
        block = json.dumps(turn.messages)
        assert f"<knowledge>\\n- [config] {WEBHOOK}\\n</knowledge>" in block
        assert [item.role for item in turn.report.recalled][:1] == ["config"]


async def awaited(memory: memctx.Memory) -> Any:
    return await memory.wait_for_facts(timeout=30)


def test_secrets_system_texts_and_recalled_blocks_never_reach_the_model(tmp_path: Path) -> None:
    with serving(reply(facts(fact(WEBHOOK)))) as model, opened(tmp_path, model) as memory:
        memory.archive(SAID)
        memory.wait_for_facts(timeout=30).result(timeout=60)
        turn = memory.prepare(
            [{"role": "user", "content": "Which port does the webhook listen on?"}]
        )
        assert "<recalled-context" in json.dumps(turn.messages)
        answer = {
            "role": "assistant",
            "content": "Port 8443, as was decided at the start of the project.",
        }
        memory.archive([*turn.messages, answer])
        assert memory.wait_for_facts(timeout=30).result(timeout=60).is_complete
        sent = json.dumps([call.body["messages"] for call in model.calls])
    assert len(model.calls) == 2
    assert SECRET not in sent
    assert "pelican" not in sent
    assert "recalled-context" not in sent
    assert "as was decided at the start" in sent


def test_secrets_a_model_repeats_never_reach_the_disk(tmp_path: Path) -> None:
    answer = facts(fact(f"The gateway's key is {SECRET}", context=f"was {SECRET}"))
    with serving(reply(answer)) as model, opened(tmp_path, model) as memory:
        memory.archive(SAID)
        memory.wait_for_facts(timeout=30).result(timeout=60)
        assert len(memory.facts) == 1
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert SECRET.encode() not in written


def test_a_correction_supersedes_the_known_fact(tmp_path: Path) -> None:
    acts = (
        reply(facts(fact("The webhook listens on port 3000"))),
        reply(facts(fact(WEBHOOK, action="supersede", known=1))),
    )
    with serving(*acts) as model, opened(tmp_path, model) as memory:
        for text in (
            "The webhook is on port 3000 for now, until the proxy moves.",
            SAID[2]["content"],
        ):
            memory.archive([{"role": "user", "content": text * 2}])
            assert memory.wait_for_facts(timeout=30).result(timeout=60).is_complete
        assert "known fact 1, config]\nThe webhook listens on port 3000" in model.said()
        assert known(memory) == [WEBHOOK]
        (now,) = memory.facts
        past = [each.content for each in memory.facts.history(now.id)]
        assert past[0] == "The webhook listens on port 3000"


def test_closing_does_not_wait_for_the_model_and_the_next_process_continues(tmp_path: Path) -> None:
    with serving(hang(20.0)) as model:
        memory = opened(tmp_path, model, timeout=30.0)
        memory.archive(SAID)
        while not model.calls:
            time.sleep(0.01)
        started = time.monotonic()
        memory.close()
        assert time.monotonic() - started < 2.0
        model.acts = [reply(facts(fact(WEBHOOK)))]
        with opened(tmp_path, model) as again:
            assert again.wait_for_facts(timeout=30).result(timeout=60).is_complete
            assert known(again) == [WEBHOOK]
