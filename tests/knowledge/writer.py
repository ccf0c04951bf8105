"""A process that states facts: ``writer.py folder tag count``. It prints the id of each when it is acknowledged."""

import sys

from memctx import FactStore


def say(line: str) -> None:
    """Say it at once: the next moment may be the last."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


folder, tag, count = sys.argv[1:]
store = FactStore(folder, session_id="s", durability="os")
say("begun")
for number in range(int(count)):
    old = store.add("config", f"{tag} counts {number}")
    new = store.supersede(old.id, "config", f"{tag} counted {number}")
    store.add("config", f"everyone counts {number}")
    say(f"{old.id} {new.id}")
