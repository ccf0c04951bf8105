"""Open a session file afresh and print ``rec TOKEN`` for every entry in it.

python verify.py DIRECTORY
"""

import hashlib
import sys
from pathlib import Path

from memctx.hosts.pi import Transcript


def main(folder: str) -> None:
    transcript = Transcript.open(Path(folder) / "session.jsonl")
    for entry in transcript:
        fields = entry.fields.get("details") or entry.message or {}
        content = str(entry.summary or (entry.message or {}).get("content"))
        token = str(fields.get("record"))
        digest = hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:12]
        record = token if token.endswith(digest) else f"damaged-{entry.id}"
        sys.stdout.write(f"rec {record}\n")
    if [entry.id for entry in transcript.lineage()] != [entry.id for entry in transcript]:
        sys.exit("an entry fell off the path")


main(sys.argv[1])
