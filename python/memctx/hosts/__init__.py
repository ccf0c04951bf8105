"""Agent hosts: memory by their hooks, their settings, session transcripts of Pi, workspaces of OpenClaw.

`answer` answers one call of a hook of Claude Code, Codex, Gemini CLI, Cursor or opencode:

>>> import pathlib, tempfile
>>> from memctx.hosts import HostSession, answer
>>> root = pathlib.Path(tempfile.mkdtemp())
>>> answer("claude-code", "UserPromptSubmit", {"session_id": "c1", "cwd": "/src/shop", "prompt": "Hi"}, root=root)
Answer(stdout='', exit_code=0)
>>> HostSession("claude-code", "/src/shop", "c1").session_id
'claude-code/shop-3cb8c763/c1'
"""

TYPE_CHECKING = False  # known to type checkers, without importing typing
if TYPE_CHECKING:
    from memctx.hosts.hooks import (
        Answer,
        HostSession,
        SessionRecord,
        answer,
        archive_messages,
        open_reader,
        recall_text,
    )
else:
    from memctx._lazy import lazy_exports

    __getattr__ = lazy_exports(
        globals(),
        dict.fromkeys(
            (
                "Answer",
                "HostSession",
                "SessionRecord",
                "answer",
                "archive_messages",
                "open_reader",
                "recall_text",
            ),
            "memctx.hosts.hooks",
        ),
    )

__all__ = [
    "Answer",
    "HostSession",
    "SessionRecord",
    "answer",
    "archive_messages",
    "open_reader",
    "recall_text",
]
