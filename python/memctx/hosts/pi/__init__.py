"""Session files of Pi: a conversation as lines of JSON, and the counters of a session.

>>> import pathlib, tempfile
>>> from memctx.hosts.pi import Transcript
>>> transcript = Transcript.open(pathlib.Path(tempfile.mkdtemp()) / "session.jsonl", session_id="s1")
>>> asked = transcript.append_message({"role": "user", "content": "Which port?"})
>>> [message["content"] for message in transcript.context().messages]
['Which port?']
"""

from memctx import checks
from memctx.hosts.pi.context import Context
from memctx.hosts.pi.counters import CounterFile, Counters
from memctx.hosts.pi.entry import Entry
from memctx.hosts.pi.reader import read_entries
from memctx.hosts.pi.transcript import Transcript

__all__ = ["Context", "CounterFile", "Counters", "Entry", "Transcript", "read_entries"]

checks.guard(globals(), __all__)
