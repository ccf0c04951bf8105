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
from memctx.messages import edit as edit
from memctx.messages import part as part
from memctx.messages.block import blocks_of as blocks_of
from memctx.messages.block import result_field as result_field
from memctx.messages.block import results_of as results_of
from memctx.messages.block import text_in as text_in
from memctx.messages.formats import FORMATS as FORMATS
from memctx.messages.formats import Format as Format
from memctx.messages.formats import FormatName
from memctx.messages.formats import ToolResult as ToolResult
from memctx.messages.reader import Record, detect, read, read_each
from memctx.messages.usage import answer_tokens as answer_tokens
from memctx.messages.usage import prompt_tokens as prompt_tokens
from memctx.messages.usage import total_tokens as total_tokens
from memctx.messages.validity import Change as Change
from memctx.messages.validity import Problem, Repaired, repair, validate
from memctx.messages.validity import repair_conversation as repair_conversation

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
