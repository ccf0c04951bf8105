"""Archiving and finding again."""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import json
import logging
import threading
import weakref
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

import memctx
from memctx import ConfigError, MessageFormatError, StoreError
from memctx.embeddings import packaged_encoder
from memctx.errors import EmbeddingError
from memctx.messages import read_each

from . import conversations

if TYPE_CHECKING:
    from pathlib import Path

    from memctx import Memory

PORT = {"role": "user", "content": "The payment webhook listens on port 8443"}
RETRY = {"role": "assistant", "content": "支付回调失败后按 1、5、25 分钟重试"}
LOOP = conversations.ANTHROPIC


def opened(folder: Path, session_id: str = "s1", **settings: Any) -> Memory:
    return memctx.open(folder, session_id=session_id, **settings)


def contents(memory: Memory) -> list[tuple[str, str]]:
    return [(segment.role, segment.content) for segment in memory.store.segments()]


def test_archived_messages_are_found_at_once(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        archived = memory.archive([PORT, RETRY])
        assert (archived.added, archived.duplicates, archived.skipped) == (2, 0, 0)
        assert [segment.id for segment in memory.store.segments()] == list(archived.ids)
        (hit, *_) = memory.search("which port has the webhook?")
        assert (hit.segment.id, hit.segment.content) == (archived.ids[0], PORT["content"])
        assert memory.search("支付重试")[0].segment.id == archived.ids[1]


def test_archived_messages_are_found_after_reopening(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        ids = memory.archive([PORT, RETRY]).ids
    with opened(tmp_path) as memory:
        assert tuple(segment.id for segment in memory.store.segments()) == ids
        assert memory.search("webhook port")[0].segment.id == ids[0]


def test_the_same_message_twice_is_one_segment(tmp_path: Path) -> None:
    """A duplicate has the id it had, within a batch and across batches."""
    with opened(tmp_path) as memory:
        first = memory.archive([PORT, PORT])
        again = memory.archive([PORT, RETRY])
        assert (first.added, first.duplicates) == (1, 1)
        assert (again.added, again.duplicates) == (1, 1)
        assert first.ids[0] == first.ids[1] == again.ids[0]
        assert len(contents(memory)) == 2


def test_archived_is_immutable(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        archived = memory.archive([PORT])
    with pytest.raises(dataclasses.FrozenInstanceError):
        archived.added = 7  # type: ignore[misc]


def test_a_tool_loop_is_archived_whole(tmp_path: Path) -> None:
    """Calls and results are segments of the role ``tool`` and carry the names and ids of their calls."""
    with opened(tmp_path) as memory:
        memory.archive(LOOP)
        segments = list(memory.store.segments())
        tools = [segment for segment in segments if segment.role == "tool"]
        assert [segment.metadata["tool"] for segment in tools] == [
            {"name": "read", "callId": "t1", "kind": "call"},
            {"name": "bash", "callId": "t2", "kind": "call"},
            {"name": "read", "callId": "t1", "kind": "result"},
            {"name": "bash", "callId": "t2", "kind": "result", "isError": True},
        ]
        assert all("thoughts" not in segment.content for segment in segments)


@pytest.mark.parametrize(
    ("archive_tools", "kept"),
    [
        (True, ["read", "bash", "read", "bash"]),
        (False, []),
        (["bash"], ["bash", "bash"]),
        (["re*", "nothing"], ["read", "read"]),
        ([], []),
    ],
)
def test_archive_tools_selects_tools_by_name(
    tmp_path: Path, archive_tools: Any, kept: list[str]
) -> None:
    with opened(tmp_path, privacy={"archive_tools": archive_tools}) as memory:
        memory.archive(LOOP)
        found = [
            segment.metadata.get("tool", {}).get("name") for segment in memory.store.segments()
        ]
        assert [name for name in found if name] == kept


@pytest.mark.parametrize("format", ["ANTHROPIC", "CHAT", "RESPONSES", "PI"])
def test_messages_of_every_host_are_archived(tmp_path: Path, format: str) -> None:
    """Question, call, result and answer are stored, and every piece that was given is accounted for."""
    conversation = getattr(conversations, format)
    with opened(tmp_path) as memory:
        archived = memory.archive(conversation)
        stored = contents(memory)
    assert ("user", conversations.QUESTION) in stored
    assert ("tool", "port = 8443") in stored
    assert ("assistant", conversations.ANSWER) in stored
    each = read_each(conversation)
    given = sum(map(len, each)) + sum(not records for records in each)
    assert archived.added + archived.duplicates + archived.skipped == given
    assert len(archived.ids) == archived.added + archived.duplicates == len(stored)


def test_noise_is_skipped(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        system = {"role": "system", "content": None}
        archived = memory.archive([{"role": "user", "content": "ok"}, system, PORT])
        assert (archived.added, archived.skipped, len(archived.ids)) == (1, 2, 1)
        assert archived.reasons == {"noise": 1, "system": 1}


def test_an_archive_that_skips_everything_says_why(tmp_path: Path) -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    call = {"type": "tool_use", "id": "t1", "name": "read", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "8443"}
    skipped = [
        {"role": "system", "content": "Be brief"},
        {"role": "user", "content": "ok"},
        {"role": "assistant", "content": [thinking]},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": []},
        {"role": "assistant", "content": [{"type": "new_thing"}]},
    ]
    with opened(tmp_path, privacy={"archive_tools": False}) as memory:
        archived = memory.archive(skipped)
        why = {"empty": 1, "noise": 1, "system": 1, "thinking": 1, "tools": 2, "unknown": 1}
        assert (archived.added, archived.skipped, archived.reasons) == (0, 7, why)
        assert hash(archived) == hash(memory.archive(skipped))


def test_archived_prints_on_one_short_line(tmp_path: Path) -> None:
    many = [{"role": "user", "content": f"Port {8000 + number} is taken"} for number in range(300)]
    with opened(tmp_path) as memory:
        archived = memory.archive([*many, {"role": "user", "content": "ok"}])
    assert str(archived) == "300 added, 0 duplicates, 1 skipped (1 noise)"
    assert repr(archived) == ("Archived(added=300, duplicates=0, skipped=1, reasons={'noise': 1})")


def test_archiving_an_empty_list_stores_nothing(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        assert memory.archive([]) == memctx.Archived((), 0, 0, 0)
        assert memory.archive([{"role": "system", "content": "Be brief"}]).skipped == 1


def test_messages_keep_their_own_time(tmp_path: Path) -> None:
    """The time of a segment is that of its message, not of the archiving; a message without one gets that."""
    timed = {"role": "user", "content": "Deploy the API on Friday", "timestamp": 1_770_000_000_000}
    before = datetime.now(UTC).timestamp() * 1000
    with opened(tmp_path, disk={"eviction_days": 0}) as memory:
        memory.archive([timed, PORT])
        first, second = memory.store.segments()
        assert first.timestamp == 1_770_000_000_000
        assert before - 1 <= second.timestamp <= datetime.now(UTC).timestamp() * 1000 + 1


def test_a_search_can_be_narrowed(tmp_path: Path) -> None:
    old = {"role": "user", "content": "webhook port, first plan", "timestamp": 1_770_000_000_000}
    new = {
        "role": "assistant",
        "content": "webhook port, last plan",
        "timestamp": 1_780_000_000_000,
    }
    middle = datetime.fromtimestamp(1_775_000_000, tz=UTC)
    with opened(tmp_path, disk={"eviction_days": 0}) as memory:
        memory.archive([old, new])

        def found(limit: int = 10, **conditions: Any) -> set[str]:
            wanted = memctx.SearchFilter(**conditions)
            hits = memory.search("webhook port plan", limit=limit, filter=wanted)
            return {hit.segment.content for hit in hits}

        assert found() == {old["content"], new["content"]}
        assert found(roles=["user"]) == {old["content"]}
        assert found(since=middle) == found(since=1_775_000_000_000.0) == {new["content"]}
        assert found(until=middle) == {old["content"]}
        assert len(found(limit=1)) == 1
        assert found(session_id="another") == set()


def test_another_session_is_seen_only_on_request(tmp_path: Path) -> None:
    with opened(tmp_path, "s1") as first:
        first.archive([PORT])
        with opened(tmp_path, "s2") as second:
            assert second.search("webhook port") == []
        with opened(tmp_path, "s3", cross_session=True) as third:
            (hit,) = third.search("webhook port")
            assert hit.segment.session_id == "s1"


def test_archive_refuses_values_that_are_no_list(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        with pytest.raises(MessageFormatError, match=r"message 1 \(str\) is not understood"):
            memory.archive([PORT, "text"])
        assert contents(memory) == []


def test_secrets_are_masked_before_they_are_stored(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    with opened(tmp_path) as memory:
        memory.archive([{"role": "user", "content": f"push with {secret} please"}])
        ((_, content),) = contents(memory)
        assert secret not in content
    assert all(
        secret.encode() not in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()
    )


def test_a_closed_memory_takes_no_calls(tmp_path: Path) -> None:
    memory = opened(tmp_path)
    memory.close()
    memory.close()
    assert memory.closed
    calls: list[Any] = [
        lambda: memory.archive([PORT]),
        lambda: memory.search("x"),
        memory.stats,
        memory.health,
    ]
    for call in calls:
        with pytest.raises(StoreError, match=r"session 's1' in .* closed> takes no calls"):
            call()


def test_a_memory_repr_shows_path_and_session(tmp_path: Path) -> None:
    with opened(tmp_path, context_window=200_000) as memory:
        assert repr(memory) == f"<memctx.Memory of session 's1' in {str(tmp_path)!r}>"
        assert (memory.session_id, memory.config.context_window) == ("s1", 200_000)
        assert memory.config.storage_path == tmp_path
    assert repr(memory).endswith(", closed>")


def test_stats_and_health_are_plain(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.archive([PORT])
        memory.reembed()
        assert isinstance(memory.stats(), dict)
        embedding = memory.health()["embedding"]
        used = packaged_encoder().name
        assert (embedding["asked"], embedding["used"], embedding["note"]) == ("auto", used, None)
        assert json.loads(json.dumps(memory.health()))["embedding"] == embedding
        assert memory.health().keys() > memory.store.health().keys()


def test_an_unavailable_embedder_is_replaced_and_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "memctx.memory"):
        memory = opened(tmp_path, embedding_model="transformer:/nowhere")
    assert "'transformer:/nowhere' unavailable; falling back to 'hash'" in caplog.text
    health = memory.health()["embedding"]
    assert (health["asked"], health["used"]) == ("transformer:/nowhere", "hash")
    assert "/nowhere" in health["note"]
    with pytest.raises(EmbeddingError, match="/nowhere"):
        memory.reembed()
    memory.close()


def test_archive_and_search_do_not_block_the_loop(tmp_path: Path) -> None:
    async def turn(memory: Memory) -> list[str]:
        archived, _ = await asyncio.gather(memory.aarchive([PORT]), memory.aarchive([RETRY]))
        hits = await memory.asearch(
            "webhook port", limit=1, filter=memctx.SearchFilter(roles=["user"])
        )
        assert archived.added == 1
        return [hit.segment.content for hit in hits]

    with opened(tmp_path) as memory:
        assert asyncio.run(turn(memory)) == [PORT["content"]]


def test_threads_archive_side_by_side(tmp_path: Path) -> None:
    """Nothing is lost and nothing doubled when several threads archive the same and different messages."""
    with opened(tmp_path, disk={"durability": "os"}) as memory:

        def work(number: int) -> None:
            for turn in range(20):
                mine = {"role": "user", "content": f"thread {number} says sentence {turn}"}
                memory.archive([PORT, mine])

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(set(contents(memory))) == len(contents(memory)) == 81


def test_settings_reach_the_store(tmp_path: Path) -> None:
    pattern = {"ticket": r"TICKET-[0-9]+"}
    with opened(tmp_path, privacy={"patterns": pattern, "pii": True}) as memory:
        memory.archive(
            [{"role": "user", "content": "see TICKET-4711 or mail jane.doe@example.org"}]
        )
        ((_, content),) = contents(memory)
    assert "4711" not in content
    assert "jane.doe" not in content


def test_an_invalid_pattern_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="ticket"):
        opened(tmp_path, privacy={"patterns": {"ticket": "("}})


@pytest.mark.parametrize("session_id", ["a/b", "../up", "nul\0", "x" * 10_000, "会话"])
def test_session_ids_are_data_and_never_paths(tmp_path: Path, session_id: str) -> None:
    folder = tmp_path / "store"
    with opened(folder, session_id) as memory:
        memory.archive([PORT])
    with opened(folder, session_id) as memory:
        assert [segment.session_id for segment in memory.store.segments()] == [session_id]
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


def test_lone_surrogates_can_be_archived(tmp_path: Path) -> None:
    """Text that UTF-8 cannot hold is stored in a defined way rather than refused."""
    with opened(tmp_path) as memory:
        assert memory.archive([{"role": "user", "content": "half \ud83d of a pair"}]).added == 1
        ((_, content),) = contents(memory)
        assert content.startswith("half ")
        assert content.endswith(" of a pair")


@pytest.mark.parametrize("extraction", [False, "rules"])
def test_a_closed_memory_goes_with_its_last_holder(tmp_path: Path, extraction: object) -> None:
    gc.collect()
    gc.disable()  # what is in a circle would stay now, with all that was read
    try:
        memory = opened(tmp_path, context_window=2_000, knowledge_extraction=extraction)
        said = [
            {"role": "user", "content": f"{number}: {'and so on ' * 40}"} for number in range(40)
        ]
        assert memory.prepare(said).report.archived
        memory.close()
        gone = weakref.ref(memory)
        del memory
        assert gone() is None
    finally:
        gc.enable()
