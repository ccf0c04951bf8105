"""`python -m memctx` and the command `memctx`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line, or say what it lacks."""
    if sys.argv[1:2] == ["hook"] and not {"-h", "--help"}.intersection(sys.argv):
        from memctx.hosts.hooks import run_command  # noqa: PLC0415 - runs at every prompt

        run_command(sys.argv[2:])
        return
    try:
        from memctx.cli import main as run  # noqa: PLC0415 - click and rich may not be there
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in {"click", "rich"}:
            raise
        if sys.argv[1:2] == ["demo"]:
            from memctx.cli import run_demo  # noqa: PLC0415 - it needs neither

            run_demo(sys.argv[2:])
        sys.stderr.write(
            f"memctx: the command line needs {package}: pip install 'memctx[cli]'; `memctx demo` runs without\n"
        )
        sys.exit(2)
    run()


if __name__ == "__main__":
    main()
