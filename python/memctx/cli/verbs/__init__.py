"""Verbs: functions that return data and text, shared by the command line and chat hosts. `table` lists them.

>>> import memctx, tempfile
>>> from memctx.cli import verbs
>>> with memctx.open(tempfile.mkdtemp(), session_id="s1") as memory:
...     added = verbs.dispatch(memory, "/memory add The payment webhook listens on port 8443")
...     found = verbs.dispatch(memory, "/memory search webhook port")
>>> found.data["facts"][0]["fact"]["content"], found.is_ok
('The payment webhook listens on port 8443', True)
"""

from memctx._lazy import lazy_exports
from memctx.cli.formatting import Table
from memctx.cli.verbs.outcome import Action, Outcome, Part

TYPE_CHECKING = False  # known to type checkers, without importing typing
if TYPE_CHECKING:
    from memctx.cli.verbs.chat import dispatch

__all__ = ["Action", "Outcome", "Part", "Table", "dispatch"]


if not TYPE_CHECKING:  # a type checker would accept any name
    # `dispatch` imports the compaction planner, which the help of the command line does not need.
    __getattr__ = lazy_exports(globals(), {"dispatch": "memctx.cli.verbs.chat"})
