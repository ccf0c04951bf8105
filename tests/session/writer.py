"""Append messages to a transcript and say what became of each, for a test that kills this process.

python writer.py FILE TAG
"""

import sys

from memctx.session import Transcript

opened = Transcript.open(sys.argv[1])
for number in range(1_000_000):
    token = f"{sys.argv[2]}-{number}"
    sys.stdout.write(f"try {token}\n")
    sys.stdout.flush()
    content = f"{token} " + "支付回调 " * (number % 7 * 5_000)
    if number % 5 == 4:
        opened.append_compaction(token, opened.leaf, number)
    else:
        opened.append_message({"role": "user", "content": content})
    sys.stdout.write(f"ack {token}\n")
    sys.stdout.flush()
