"""Open a store and print ``rec TOKEN`` for every record in it.

python verify.py DIRECTORY
"""

import hashlib
import sys
from pathlib import Path

import memctx


def main(path: str) -> None:
    if not Path(path).is_dir():
        return
    store = memctx.lowlevel.Store(
        path, memctx.lowlevel.StoreOptions(session_id="crash", max_segments=1_000_000)
    )
    for segment in store.segments():
        token = segment.metadata["record"]
        digest = hashlib.sha256(segment.content.encode()).hexdigest()[:12]
        print("rec", token if token.endswith(digest) else f"damaged-{segment.id}")
    # Every record has the word "record"; those whose number is a multiple of nine have no other of these.
    hits = store.search("record of a deploy that failed", limit=5)
    if len(store) and not hits:
        sys.exit("nothing is found in a store that is not empty")


main(sys.argv[1])
