"""Shortening the results of tools.

>>> from memctx import prune_at_birth
>>> kept = []
>>> message = {"role": "tool", "tool_call_id": "c1", "content": "0123456789" * 100}
>>> short = prune_at_birth(message, max_chars=200, head_chars=4, tail_chars=2, archive=kept.append)
>>> print(short["content"])
0123
...
89
<BLANKLINE>
[Long tool result: the first 4 and the last 2 of 1000 characters are kept.]
>>> len(kept[0]), len(message["content"])
(1000, 1000)
"""

from memctx.prune.birth import prune_at_birth

__all__ = ["prune_at_birth"]
