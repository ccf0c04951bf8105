"""Taking the least relevant messages out of a context that is too long, tool calls together with their results.

>>> from memctx import smart_trim
>>> messages = [
...     {"role": "user", "content": "Set up the payment webhook"},
...     {"role": "assistant", "content": "Small talk about the weather, at some length"},
...     {"role": "assistant", "content": "The webhook listens on port 8443"},
... ]
>>> trimmed = smart_trim(messages, "which port has the webhook?", safe_limit=35, protected_recent=0)
>>> [message["content"] for message in trimmed.trimmed]
['Small talk about the weather, at some length']
"""

from memctx.trim.smart import SmartTrimmed, smart_trim

__all__ = ["SmartTrimmed", "smart_trim"]
