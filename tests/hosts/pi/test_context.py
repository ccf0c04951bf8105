"""Context of a session after compactions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from memctx import validate
from memctx.hosts.pi import Entry, Transcript
from memctx.hosts.pi.context import rebuild_context

if TYPE_CHECKING:
    from pathlib import Path


def chain(kinds: list[tuple[str, int]]) -> list[Entry]:
    """Return entries in a row; a compaction keeps from the given index on."""
    entries: list[Entry] = []
    for number, (kind, kept) in enumerate(kinds):
        fields: dict[str, Any] = {"message": {"role": "user", "content": str(number)}}
        if kind == "compaction":
            first = entries[kept % len(entries)].id if entries else ""
            fields = {"summary": str(number), "firstKeptEntryId": first, "tokensBefore": 1}
        parent = entries[-1].id if entries else None
        entries.append(Entry(kind, f"e{number}", parent, "", fields, number + 2))
    return entries


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["message", "message", "compaction", "custom"]), st.integers(0, 30)
        ),
        max_size=20,
    )
)
def test_the_context_has_the_summary_then_kept_then_later_messages(
    kinds: list[tuple[str, int]],
) -> None:
    entries = chain(kinds)
    context = rebuild_context(entries)
    indices = [index for index, each in enumerate(entries) if each.type == "compaction"]
    expected = [each.id for each in entries if each.type == "message"]
    if indices:
        last = entries[indices[-1]]
        numbers = {each.id: index for index, each in enumerate(entries)}
        first = numbers.get(last.first_kept_entry_id or "", indices[-1])
        behind = [each.id for each in entries[first:] if each.type == "message"]
        expected = [last.id, *behind]
        assert context.compaction is last
        assert context.messages[0]["role"] == "compactionSummary"
    assert list(context.entry_ids) == expected
    assert len(context.messages) == len(expected)


def test_nothing_is_kept_without_a_first_kept_entry(tmp_path: Path) -> None:
    opened = Transcript.open(tmp_path / "s.jsonl", sync=False)
    opened.append_messages([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}])
    opened.append_compaction("all of it", None, 10, 2)
    opened.append_message({"role": "user", "content": "c"})
    said = Transcript.open(opened.path).context().messages
    assert [each.get("summary", each.get("content")) for each in said] == ["all of it", "c"]


def test_the_context_after_ten_compactions(tmp_path: Path) -> None:
    """Each keeps the last two messages; the context never grows, and the file has it all."""
    opened = Transcript.open(tmp_path / "s.jsonl", sync=False)
    for turn in range(10):
        ids = opened.append_messages(
            [{"role": "user", "content": f"{turn}.{part}"} for part in range(4)]
        )
        opened.append_compaction(f"summary {turn}", ids[2], 100 + turn, 10)
    context = Transcript.open(opened.path).context()
    assert [each.get("summary", each.get("content")) for each in context.messages] == [
        "summary 9",
        "9.2",
        "9.3",
    ]
    assert opened.compaction_count == 10
    assert len(opened) == 50


def test_messages_unknown_to_providers_become_user_messages(tmp_path: Path) -> None:
    opened = Transcript.open(tmp_path / "s.jsonl", sync=False)
    first = opened.append_message({"role": "user", "content": "hi"})
    opened.append_message(
        {"role": "bashExecution", "command": "false", "output": "no", "exitCode": 1}
    )
    opened.append_message(
        {"role": "bashExecution", "command": "env", "output": "KEY=1", "excludeFromContext": True}
    )
    opened.append_custom_message("reminder", "Mind the tests")
    opened.append_custom_message("reminder", [{"type": "text", "text": "And the docs"}])
    opened.append_compaction("Ports.", first, 10)
    opened.branch_with_summary(opened.leaf, "Went left.")
    context = opened.context()
    said = context.for_model()
    assert {each["role"] for each in said} == {"user"}
    texts = [
        each["content"] if isinstance(each["content"], str) else each["content"][0]["text"]
        for each in said
    ]
    assert texts[0].endswith("<summary>\nPorts.\n</summary>")
    assert texts[1] == "hi"
    assert "`false`" in texts[2]
    assert texts[2].endswith("exit code 1.")
    assert texts[3:5] == ["Mind the tests", "And the docs"]
    assert "Went left." in texts[5]
    assert not any("KEY=1" in text for text in texts)
    assert said[1] is context.messages[1], "what is known already stays the same object"
    assert validate(said, "pi") == []
