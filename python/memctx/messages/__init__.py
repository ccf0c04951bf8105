"""Messages of every host, read for what is worth keeping. The caller's objects are never changed.

>>> from memctx import messages
>>> said = [
...     {"role": "user", "content": "Which port?"},
...     {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a"}}]},
... ]
>>> messages.detect(said)
'anthropic'
>>> [(record.role, record.text) for record in messages.read(said)]
[('user', 'Which port?'), ('tool', 'read {"path":"a"}')]
"""

from memctx.messages.detect import Shape, detect
from memctx.messages.reader import read, read_each
from memctx.messages.record import Record

__all__ = ["Record", "Shape", "detect", "read", "read_each"]
