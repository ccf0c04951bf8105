"""Archive messages and index them, a few at a time, for a driver that kills this process.

    python disk_index_writer.py DIRECTORY TAG

Prints ``ready`` when the store is open, ``try WORD`` before a message is handed over, ``ack WORD`` once it is stored,
and ``indexed SEGMENTS`` after each update of the index.
"""

import sys
from itertools import count

import memctx

BATCH = 4
KEPT = 5  # in memory, so that all others are found on disk or not at all


def word_of(tag: str, number: int) -> str:
    """Return a word that no other message has."""
    return f"{tag}n{number}q".translate(str.maketrans("0123456789", "abcdefghij"))


def main(path: str, tag: str) -> None:
    store = memctx.lowlevel.Store(
        path,
        memctx.lowlevel.StoreOptions(
            session_id="crash", max_segments=KEPT, eviction_days=0, lock_timeout=60
        ),
    )
    print("ready", flush=True)
    for start in count(step=BATCH):
        words = [word_of(tag, number) for number in range(start, start + BATCH)]
        for word in words:
            print("try", word, flush=True)
        store.add([("user", f"The record of {word} was filed", None, None) for word in words])
        for word in words:
            print("ack", word, flush=True)
        status = store.catch_up()
        print("indexed", status.segments if status else 0, flush=True)


main(sys.argv[1], sys.argv[2])
