"""`make demo`: the primitives at work on a small conversation that has left the window.

Archive what was said, ask three questions in two languages, and see what comes back and why.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from memctx import Bm25Index, FlatIndex, HashEmbedder, estimate_tokens, fusion, tokenize, vmem

# What an agent and its user said before the context was compacted: (days ago, who, what).
CONVERSATION = [
    (9.0, "user", "Build a payment webhook for Stripe. Deploy target is the EU cluster."),
    (9.0, "assistant", "Decision: the webhook listens on port 8443 and verifies signatures first."),
    (8.0, "tool", "pytest: 1 failed, test_verify_signature in src/payments/webhook.py:88"),
    (8.0, "assistant", "Fixed parseStripeHeader: the timestamp was compared as a string."),
    (5.0, "user", "重试策略是什么？支付回调失败以后要等多久？"),
    (5.0, "assistant", "支付回调失败后按 1、5、25 分钟重试，最多三次，之后写入死信队列。"),
    (3.0, "assistant", "Moved secrets to the vault; WEBHOOK_SECRET is read at start-up only."),
    (1.0, "user", "テストは全部通った。次はレート制限をお願いします。"),
    (1.0, "assistant", "Rate limit: 50 requests a second for each merchant, token bucket."),
]

QUESTIONS = ["which port does the webhook use?", "支付回调怎么重试", "レート制限"]
HITS = 2


def main() -> None:
    """Run the demonstration and print what it does."""
    ids = [f"turn-{number}" for number in range(1, len(CONVERSATION) + 1)]
    texts = [text for _, _, text in CONVERSATION]
    ages = {turn: age for turn, (age, _, _) in zip(ids, CONVERSATION, strict=True)}
    cost = sum(estimate_tokens(text, "script") for text in texts)
    print(f"{len(texts)} messages, about {cost} tokens, have left the window.")
    print(f"Search sees: {' '.join(tokenize('src/parseStripeHeader 支付回调'))}\n")

    embedder = HashEmbedder()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.bin"
        vmem.write(path, ids, embedder.embed_many(texts), checksum=True)
        print(f"Kept their vectors: {path.stat().st_size:,} bytes, {vmem.verify(path)}\n")
        stored, matrix = vmem.read(path)

    vectors = FlatIndex(embedder.dim)
    vectors.add_many(stored, matrix)
    words = Bm25Index()
    words.add_many(zip(ids, texts, strict=True))
    for question in QUESTIONS:
        near = vectors.search(embedder.embed(question), 4)
        told = fusion.normalize(words.search(question, 4))
        hits = fusion.blend(near, told)
        hits = fusion.decay(hits, [ages[hit.id] for hit in hits])
        print(f"? {question}")
        for hit in hits[:HITS]:
            age, role, text = CONVERSATION[ids.index(hit.id)]
            print(f"  {hit.score:.3f}  {hit.id}, {role}, {age:.0f} days ago: {text}")
        print(f"  because\n    {str(hits[0].explain).replace(chr(10), chr(10) + '    ')}\n")


if __name__ == "__main__":
    main()
