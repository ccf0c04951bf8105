"""An import in a process of its own, which tells how far it is so that it can be killed half-way."""

from __future__ import annotations

import sys

from memctx.cli.import_export import ImportProgress, import_transcripts, importing


def tell(progress: ImportProgress) -> None:
    sys.stdout.write(f"{progress.messages}\n")
    sys.stdout.flush()


importing.MAX_MESSAGES = int(sys.argv[3])
import_transcripts(sys.argv[1], sys.argv[2], on_progress=tell)
