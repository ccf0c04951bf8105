"""Append records to a store and print the outcome of each, for a driver that kills this process.

    python writer.py DIRECTORY TAG COUNT

Prints ``try TOKEN`` before a record is handed over, ``ack TOKEN`` once it is stored, ``err TOKEN`` when it is not.
"""

import hashlib
import sys

import memctx

# Vectors and snapshot are written every so many records, so that a crash also meets these.
SNAPSHOT = 16


def token_of(content: str, tag: str, number: int) -> str:
    """Return a name for a record that no damaged record can have."""
    return f"{tag}-{number}-{hashlib.sha256(content.encode()).hexdigest()[:12]}"


def main(path: str, tag: str, count: int) -> None:
    store = None
    for number in range(count):
        content = f"record {number} of {tag}: " + "the deploy of service 7 failed at 支付回调 " * (
            number % 9
        )
        token = token_of(content, tag, number)
        print("try", token, flush=True)
        try:
            if store is None:
                store = memctx.lowlevel.Store(
                    path, memctx.lowlevel.StoreOptions(session_id="crash", lock_timeout=20)
                )
            store.add([("user", content, None, f'{{"record": "{token}"}}')])
        except (memctx.MemctxError, OSError):
            print("err", token, flush=True)
        else:
            print("ack", token, flush=True)
        if store is not None and number % SNAPSHOT == SNAPSHOT - 1:
            store.snapshot()
    if store is not None:
        store.close()


main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
