"""Compactions in a session file: written entries, and messages read back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import memctx
from memctx.hosts.pi import Transcript

from .talks import compacted, opened, talk

if TYPE_CHECKING:
    from pathlib import Path

    from context.script import FormatName


def written(path: Path, messages: list[Any]) -> Transcript:
    transcript = Transcript.open(path / "session.jsonl", session_id="s1")
    transcript.append_messages(messages)
    return transcript


def test_the_transcript_reads_back_the_compacted_messages(tmp_path: Path) -> None:
    messages = talk("pi")
    transcript = written(tmp_path, messages)
    with opened(tmp_path) as memory:
        for number in range(3):
            result = compacted(memory, messages, format="pi", transcript=transcript)
            assert result.did_compact, result.skipped
            again = Transcript.open(tmp_path / "session.jsonl")
            assert again.context().messages == result.messages
            assert memory.counters.compaction_count == number + 1 == again.compaction_count
            more = talk("pi", turns=4 + number)
            transcript.append_messages(more)
            messages = [*result.messages, *more]
            assert transcript.context().messages == messages


@pytest.mark.parametrize("format", ["anthropic", "openai"])
def test_messages_of_other_formats_are_read_back_for_the_model(
    tmp_path: Path, format: FormatName
) -> None:
    messages = talk(format)
    transcript = written(tmp_path, messages)
    with opened(tmp_path) as memory:
        for _ in range(2):
            result = compacted(memory, messages, format=format, transcript=transcript)
            assert result.did_compact, result.skipped
            assert (
                Transcript.open(tmp_path / "session.jsonl").context().for_model() == result.messages
            )
            more = talk(format, turns=5)
            transcript.append_messages(more)
            messages = [*result.messages, *more]


def test_the_entry_lists_files_and_failures(tmp_path: Path) -> None:
    messages = talk("pi")
    transcript = written(tmp_path, messages)
    with opened(tmp_path) as memory:
        result = compacted(memory, messages, format="pi", transcript=transcript)
    line = json.loads((tmp_path / "session.jsonl").read_text("utf-8").splitlines()[-1])
    assert line["type"] == "compaction"
    assert line["id"] == result.entry_id
    assert line["summary"] == result.summary
    assert (line["tokensBefore"], line["tokensAfter"]) == (
        result.tokens_before,
        result.tokens_after,
    )
    assert line["details"]["modifiedFiles"][0] == "src/file1.py"
    failure = line["details"]["toolFailures"][0]
    assert failure["toolName"] == "read"
    assert failure["summary"].startswith("read")
    assert "fromHook" not in line


def test_the_newest_messages_may_be_missing_in_the_transcript(tmp_path: Path) -> None:
    messages = talk("pi")
    transcript = written(tmp_path, messages[:-1])
    with opened(tmp_path) as memory:
        result = compacted(memory, messages, format="pi", transcript=transcript)
    transcript.append_message(messages[-1])
    assert transcript.context().messages == result.messages


def test_a_transcript_of_another_conversation_is_refused_first(tmp_path: Path) -> None:
    transcript = written(tmp_path, [{"role": "user", "content": "something else altogether"}])
    with opened(tmp_path) as memory:
        with pytest.raises(memctx.ConfigError, match="does not end with the messages"):
            compacted(memory, talk("pi"), format="pi", transcript=transcript)
        with pytest.raises(memctx.ConfigError, match="cannot be kept in a transcript"):
            compacted(memory, talk("pi"), format="pi", transcript=transcript, pinned=[0])
        assert memory.stats()["segments"] == 0
        assert len(transcript) == 1


def test_a_compaction_uncounted_after_a_crash_is_counted(tmp_path: Path) -> None:
    messages = talk("pi")
    transcript = written(tmp_path, messages)
    kept = transcript.context().entry_ids[-1]
    transcript.append_compaction("Before the crash.", kept, 1_000)
    more = talk("pi", turns=8)
    transcript.append_messages(more)
    with opened(tmp_path) as memory:
        result = compacted(
            memory, transcript.context().messages, format="pi", transcript=transcript
        )
        assert result.did_compact
        assert memory.counters.compaction_count == 2
