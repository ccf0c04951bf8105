"""Train the encoder.

    python -m train --selected DIR --pieces DIR --fold TSCharacters.txt --teachers DIR --sets DIR --out DIR
                    [--seconds 480] [--layers 2] [--share 1.0]

First the table alone is taught for a tenth of the time, then everything. The teachers' vectors are kept in `--cache`.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from train.check import Check
from train.corpus import Corpus, Pieces, rows
from train.lesson import Lesson, Sizes, Weights
from train.pack import write
from train.student import Student, in_buckets
from train.targets import DIM, Targets, load, teach
from train.teachers import DEVICE

STARTED = time.monotonic()
WARM_UP = 150
RATE, TABLE_RATE = 1.2e-3, 1.5e-3
DROPPED = 0.05
"""Share of the pieces that a text loses."""
COMMON = 1e-3
"""A piece with this share of all pieces counts half in the first table."""


def say(*words: object) -> None:
    """Print words with the time."""
    print(f"[{time.monotonic() - STARTED:6.1f}s]", *words, flush=True)


def first_table(pieces: Pieces, targets: Targets, counts: torch.Tensor) -> torch.Tensor:
    """Return the multilingual teacher's vector of each piece in the student's space, rare pieces longest."""
    names = [name.replace("\u2581", "") or " " for name in pieces.names()]
    vectors = targets.use.encode(names).float() @ targets.into_space
    shares = counts / counts.sum()
    table = torch.nn.functional.normalize(vectors, dim=1) * (COMMON / (COMMON + shares))[:, None]
    table[0] = 0
    return table


class Training:
    """A student, what it learns from, and how it is taught."""

    def __init__(
        self, student: Student, lesson: Lesson, ids: torch.Tensor, lengths: torch.Tensor
    ) -> None:
        self.student, self.lesson = student, lesson
        self._ids, self._lengths = ids, lengths
        body = [
            values for name, values in student.named_parameters() if not name.startswith("table.")
        ]
        parts: list[dict[str, Any]] = [
            {
                "params": [values for values in body if values.ndim > 1],
                "weight_decay": 0.01,
                "rate": RATE,
            },
            {
                "params": [values for values in body if values.ndim == 1],
                "weight_decay": 0.0,
                "rate": RATE,
            },
            {"params": [student.table.weight], "weight_decay": 0.0, "rate": TABLE_RATE},
        ]
        self._optimizer = torch.optim.AdamW(
            parts, lr=RATE, betas=(0.9, 0.98), fused=DEVICE.type == "cuda"
        )
        self._step = self._since = 0

    def run(self, seconds: float, *, is_static: bool, check: Check) -> None:
        """Teach for so many seconds, at a rate that falls to nothing."""
        started = time.monotonic()
        first, told = self._step, 0.2
        while (done := (time.monotonic() - started) / seconds) < 1:
            warm = min(1, (self._step - first + 1) / WARM_UP)
            for group in self._optimizer.param_groups:
                group["lr"] = (
                    group["rate"] * warm * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * done)))
                )
            self._teach(is_static=is_static)
            if done >= told:
                told += 0.2
                self._tell(check, is_static=is_static)
        self._tell(check, is_static=is_static)

    def _teach(self, *, is_static: bool) -> None:
        def encode(numbers: torch.Tensor) -> torch.Tensor:
            ids = self._ids[numbers]
            ids = torch.where(torch.rand(ids.shape, device=DEVICE) < DROPPED, 0, ids)
            with torch.autocast(DEVICE.type, dtype=torch.bfloat16, enabled=DEVICE.type == "cuda"):
                return in_buckets(self.student, ids, self._lengths[numbers], is_static=is_static)

        loss = self.lesson.step(encode, is_hard=self._step % 2 == 1)
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.student.parameters(), 1.0)
        self._optimizer.step()
        with torch.no_grad():
            self.student.table.weight[0] = 0
        self._step += 1
        if self._step in (20, 100, 400):
            say("step", self._step, "loss", float(loss))
        self._since += 1

    def _tell(self, check: Check, *, is_static: bool) -> None:
        means = {
            name: round(float(total) / self._since, 3) for name, total in self.lesson.sums.items()
        }
        self.lesson.sums.clear()
        self._since = 0
        say("step", self._step, means)
        say("   ", check.run(self.student, is_static=is_static))


def main() -> None:
    """Train and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("selected", "pieces", "fold", "teachers", "sets", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--name", default="memctx")
    parser.add_argument("--seconds", type=float, default=480)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--share", type=float, default=1.0, help="of the pairs, and of the batches")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--weights", default="", help="of the losses, as near=3,use=1")
    given = parser.parse_args()
    random.seed(given.seed)
    torch.manual_seed(given.seed)
    torch.backends.cuda.matmul.allow_tf32 = True
    corpus = Corpus.read(given.selected, given.share)
    languages, counts = np.unique(corpus.languages, return_counts=True)
    say("texts", dict(zip(languages.tolist(), counts.tolist(), strict=True)))
    pieces = Pieces(given.pieces / "pieces.model", given.fold)
    found = pieces.cut(corpus.texts)
    ids, lengths = rows(found)
    used = torch.bincount(
        torch.from_numpy(np.concatenate([np.array(one, np.int64) for one in found])),
        minlength=len(pieces),
    ).to(DEVICE)
    say(
        "cut",
        float(lengths.float().mean()),
        "pieces a text,",
        int((used == 0).sum()),
        "pieces unused",
    )
    targets = teach(corpus, load(given.teachers), say, given.cache)
    check = Check(given.sets, pieces)
    weights = Weights(
        **{
            name: float(value)
            for name, value in (part.split("=") for part in given.weights.split(",") if part)
        }
    )
    lesson = Lesson(
        corpus, targets, Sizes().scaled(given.share), weights, np.random.default_rng(given.seed)
    )
    say("pairs", lesson.counts())
    student = Student(len(pieces), DIM, given.layers).to(DEVICE)
    student.table.weight.data.copy_(first_table(pieces, targets, used))
    say("first", check.run(student, is_static=True))
    training = Training(student, lesson, ids, lengths)
    given.out.mkdir(parents=True, exist_ok=True)
    training.run(given.seconds / 10, is_static=True, check=check)
    write(
        student,
        given.pieces / "pieces.tsv",
        given.fold,
        given.out / "static.safetensors",
        "memctx-static",
        is_static=True,
    )
    training.run(given.seconds * 9 / 10, is_static=False, check=check)
    write(
        student,
        given.pieces / "pieces.tsv",
        given.fold,
        given.out / "encoder.safetensors",
        given.name,
    )
    report = {dim: check.run(student, dim) for dim in (256, 128)}
    say(json.dumps(report, indent=1))
    (given.out / "report.json").write_text(json.dumps(report, indent=2), "utf-8")


if __name__ == "__main__":
    main()
