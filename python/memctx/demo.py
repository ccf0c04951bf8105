"""`make demo`: a conversation leaves the window, the process ends, and what matters is found again.

Archive what was said, look at what is on disk, open the store anew, ask three questions in three languages, and see
what comes back and why.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import memctx

DAY = 86_400_000

# What an agent and its user said before the context was compacted: (days ago, who, what).
CONVERSATION = [
    (9, "user", "Build a payment webhook for Stripe. Deploy target is the EU cluster."),
    (9, "assistant", "Decision: the webhook listens on port 8443 and verifies signatures first."),
    (8, "assistant", "pytest: 1 failed, test_verify_signature in src/payments/webhook.py:88"),
    (8, "assistant", "Fixed parseStripeHeader: the timestamp was compared as a string."),
    (5, "user", "重试策略是什么？支付回调失败以后要等多久？"),
    (5, "assistant", "支付回调失败后按 1、5、25 分钟重试，最多三次，之后写入死信队列。"),
    (3, "user", "The database is postgres://pay:Vq7rT2mKx9@db.internal:5432/payments"),
    (1, "user", "テストは全部通った。次はレート制限をお願いします。"),
    (1, "assistant", "Rate limit: 50 requests a second for each merchant, token bucket."),
]

QUESTIONS = ["which port does the webhook use?", "支付回调怎么重试", "レート制限"]
HITS = 2


def main() -> None:
    """Run the demonstration and print what it does."""
    now = time.time() * 1000
    messages = [
        {"role": role, "content": text, "timestamp": now - age * DAY}
        for age, role, text in CONVERSATION
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory"
        with memctx.open(path, session_id="demo") as memory:
            archived = memory.archive(messages)
            again = memory.archive(messages)
        print(f"{archived.added} messages have left the window and are on disk.")
        print(f"Archived once more, {again.duplicates} of them were there already.")
        for file in sorted(path.iterdir()):
            if file.is_file():
                print(f"  {file.name:<15} {file.stat().st_size:>7,} bytes")

        print("\nThe process ends; another one opens the store.\n")
        with memctx.open(path, session_id="demo") as memory:
            for question in QUESTIONS:
                hits = memory.search(question, limit=HITS, explain=True)
                print(f"? {question}")
                for hit in hits:
                    age = (now - hit.segment.timestamp) / DAY
                    print(
                        f"  {hit.score:.3f}  {hit.segment.role}, {age:.0f} days ago: {hit.segment.content}"
                    )
                print(
                    f"  because\n    {str(hits[0].explanation).replace(chr(10), chr(10) + '    ')}\n"
                )
            masked = memory.search("which database?", limit=1)[0].segment
            print(f"Secrets never reach the disk: {masked.content}")


if __name__ == "__main__":
    main()
