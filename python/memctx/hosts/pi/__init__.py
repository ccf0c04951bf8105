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
from memctx.hosts.pi.context import format_summary as format_summary
from memctx.hosts.pi.context import parse_summary as parse_summary
from memctx.hosts.pi.counters import CounterFile, Counters
from memctx.hosts.pi.entry import LATEST as LATEST
from memctx.hosts.pi.entry import Entry
from memctx.hosts.pi.entry import as_object as as_object
from memctx.hosts.pi.entry import dump_json as dump_json
from memctx.hosts.pi.entry import iso as iso
from memctx.hosts.pi.entry import milliseconds as milliseconds
from memctx.hosts.pi.reader import EPOCH as EPOCH
from memctx.hosts.pi.reader import Migration as Migration
from memctx.hosts.pi.reader import read_entries
from memctx.hosts.pi.transcript import Transcript

__all__ = ["Context", "CounterFile", "Counters", "Entry", "Transcript", "read_entries"]

checks.guard(globals(), __all__)
