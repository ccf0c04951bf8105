"""`python -m memctx.serve ROOT`: the helper as `memctx.serve.client.start` starts it, without a terminal."""

from __future__ import annotations

import os
import sys

from memctx.serve.server import Server


def main() -> None:
    """Serve the store that the argument names."""
    os.closerange(3, 1_024)  # pipes of the host, which would wait for their end
    os.chdir("/")
    server = Server(sys.argv[1])
    server.stop_on_signals()
    server.run()


if __name__ == "__main__":
    main()
