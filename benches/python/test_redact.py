"""Masking against regex engines that run the same rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark import Entry, each

import memctx

if TYPE_CHECKING:
    from benchmark import Benchmark
    from corpus import Corpus

SAMPLE = 400
REPEATS = 3
PLANTED = [
    "export DB_PASSWORD=k3jf9slw-Qp0",
    "the staging token is ghp_0Aa1Bb2Cc3Dd4Ee5Ff6Gg7Hh8Ii9Jj0Kk1Ll",
    "psql postgres://app:Xk29vQz8rT@db.internal:5432/app",
    "curl -H 'Authorization: Bearer k3jf9slwq0plmz81nsodQwE7' https://api.acme.dev",
    "数据库密码是 Xk29vQz8rT 别外传",
]
EVERY = 20


def test_mask(benchmark: Benchmark, corpus: Corpus) -> None:
    """One text in twenty holds a secret. The peers replace what matches and judge nothing."""
    texts = corpus.sample(SAMPLE)
    for number, at in enumerate(range(0, len(texts), EVERY)):
        texts[at] = f"{texts[at]}\n{PLANTED[number % len(PLANTED)]}\n"
    mask = memctx.Redactor().mask
    assert all(mask(texts[at]).kinds for at in range(0, len(texts), EVERY))
    peers = {}
    if module := benchmark.peer("regex_redact"):
        rules = module.rules()
        peers = {
            "re": Entry(each(module.by_re(rules), texts), limit=1 / 30),
            "RE2": Entry(each(module.by_re2(rules), texts), limit=1 / 1.5),
            "RE2, set first": Entry(each(module.by_re2_set(rules), texts), limit=1 / 1.5),
        }
    benchmark(f"masking {len(texts)} texts", Entry(each(mask, texts)), peers, REPEATS)
