from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest

from cli.verbs.stocked import messages, opened
from memctx import ConfigError
from memctx.cli.verbs import archive
from memctx.cli.verbs import store as verbs
from memctx.cli.verbs.request import ChatRequest

if TYPE_CHECKING:
    from pathlib import Path

    import memctx


def test_status_lists_sessions_newest_first(memory: memctx.Memory) -> None:
    outcome = verbs.show_status(ChatRequest(memory))
    found = outcome.data["sessions"]
    assert [(each["id"], each["segments"]) for each in found] == [("shop", 4), ("blog", 2)]
    assert found[0]["seconds"] == 3_600
    assert "2 sessions, 6 segments, 2 facts" in outcome.text
    assert "1 h 0 min" in outcome.text


def test_status_of_one_session_has_context_usage_and_compactions(store: Path) -> None:
    with opened(store, context_window=1_000) as memory:
        memory.prepare(messages("shop"), format="pi")
        memory.compact_sync(messages("shop") * 20, format="pi")
    with opened(store, context_window=1_000) as memory:
        found = verbs.show_status(ChatRequest(memory)).data["sessions"]
        assert [each["id"] for each in found] == ["shop"]
        assert found[0]["compactions"] == 1
        assert 0 < found[0]["context_tokens"] < 1_000
        assert "of 1,000 (" in verbs.show_status(ChatRequest(memory)).text


def test_status_counts_messages_that_are_not_archived_yet(tmp_path: Path) -> None:
    with opened(tmp_path / "new") as memory:
        found = verbs.show_status(ChatRequest(memory, messages("shop"))).data["sessions"]
        assert [(each["id"], each["segments"]) for each in found] == [("shop", 0)]
        assert found[0]["context_tokens"] > 40


def test_status_reports_damage(store: Path) -> None:
    log = store / "segments.jsonl"
    log.write_bytes(log.read_bytes().replace(b"8443", b"8444", 1))
    with opened(store) as memory:
        outcome = verbs.show_status(ChatRequest(memory))
        assert not outcome.data["is_ok"]
        assert "see `verify`" in outcome.text


def test_stats_counts_all_sessions(memory: memctx.Memory) -> None:
    outcome = verbs.show_stats(ChatRequest(memory))
    assert (outcome.data["segments"], outcome.data["sessions"]) == (6, 2)
    assert outcome.data["facts"]["superseded"] == 1
    assert "active facts" in outcome.text


def test_stats_reports_index_and_disk_sizes(memory: memctx.Memory, store: Path) -> None:
    memory.store.catch_up()
    outcome = verbs.show_stats(ChatRequest(memory))
    index, disk = outcome.data["disk_index"], outcome.data["disk"]
    assert (index["state"], index["segments"], index["passages"]) == ("ready", 6, 6)
    assert index["fault"] is None
    assert index["indexed_bytes"] == index["log_bytes"] == disk["log"]
    assert 0 < index["disk_bytes"] <= disk["index"]
    assert disk["log"] == (store / "segments.jsonl").stat().st_size
    assert disk["knowledge"] == (store / "knowledge.jsonl").stat().st_size
    assert disk["total"] == sum(size for part, size in disk.items() if part != "total")
    rows = dict(line.rsplit("  ", 1) for line in outcome.text.splitlines())
    found = {name.strip(): value.strip() for name, value in rows.items()}
    assert found["disk index"] == "ready"
    assert found["log indexed"] == "100 %"
    assert {"size of the vectors", "size of the index", "size of session files"} <= found.keys()


def test_reindex_indexes_the_log_and_reports_progress(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[tuple[int, int]] = []

    def record(_: ChatRequest, *_arguments: object, **_options: object) -> Any:
        return nullcontext(lambda *step: steps.append(step))

    monkeypatch.setattr(ChatRequest, "progress", record)
    size = (store / "segments.jsonl").stat().st_size
    with opened(store, disk={"max_segments": 1}) as memory:
        for rebuild in (False, True):
            outcome = verbs.reindex(ChatRequest(memory), rebuild=rebuild)
            assert outcome.is_ok
            assert outcome.data["rebuild"] == rebuild
            assert (outcome.data["segments"], outcome.data["state"]) == (6, "ready")
            assert outcome.data["indexed_bytes"] == outcome.data["log_bytes"] == size
            assert "6 segments in 6 passages" in outcome.text
    assert steps[-1] == (size, size)
    assert all(0 <= done <= total == size for done, total in steps)


def test_a_disabled_index_is_refused_and_shown_as_off(store: Path) -> None:
    with opened(store, disk={"index": False}) as memory:
        request = ChatRequest(memory)
        with pytest.raises(
            ConfigError, match=r"disk\.index is False; expected the setting to be on"
        ):
            verbs.reindex(request)
        with pytest.raises(
            ConfigError, match=r"disk\.index is False; expected the setting to be on"
        ):
            archive.search(request, "ledger", everything=True)
        with pytest.raises(
            ConfigError, match=r"everything is True; expected the setting disk\.index"
        ):
            archive.search_archive(memory, "ledger", everything=True)
        assert verbs.show_stats(request).data["disk_index"] is None
        assert "off" in verbs.show_stats(request).text
