"""Process that adds facts: ``writer.py folder tag count``. It prints the ids of each pair once acknowledged."""

import sys

from memctx.lowlevel import FactStore, StoreOptions


def write_line(line: str) -> None:
    """Print a line and flush it: the process may be killed at any moment."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


folder, tag, count = sys.argv[1:]
store = FactStore(folder, StoreOptions(session_id="s", durability="os"))
write_line("begun")
for number in range(int(count)):
    old = store.add("config", f"{tag} counts {number}")
    new = store.supersede(old.id, "config", f"{tag} counted {number}")
    store.add("config", f"everyone counts {number}")
    write_line(f"{old.id} {new.id}")
