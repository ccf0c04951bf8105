"""Test doubles for agents that use memctx: message builders, fake models, a fake provider, scripted extractors.

No test needs a key or a network. The fakes refuse what a provider would refuse, so a test that passes has sent no
broken request:

>>> import memctx, tempfile
>>> from memctx.testing import FakeModel, user
>>> model = FakeModel("It listens on 8443.", window=8_000)
>>> with memctx.open(tempfile.mkdtemp(), session_id="s1", context_window=8_000) as memory:
...     turn = memory.prepare([user("Which port has the webhook?")])
...     model(turn.messages)
'It listens on 8443.'
>>> len(model.requests)
1
"""

from memctx import checks
from memctx.testing.doubles import (
    ScriptedExtractor,
    ScriptedSummarizer,
    assistant,
    tool_exchange,
    user,
)
from memctx.testing.models import FakeModel, QuotingModel, RequestRefusedError
from memctx.testing.provider import FakeProvider

__all__ = [
    "FakeModel",
    "FakeProvider",
    "QuotingModel",
    "RequestRefusedError",
    "ScriptedExtractor",
    "ScriptedSummarizer",
    "assistant",
    "tool_exchange",
    "user",
]

checks.guard(globals(), __all__)
