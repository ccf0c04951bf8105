"""The command line: `memctx`, or ``python -m memctx``. It needs the extra ``memctx[cli]``.

>>> from click.testing import CliRunner
>>> print(CliRunner().invoke(main, ["--version"]).output)  # doctest: +ELLIPSIS
memctx ...
"""

from memctx.cli.app import main

__all__ = ["main"]
