"""Writer for the crash test: append entries to a session file and report each.

python writer.py DIRECTORY TAG COUNT

Prints ``try TOKEN`` before an entry is handed over, ``ack TOKEN`` once it is stored, ``err TOKEN`` when it is not.
"""

import hashlib
import sys
from pathlib import Path

from memctx.errors import MemctxError
from memctx.hosts.pi import Transcript


def say(word: str, token: str) -> None:
    sys.stdout.write(f"{word} {token}\n")
    sys.stdout.flush()


def main(folder: str, tag: str, count: int) -> None:
    transcript = None
    for number in range(count):
        content = f"entry {number} of {tag}: " + "the deploy failed at 支付回调 " * (
            number % 9 * 20
        )
        token = f"{tag}-{number}-{hashlib.sha256(content.encode()).hexdigest()[:12]}"
        say("try", token)
        try:
            if transcript is None:
                transcript = Transcript.open(Path(folder) / "session.jsonl")
            if number % 5 == 4:
                details = {"record": token}
                transcript.append_compaction(content, transcript.leaf, number, details=details)
            else:
                transcript.append_message({"role": "user", "content": content, "record": token})
        except MemctxError:
            say("err", token)
        else:
            say("ack", token)


main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
