"""`memctx ui`: a local page to browse, search, correct and forget. It needs the extra ``memctx[ui]``.

The command line runs it; this package is for hosts that embed it. The web framework is imported with the first name
that is used.

>>> import tempfile, pathlib
>>> from memctx import Config
>>> from memctx.ui import Backend
>>> Backend.of(pathlib.Path(tempfile.mkdtemp()), Config(), may_write=False).may_write
False
"""

TYPE_CHECKING = False  # as type checkers know it, without importing typing
if TYPE_CHECKING:
    from memctx.ui.app import make_app
    from memctx.ui.backend import Backend
    from memctx.ui.server import run
else:
    from memctx._lazy import lazy_exports

    __getattr__ = lazy_exports(
        globals(),
        {
            "Backend": "memctx.ui.backend",
            "make_app": "memctx.ui.app",
            "run": "memctx.ui.server",
        },
    )

__all__ = ["Backend", "make_app", "run"]
