"""Generator of many facts as a long-lived project has them, the same at every run."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx._core import FactStore

SYLLABLES = (
    "ka",
    "ro",
    "mi",
    "ten",
    "sol",
    "var",
    "lin",
    "dox",
    "pe",
    "qui",
    "nar",
    "bel",
    "zu",
    "hi",
)
TEMPLATES = (
    "The {a} service listens on port {n} and talks to {b}",
    "We decided to use {a} instead of {b} for the {c} pipeline",
    "The {a} queue is consumed by {n} workers of {b}",
    "test_{a}_{b} is flaky since build {n}",
    "The timeout of the {a} client is {n} ms because {b} is slow",
    "{a}/{b}.rs holds the parser of the {c} format, version {n}",
    "Open: the {a} export does not handle {b} yet, ticket {n}",
    "The {a} team owns the {b} dashboard and its {n} alerts",
    "{a} 服务的配置项 {b} 设置为 {n}",
    "{a} 模块依赖 {b} 缓存大小为 {n} 兆",
    "{a} サーバーの設定 {b} は {n} です",
    "{a} 모듈의 {b} 값은 {n} 이다",
)
BATCH = 1_000


def sentences(count: int, seed: int = 7) -> list[str]:
    """Return ``count`` different facts."""
    chance = random.Random(seed)  # noqa: S311 - no secret

    def name() -> str:
        return "".join(chance.choices(SYLLABLES, k=chance.randint(2, 4)))

    found: dict[str, None] = {}
    while len(found) < count:
        template = chance.choice(TEMPLATES)
        found[template.format(a=name(), b=name(), c=name(), n=chance.randint(1, 9_999))] = None
    return list(found)


def fill(store: FactStore, contents: Sequence[str]) -> None:
    """Add facts to a store in batches."""
    for start in range(0, len(contents), BATCH):
        batch = contents[start : start + BATCH]
        changes = ((f"crowd-{start + i}", text) for i, text in enumerate(batch))
        store.apply([("add", id_, "config", text, None, ()) for id_, text in changes])
