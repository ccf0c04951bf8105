"""An import in a process of its own, which tells how long it took and how much memory."""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

from memctx.cli.import_export import import_transcripts
from memctx.errors import MemctxError

began = time.monotonic()
try:
    failed = list(import_transcripts(sys.argv[1], sys.argv[2]).failed)
except MemctxError as error:
    failed = [str(error)]
if sys.platform == "linux":  # where `ru_maxrss` also counts the process that started this one
    status = Path("/proc/self/status").read_text(encoding="ascii")
    peak = int(status.partition("VmHWM:")[2].split()[0]) * 1024
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
sys.stdout.write(json.dumps({"failed": failed, "seconds": time.monotonic() - began, "bytes": peak}))
