"""The command line: `memctx`, or ``python -m memctx``. It needs the extra ``memctx[cli]``.

>>> from click.testing import CliRunner
>>> from memctx.cli import main
>>> print(CliRunner().invoke(main, ["--version"]).output)  # doctest: +ELLIPSIS
memctx ...
"""

TYPE_CHECKING = False  # known to type checkers, without importing typing
if TYPE_CHECKING:
    from memctx.cli.app import main
    from memctx.cli.demo import run_demo as run_demo
else:
    from memctx._lazy import lazy_exports

    __getattr__ = lazy_exports(globals(), {"main": "memctx.cli.app", "run_demo": "memctx.cli.demo"})

__all__ = ["main"]
