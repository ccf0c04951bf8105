"""Hooks of agent hosts: one call answered, sessions and their records, archiving and recall by project."""

TYPE_CHECKING = False  # known to type checkers, without importing typing
if TYPE_CHECKING:
    from memctx.hosts.hooks.answering import Answer, answer
    from memctx.hosts.hooks.archiving import archive_messages
    from memctx.hosts.hooks.command import run_command as run_command
    from memctx.hosts.hooks.opening import load_config as load_config
    from memctx.hosts.hooks.opening import open_reader
    from memctx.hosts.hooks.project import ProjectMemory as ProjectMemory
    from memctx.hosts.hooks.recall import recall_text
    from memctx.hosts.hooks.session import HostSession, SessionRecord
    from memctx.hosts.hooks.session import find_project as find_project
    from memctx.hosts.hooks.session import find_records as find_records
else:
    from memctx._lazy import lazy_exports

    __getattr__ = lazy_exports(
        globals(),
        {
            "Answer": "memctx.hosts.hooks.answering",
            "HostSession": "memctx.hosts.hooks.session",
            "ProjectMemory": "memctx.hosts.hooks.project",
            "find_project": "memctx.hosts.hooks.session",
            "find_records": "memctx.hosts.hooks.session",
            "SessionRecord": "memctx.hosts.hooks.session",
            "answer": "memctx.hosts.hooks.answering",
            "archive_messages": "memctx.hosts.hooks.archiving",
            "load_config": "memctx.hosts.hooks.opening",
            "open_reader": "memctx.hosts.hooks.opening",
            "recall_text": "memctx.hosts.hooks.recall",
            "run_command": "memctx.hosts.hooks.command",
        },
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
