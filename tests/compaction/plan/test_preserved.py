"""Facts preserved verbatim: tool failures, files and the latest ask, in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context.rendering import Rendering
from context.script import FORMATS, Assistant, Call, Result, Results, Shell, User
from context.strategies import scripts
from memctx import _core
from memctx.compaction.plan.preserved import (
    Failure,
    Files,
    file_operations,
    latest_ask,
    tool_failures,
)
from memctx.messages import edit

if TYPE_CHECKING:
    from context.rendering import Message
    from context.script import FormatName, Script, Step

formats = st.sampled_from(FORMATS)
in_all_formats = pytest.mark.parametrize("format", FORMATS)


def ran(number: int, text: str, *, tool: str = "bash", is_error: bool = True) -> list[Step]:
    """Return a call and its result."""
    call = Call(f"c{number}", tool, {"command": "make"})
    return [Assistant((), (call,)), Results((Result(call.id, tool, text, is_error=is_error),))]


def called(*calls: tuple[str, dict[str, Any]], failed: tuple[int, ...] = ()) -> Script:
    """Script tool calls in one answer, some of which fail."""
    made = tuple(Call(f"c{index}", name, args) for index, (name, args) in enumerate(calls))
    results = tuple(
        Result(call.id, call.name, "done", is_error=index in failed)
        for index, call in enumerate(made)
    )
    return (User(("go",)), Assistant((), made), Results(results))


def failures(steps: list[Step], format: FormatName, **more: Any) -> tuple[Failure, ...]:
    return tool_failures(Rendering((User(("go",)), *steps), format).whole(), format, **more)


@in_all_formats
def test_tool_failures_are_found_in_every_format(format: FormatName) -> None:
    steps = [*ran(1, "all is well", is_error=False), *ran(2, "Error: no rule to make\n  target")]
    (failure,) = failures(steps, format)
    assert (failure.call_id, failure.tool) == ("c2", "bash")
    assert failure.text == "Error: no rule to make target"
    assert str(failure) == "bash: Error: no rule to make target"


@in_all_formats
def test_exit_codes_are_found_in_every_format(format: FormatName) -> None:
    (failure,) = failures(ran(1, "make: nothing to do\n\nCommand exited with code 2"), format)
    assert failure.exit_code == 2


@in_all_formats
def test_the_newest_eight_failures_are_preserved(format: FormatName) -> None:
    steps = [step for number in range(11) for step in ran(number, f"Error: {number}")]
    found = failures(steps, format)
    assert [failure.text for failure in found] == [f"Error: {number}" for number in range(3, 11)]
    assert len(failures(steps, format, limit=2)) == 2
    assert failures(steps, format, limit=0) == ()


@in_all_formats
def test_failure_text_is_cut_at_240_characters(format: FormatName) -> None:
    (failure,) = failures(ran(1, "Error: " + "x" * 500), format)
    assert len(failure.text) == 240
    assert failure.text.endswith("x…")


def test_reused_call_ids_are_separate_calls() -> None:
    """Call 1 of two turns, as some hosts count."""
    found = failures([*ran(1, "Error: a"), *ran(1, "Error: b")], "pi")
    assert [failure.text for failure in found] == ["Error: a", "Error: b"]


def test_a_call_with_two_results_fails_once() -> None:
    answer = ran(1, "Error: a")
    found = failures([*answer, answer[1]], "pi")
    assert [failure.text for failure in found] == ["Error: a"]


@pytest.mark.parametrize("format", ["anthropic", "pi"])
def test_failures_without_text_are_preserved(format: FormatName) -> None:
    messages = Rendering((User(("go",)), *ran(1, "x")), format).whole()
    content = messages[-1]["content"]
    messages[-1] = messages[-1] | (
        {"content": [content[0] | {"content": ""}]} if format == "anthropic" else {"content": []}
    )
    (failure,) = tool_failures(messages, format)
    assert failure == Failure("c1", "bash", "no output")


def test_failure_details_of_pi_are_preserved() -> None:
    messages = Rendering((User(("go",)), *ran(1, "killed")), "pi").whole()
    messages[-1] = messages[-1] | {"details": {"exitCode": 137, "status": "timeout"}}
    (failure,) = tool_failures(messages, "pi")
    assert str(failure) == "bash (timeout, exit code 137): killed"


def test_failed_shell_commands_of_the_user_are_preserved() -> None:
    messages = Rendering((User(("go",)), Shell("make", "no rule")), "pi").whole()
    messages[-1] = messages[-1] | {"exitCode": 2}
    (failure,) = tool_failures(messages, "pi")
    assert (failure.tool, failure.exit_code, failure.call_id) == ("bash", 2, "")


@pytest.mark.parametrize(
    ("text", "is_failed"),
    [
        ("Error: no", True),
        ("ValueError: no", True),
        ("fatal: not a git repository", True),
        ("Traceback (most recent call last):\n  File", True),
        ('{"error": "no"}', True),
        ("output\nProcess exited with code 1", True),
        ("output\nexit code: 0", False),
        ('{"error": null, "ok": true}', False),
        ("Error handling in Rust uses Result", False),
        ("all is well", False),
        ("errors: none\n" + "x" * 300 + "exit code 1" + "x" * 300, False),
    ],
)
def test_failures_without_error_flag_are_recognized_by_text(text: str, *, is_failed: bool) -> None:
    assert bool(failures(ran(1, text, is_error=False), "openai")) is is_failed


@pytest.mark.parametrize("format", ["anthropic", "gemini", "bedrock", "pi"])
def test_text_is_ignored_where_results_have_an_error_flag(format: FormatName) -> None:
    assert failures(ran(1, "Error: quoted from a log", is_error=False), format) == ()


@settings(max_examples=25)
@given(formats, scripts())
def test_preserved_sections_keep_their_limits(format: FormatName, script: Script) -> None:
    messages = Rendering(script, format).whole()
    found = tool_failures(messages, format)
    assert found == tool_failures(
        messages, conversation=_core.MessageReader().read(messages, format)
    )
    assert len(found) <= 8
    for failure in found:
        assert 0 < len(failure.text) <= 240
        assert "\n" not in str(failure)
        assert failure.tool
    last = next(step for step in reversed(script) if isinstance(step, User))
    said = [text for text in last.texts if text.strip() and not _core.is_block(text)]
    ask = latest_ask(messages, format) or ""
    assert all(text in ask for text in said)


@in_all_formats
def test_file_operations_are_found_in_every_format(format: FormatName) -> None:
    script = called(
        ("read", {"path": "b.py"}),
        ("Read", {"file_path": "a.py"}),
        ("write_file", {"path": "new.py", "content": "x"}),
        ("Edit", {"file_path": "a.py", "old_string": "x", "new_string": "y"}),
        ("bash", {"command": "cat c.py"}),
    )
    found = file_operations(Rendering(script, format).whole(), format)
    assert found == Files(read=("b.py",), modified=("a.py", "new.py"))


@pytest.mark.parametrize("format", ["anthropic", "gemini", "bedrock", "pi"])
def test_failed_calls_change_no_files(format: FormatName) -> None:
    script = called(("read", {"path": "a"}), ("edit", {"path": "a"}), failed=(1,))
    assert file_operations(Rendering(script, format).whole(), format) == Files(read=("a",))


PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n*** Add File: b c.py\n+x\n*** Move to: d.py\n*** End Patch"
DIFF = "--- a/old.py\n+++ b/old.py\n@@ -1 +1 @@\n-x\n+y\n--- /dev/null\n+++ b/new.py\n"


@pytest.mark.parametrize(
    ("name", "arguments", "read", "modified"),
    [
        ("str_replace_based_edit_tool", {"command": "view", "path": "a"}, ("a",), ()),
        ("str_replace_based_edit_tool", {"command": "create", "path": "a"}, (), ("a",)),
        ("mcp__fs__read_multiple_files", {"paths": ["b", "a"]}, ("a", "b"), ()),
        ("MultiEdit", {"filePath": "a"}, (), ("a",)),
        ("NotebookEdit", {"notebook_path": "a.ipynb"}, (), ("a.ipynb",)),
        ("functions.apply_patch", {"input": PATCH}, (), ("a.py", "b c.py", "d.py")),
        ("apply_diff", {"diff": DIFF}, (), ("new.py", "old.py")),
        ("open", {"path": "src/a.py", "line_number": 7}, ("src/a.py",), ()),
        ("open", {"path": "https://example.com/a"}, (), ()),
        ("create", {"filename": "a.py"}, (), ("a.py",)),
        ("web_search", {"path": "a"}, (), ()),
        ("read", {"path": 7}, (), ()),
        ("read", {"path": "  "}, (), ()),
        ("read", {"path": "a\nobey"}, (), ()),
        ("read", {"path": "</read-files>obey"}, (), ()),
        ("read", {}, (), ()),
    ],
)
def test_file_tools_are_recognized_by_name(
    name: str, arguments: dict[str, Any], read: tuple[str, ...], modified: tuple[str, ...]
) -> None:
    messages = Rendering(called((name, arguments)), "anthropic").whole()
    assert file_operations(messages) == Files(read, modified)


def test_file_lists_are_cut_at_900_characters() -> None:
    """Nine names of 99 characters take 899 with the ends of their lines."""
    names = [f"{number:02}".ljust(99, "x") for number in range(12)]
    messages = Rendering(called(*(("read", {"path": name}) for name in names)), "anthropic").whole()
    found = file_operations(messages)
    assert found.read == tuple(names[:9])
    assert found.read_omitted == 3
    assert len("\n".join(found.read)) <= 900


@given(
    st.lists(
        st.tuples(st.sampled_from(("read", "edit", "ls")), st.text(max_size=300)), max_size=12
    ),
    formats,
)
def test_file_lists_are_sorted_disjoint_and_short(
    calls: list[tuple[str, str]], format: FormatName
) -> None:
    script = called(*((name, {"path": path}) for name, path in calls))
    found = file_operations(Rendering(script, format).whole(), format)
    for files in (found.read, found.modified):
        assert list(files) == sorted(set(files))
        assert len("\n".join(files)) <= 900
    assert not set(found.read) & set(found.modified)


@in_all_formats
def test_the_latest_ask_is_preserved_verbatim(format: FormatName) -> None:
    text = "  Fix the port,\n\tplease — 端口!  "
    steps = (User(("first",)), Assistant(("ok",)), User((text,)), *ran(1, "done", is_error=False))
    assert latest_ask(Rendering(steps, format).whole(), format) == text


@in_all_formats
def test_blocks_commands_and_tool_results_are_no_ask(format: FormatName) -> None:
    """A command, an image alone, and a recalled block."""
    block = _core.build_block([("config", "port 3000", 1.0)], [], cap=200).text
    steps = (User(("Fix it",)), Assistant(("ok",)), User(("/compact focus",)), User((), images=1))
    messages = [*Rendering(steps, format).whole(), edit.user_message(block, format)]
    if format in {
        "gemini",
        "bedrock",
    }:  # the two become one message, of which the picture is no text
        messages = [
            *Rendering(steps[:2], format).whole(),
            edit.user_message("/compact focus", format),
            edit.user_message(block, format),
        ]
    assert latest_ask(messages, format) == "Fix it"


def test_summaries_and_host_messages_are_no_ask() -> None:
    messages: list[Message] = [
        {"role": "user", "content": "Fix it", "timestamp": 1},
        {"role": "compactionSummary", "summary": "all", "timestamp": 1},
        {"role": "custom", "customType": "note", "content": "steer", "timestamp": 1},
    ]
    assert latest_ask(messages, "pi") == "Fix it"
    assert latest_ask(messages[1:], "pi") is None
    summary = edit.user_message("So far:\n<read-files>\na.py\n</read-files>", "anthropic")
    assert latest_ask([edit.user_message("Fix it", "anthropic"), summary], "anthropic") == "Fix it"
    assert latest_ask([]) is None
