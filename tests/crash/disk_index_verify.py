"""Open a store, update its disk index and search for words that a driver names, one on each line of the input.

    python disk_index_verify.py DIRECTORY

Prints ``lost WORD`` for every word whose message is not found by it, and finally the counts of the index, as JSON.
"""

import json
import sys

import memctx


def main(path: str) -> None:
    store = memctx.lowlevel.Store(
        path, memctx.lowlevel.StoreOptions(session_id="crash", max_segments=1, eviction_days=0)
    )
    store.search(
        "record", limit=3
    )  # before it is caught up with, it may know little, it may not fail
    status = store.catch_up()
    if status is None:
        sys.exit("it is switched off")
    stored = [segment.content for segment in store.segments()]
    for word in sys.stdin.read().split():
        hits = store.search(word, limit=1, everything=True)
        if not hits or hits[0].segment.content != f"The record of {word} was filed":
            print("lost", word)
    found = store.search("record filed", limit=len(stored) + 1, everything=True)
    report = {
        "state": status.state,
        "segments": status.segments,
        "passages": status.passages,
        "fault": status.fault,
        "stored": len(stored),
        "found": len({hit.segment.content for hit in found} & set(stored)),
        "twice": len(stored) - len(set(stored)),
    }
    store.close()
    print(json.dumps(report))


main(sys.argv[1])
