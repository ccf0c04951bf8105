"""Messages of every host: read, edited, validated and repaired. The caller's objects are never changed.

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

from memctx import checks
from memctx.messages.formats import FormatName
from memctx.messages.reader import Record, detect, read, read_each
from memctx.messages.validity import Problem, Repaired, repair, validate

__all__ = [
    "FormatName",
    "Problem",
    "Record",
    "Repaired",
    "detect",
    "read",
    "read_each",
    "repair",
    "validate",
]

checks.guard(globals(), __all__)
