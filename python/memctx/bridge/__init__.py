"""Parts of which an adapter to a framework is made: `Sessions` opens memories and guards calls, `Views` reads messages.

`session` names the conversation of the calls in a block; `usage_of` and `answer_of` read a response, `watch_stream` a
stream.

>>> import tempfile
>>> from memctx.bridge import Sessions
>>> sessions = Sessions(tempfile.mkdtemp(), context_window=200_000)
>>> prepared = sessions.prepare(sessions.name("thread-1"), [{"role": "user", "content": "Which port?"}])
>>> prepared.messages
[{'role': 'user', 'content': 'Which port?'}]
>>> sessions.close()
"""

from memctx import checks
from memctx.bridge.answers import answer_of, usage_of
from memctx.bridge.json_log import JsonLog
from memctx.bridge.requirements import require
from memctx.bridge.scope import session
from memctx.bridge.sessions import Options, Prepared, SessionName, Sessions
from memctx.bridge.streams import watch_stream
from memctx.bridge.views import View, Views, calls_view, content_after, refuse

__all__ = [
    "JsonLog",
    "Options",
    "Prepared",
    "SessionName",
    "Sessions",
    "View",
    "Views",
    "answer_of",
    "calls_view",
    "content_after",
    "refuse",
    "require",
    "session",
    "usage_of",
    "watch_stream",
]

checks.guard(globals(), __all__)
