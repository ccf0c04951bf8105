"""Memory tools for agents: one definition of each, for every provider and for MCP, and one dispatcher.

>>> import memctx, tempfile
>>> from memctx.tools import Tools
>>> with memctx.open(tempfile.mkdtemp(), session_id="s1") as memory:
...     tools = Tools(memory)
...     definitions = tools.schemas("anthropic")  # for the ``tools`` of a request
...     result = tools.call("memory_store", {"content": "Deploy on Friday, not before", "type": "decision"})
>>> len(definitions), result.data["fact"]["type"]
(7, 'decision')
"""

from memctx import checks
from memctx.tools.dispatch import ToolResult, Tools
from memctx.tools.lookup import find_fact as find_fact
from memctx.tools.lookup import find_segment as find_segment
from memctx.tools.lookup import neighbors as neighbors
from memctx.tools.results import SessionsResult as SessionsResult
from memctx.tools.schema import SchemaFormat, schemas

__all__ = ["SchemaFormat", "ToolResult", "Tools", "schemas"]

checks.guard(globals(), __all__)
