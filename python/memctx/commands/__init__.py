"""What a person asks of a memory, as functions that return data and text: the command line and chat hosts share them.

>>> import memctx, tempfile
>>> from memctx import commands
>>> with memctx.open(tempfile.mkdtemp(), session_id="s1") as memory:
...     added = commands.dispatch(memory, "/memory add The payment webhook listens on port 8443")
...     found = commands.dispatch(memory, "/memory search webhook port")
>>> found.data["facts"][0]["fact"]["content"], found.is_ok
('The payment webhook listens on port 8443', True)
"""

from memctx.commands.outcome import Action, Outcome, Part, Table

TYPE_CHECKING = False  # as type checkers know it, without importing typing
if TYPE_CHECKING:
    from memctx.commands.dispatching import dispatch

__all__ = ["Action", "Outcome", "Part", "Table", "dispatch"]


if not TYPE_CHECKING:  # a checker would take every name for one that may be there

    def __getattr__(name: str) -> object:
        """`dispatch` brings every verb along, which the help of the command line need not wait for."""
        if name != "dispatch":
            raise AttributeError(f"module 'memctx.commands' has no attribute {name!r}")
        from memctx.commands.dispatching import dispatch  # noqa: PLC0415 - see above

        globals()[name] = dispatch
        return dispatch
