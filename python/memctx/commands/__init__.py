"""What a person asks of a memory, as functions that return data and text: the command line and chat hosts share them.

>>> import memctx, tempfile
>>> from memctx import commands
>>> with memctx.open(tempfile.mkdtemp(), session_id="s1") as memory:
...     added = commands.dispatch(memory, "/memory add The payment webhook listens on port 8443")
...     found = commands.dispatch(memory, "/memory search webhook port")
>>> found.data["facts"][0]["fact"]["content"], found.is_ok
('The payment webhook listens on port 8443', True)
"""

from memctx.commands.dispatch import dispatch
from memctx.commands.outcome import Action, Outcome, Part, Table

__all__ = ["Action", "Outcome", "Part", "Table", "dispatch"]
