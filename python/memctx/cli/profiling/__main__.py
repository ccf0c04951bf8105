"""The child process that a profiler samples: plays over the store of a settings file, without measuring."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from memctx.cli.profiling.playing import SESSION, Player, play_all, supply_from
from memctx.cli.profiling.synthetic import make_messages
from memctx.config import Config
from memctx.memory import Memory

CONVERSATIONS = 3


def main(settings: str, turns: str, is_copy: str) -> None:
    """Play in a session of its own, so that no message was seen before."""
    config = Config(**json.loads(Path(settings).read_text(encoding="utf-8")))
    supply = supply_from(config.storage_path) if int(is_copy) else make_messages
    with Memory(config, session_id=f"{SESSION}-sampled") as memory:
        play_all(Player(memory, supply), int(turns), conversations=CONVERSATIONS)


if __name__ == "__main__":
    main(*sys.argv[1:])
