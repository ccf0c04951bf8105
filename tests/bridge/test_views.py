"""Views of a framework: untouched messages are sent themselves, edits come back into copies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import memctx
from memctx.bridge import View, Views, calls_view, content_after, refuse

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Said:
    """A message of a framework; results of several calls may share one."""

    role: str
    text: str = ""
    calls: tuple[str, ...] = ()
    results: tuple[tuple[str, str], ...] = ()
    thinking: str = ""


class SaidViews(Views[Said]):
    """Views of it."""

    def view(self, message: Said) -> list[View]:
        if message.role == "strange":
            raise refuse(message, expected="Said of a user, an assistant or a tool")
        if message.results:
            return [
                {"role": "tool", "tool_call_id": own, "content": text}
                for own, text in message.results
            ]
        view: View = {"role": message.role, "content": message.text}
        if message.calls:
            view["tool_calls"] = calls_view((own, "read", "{}") for own in message.calls)
        if message.thinking:
            view["thinking_blocks"] = [
                {"type": "thinking", "thinking": message.thinking, "signature": "s"}
            ]
        return [view]

    def rebuild(self, message: Said, changes: Sequence[tuple[View, View]]) -> Said:
        if message.results:
            return replace(
                message,
                results=tuple((after["tool_call_id"], after["content"]) for _, after in changes),
            )
        [(_, after)] = changes
        return replace(message, thinking="" if "thinking_blocks" not in after else message.thinking)

    def make(self, view: View) -> Said:
        if view["role"] == "tool":
            return Said("tool", results=((view["tool_call_id"], view["content"]),))
        return Said("user", view["content"])


NEEDLE = f"{'x ' * 200}We decided that the payment webhook listens on port 8443. {'x ' * 200}"


def talk(steps: int) -> list[Said]:
    said: list[Said] = []
    for step in range(steps):
        first = NEEDLE if step == 1 else "x " * 400
        said += [
            Said("user", f"Step {step}: read both logs."),
            Said("assistant", calls=(f"a{step}", f"b{step}"), thinking=f"Thought {step}"),
            Said("tool", results=((f"a{step}", first), (f"b{step}", "y " * 400))),
            Said("assistant", f"Done with step {step}. {'All is well. ' * 20}"),
        ]
    return [*said, Said("user", "On which port does the payment webhook listen?")]


def hold(memory: memctx.Memory) -> tuple[list[Said], list[Said], memctx.Turn]:
    """Prepare every call of a conversation; return its messages, the last ones sent, and their turn."""
    messages: list[Said] = []
    *earlier, question = talk(14)
    for said in earlier:
        messages.append(said)
        if said.role in {"user", "tool"}:
            sent, turn = SaidViews().prepare(memory, messages)
            assert turn.report.errors == ()
            flat = [view for message in sent for view in SaidViews().view(message)]
            assert memctx.validate(flat, "openai") == []
    messages.append(question)
    return (messages, *SaidViews().prepare(memory, messages))


def opened(path: Path, **settings: Any) -> memctx.Memory:
    return memctx.open(path, session_id="s", **{"context_window": 4_000, **settings})


def test_untouched_messages_are_the_same_objects(tmp_path: Path) -> None:
    messages = talk(1)
    with opened(tmp_path, context_window=100_000) as memory:
        sent, turn = SaidViews().prepare(memory, messages)
    assert turn.report.errors == ()
    assert all(one is two for one, two in zip(sent, messages, strict=True))


def test_trimmed_conversation_keeps_its_pairs_and_recalls(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        messages, sent, turn = hold(memory)
    assert turn.report.trimmed
    known = set(map(id, messages))
    made = [message for message in sent if message.role == "user" and id(message) not in known]
    assert [message for message in made if "8443" in message.text]
    assert messages == talk(14)


def test_thinking_bound_to_what_has_left_is_removed(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        _, sent, turn = hold(memory)
    assert turn.report.cache.stale_thinking
    assert sum(bool(message.thinking) for message in sent) < sum(
        bool(message.calls) for message in sent
    )


def test_one_of_two_results_is_shortened_in_a_copy(tmp_path: Path) -> None:
    long = Said("tool", results=(("a", "head" + "x" * 50_000), ("b", "short")))
    with opened(tmp_path) as memory:
        cut = SaidViews().truncate(memory, long, 1_000)
        assert SaidViews().truncate(memory, cut, 2_000) is cut
        stored = [segment.content for segment in memory.store.segments()]
    assert cut.results[0][1].startswith("head")
    assert len(cut.results[0][1]) < 2_000
    assert cut.results[1] == ("b", "short")
    assert long.results[0][1] in stored


def test_content_keeps_the_blocks_of_the_framework() -> None:
    raw = ["text of the framework", {"picture": 1}]
    before = [{"type": "text", "text": "text of the framework"}, {"type": "image_url"}]
    added = {"type": "text", "text": "added"}
    assert content_after(raw, before, [added, *before]) == [added, *raw]
    assert content_after("plain", "plain", "other") == "other"
    assert content_after("plain", "plain", None) == ""


def test_a_missing_result_is_made_by_the_framework(tmp_path: Path) -> None:
    messages = [Said("user", "Go."), Said("assistant", calls=("a",)), Said("user", "Well?")]
    with opened(tmp_path) as memory:
        sent, _ = SaidViews().prepare(memory, messages)
    assert [message.role for message in sent] == ["user", "assistant", "tool", "user"]
    assert sent[0] is messages[0]
