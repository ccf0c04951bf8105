"""MCP server: the memory tools, resources and prompts for MCP clients. It needs the extra ``memctx[mcp]``.

`memctx mcp` on the command line runs it; this package is for hosts that embed it. The SDK is imported with the first
name that is used.

>>> import memctx, tempfile
>>> from memctx.mcp import MemoryHandle, make_server
>>> handle = MemoryHandle(lambda: memctx.open(tempfile.mkdtemp(), session_id="s1"))
>>> make_server(handle).name
'memctx'
"""

from memctx.mcp.handle import MemoryHandle

TYPE_CHECKING = False  # as type checkers know it, without importing typing
if TYPE_CHECKING:
    from memctx.mcp.server import make_server
    from memctx.mcp.transports import HttpOptions, http_app, run_http, run_stdio
else:
    from memctx._lazy import lazy_exports

    __getattr__ = lazy_exports(
        globals(),
        {
            "HttpOptions": "memctx.mcp.transports",
            "http_app": "memctx.mcp.transports",
            "make_server": "memctx.mcp.server",
            "run_http": "memctx.mcp.transports",
            "run_stdio": "memctx.mcp.transports",
        },
    )

__all__ = ["HttpOptions", "MemoryHandle", "http_app", "make_server", "run_http", "run_stdio"]
