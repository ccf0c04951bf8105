"""Session files: a conversation as lines of JSON in the format of Pi, and what is counted of it.

>>> import pathlib, tempfile
>>> from memctx.session import Transcript
>>> transcript = Transcript.open(pathlib.Path(tempfile.mkdtemp()) / "session.jsonl", session_id="s1")
>>> asked = transcript.append_message({"role": "user", "content": "Which port?"})
>>> [message["content"] for message in transcript.context().messages]
['Which port?']
"""

from memctx.session.counters import CounterFile, Counters
from memctx.session.entry import Entry
from memctx.session.lines import read_entries
from memctx.session.rebuild import Context
from memctx.session.transcript import Transcript

__all__ = ["Context", "CounterFile", "Counters", "Entry", "Transcript", "read_entries"]
