"""Model changes of a store that is searched and written to by processes that are killed."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

import memctx
from embeddings import models
from memctx.embeddings import packaged_encoder
from memctx.lowlevel import vmem

HERE = Path(__file__).parent
NEEDLE = "The lighthouse keeper collects 4711 blue umbrellas"
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


WORDS = {
    " ": ("gateway", "retry", "queue", "ledger", "parser", "token", "deploy", "branch", "cache"),
    "": ("支付", "回调", "端口", "重试", "队列", "部署", "缓存", "分支", "日志", "接口"),
    "、": ("キャッシュ", "ポート", "再試行", "デプロイ", "支払い", "ログ", "接続", "設定"),
    "  ": ("포트", "재시도", "대기열", "배포", "캐시", "결제", "로그", "설정", "연결"),
    "_": ("get", "user", "by", "id", "parse", "http", "header", "retry", "count"),
}
"""Words of each language, by what stands between them."""


def fill(store: Path, segments: int) -> None:
    """Add segments of several languages with hashed vectors, one of them the needle."""
    chance = random.Random(7)
    texts: list[str] = []
    for number in range(segments - 1):
        between, words = chance.choice([*WORDS.items()])
        texts.append(f"{number} {between.join(chance.choices(words, k=chance.randint(4, 24)))}")
    texts.insert(segments // 3, NEEDLE)
    settings = memctx.Config(embedding_model="hash", disk={"durability": "os"})
    with memctx.open(store, session_id="s", config=settings) as memory:
        for start in range(0, segments, 1000):
            said = [{"role": "user", "content": text} for text in texts[start : start + 1000]]
            memory.archive(said)


def switch(store: Path, model: str, kills: int, chance: random.Random) -> tuple[set[str], int]:
    """Change the model in a process that is killed a few times; return its stored texts and number of searches."""
    stored: set[str] = set()
    lines: list[str] = []
    for round_ in range(kills + 1):
        log = store.parent / f"{model.replace(':', '-')}-{round_}.log"
        command = [sys.executable, str(HERE / "switcher.py"), str(store), model]
        with log.open("wb") as out:
            child = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
            try:
                if round_ < kills:
                    until = time.monotonic() + 60
                    while "ready" not in log.read_text() and child.poll() is None:
                        assert time.monotonic() < until
                        time.sleep(0.01)
                    time.sleep(chance.uniform(0.0, 0.6))
                    child.kill()
                child.wait(timeout=900)
            finally:
                child.kill()
        lines = log.read_text().split("\n")[:-1]
        failed = [line for line in lines if line.startswith(("failed", "Traceback"))]
        assert not failed, failed[:3]
        stored |= {line.split()[1] for line in lines if line.startswith("stored ")}
    assert lines[-1].startswith("done "), lines[-3:]
    return stored, int(lines[-1].split()[1])


def check(store: Path, model: str, stored: set[str], segments: int) -> None:
    """Check that every acknowledged segment is there, with one vector of this model."""
    lines = (store / "segments.jsonl").read_bytes().splitlines()
    contents = [json.loads(line)["content"] for line in lines]
    there = {content.split()[1] for content in contents if content.startswith("remark ")}
    assert stored <= there
    assert len(contents) == segments + len(there)
    ids, values = vmem.read(store / "vectors.bin")
    assert len(ids) == len(set(ids)) == len(contents)
    assert (abs((values**2).sum(axis=1) - 1) < 1e-3).all()
    stamp = json.loads((store / "vectors.json").read_text())
    assert stamp["model"] == model
    assert "file" not in stamp
    assert not (store / "vectors.next.bin").exists()
    assert vmem.verify(store / "vectors.bin").ok


def change_twice(tmp_path: Path, model: str, name: str, segments: int, kills: int) -> None:
    store, chance = tmp_path / "memory", random.Random(11)
    fill(store, segments)
    stored, searches = switch(store, model, kills, chance)
    check(store, name, stored, segments)
    more, others = switch(store, "hash", kills, chance)
    stored |= more
    check(store, "hash", stored, segments)
    assert searches > 0
    assert others > 0
    told = f"{segments} segments, {len(stored)} archived meanwhile"
    print(f"{told}, {searches} and {others} searches after the last kill")


def migrate(store: Path, segments: int, kills: int) -> tuple[set[str], int, float]:
    """Open a hashed store with the default model, in processes of which all but the last are killed while they embed.

    Return the texts stored meanwhile, the number of searches, and the seconds it took.
    """
    stored: set[str] = set()
    searches = 0
    started = time.monotonic()
    for round_ in range(kills + 1):
        log, new = store.parent / f"migration-{round_}.log", store / "vectors.next.bin"
        before = new.stat().st_size if new.exists() else 0
        # Of the vectors that are still to be made, each process makes some.
        enough = before + (segments * 1024 - before) // (kills - round_ + 2)
        with log.open("wb") as out:
            child = subprocess.Popen(
                [sys.executable, str(HERE / "switcher.py"), str(store)],
                stdout=out,
                stderr=subprocess.STDOUT,
            )
            try:
                while round_ < kills and child.poll() is None:
                    if new.exists() and new.stat().st_size > enough:
                        child.kill()
                        assert json.loads((store / "vectors.json").read_text())["model"] == "hash"
                    time.sleep(0.002)
                child.wait(timeout=900)
            finally:
                child.kill()
        lines = log.read_text().split("\n")[:-1]
        failed = [line for line in lines if line.startswith(("failed", "Traceback"))]
        assert not failed, failed[:3]
        assert lines[-1].startswith("done ") == (round_ == kills), lines[-3:]
        stored |= {line.split()[1] for line in lines if line.startswith("stored ")}
        searches += int(lines[-1].split()[1]) if round_ == kills else 0
    return stored, searches, time.monotonic() - started


def migrate_and_check(tmp_path: Path, segments: int, kills: int) -> None:
    store, name = tmp_path / "memory", packaged_encoder().name
    fill(store, segments)
    check(store, "hash", set(), segments)
    stored, searches, seconds = migrate(store, segments, kills)
    check(store, name, stored, segments)
    assert searches > 0
    print(
        f"{segments} hashed segments have vectors of {name} after {seconds:.1f} s and {kills} kills; "
        f"{len(stored)} archived meanwhile, {searches} searches after the last kill, none failed"
    )


@posix
@pytest.mark.slow
def test_a_hashed_store_migrates_to_the_default_under_load(tmp_path: Path) -> None:
    migrate_and_check(tmp_path, segments=1_500, kills=2)


@posix
@pytest.mark.crash
@pytest.mark.timeout(1800)
def test_a_large_hashed_store_migrates_to_the_default_under_load(tmp_path: Path) -> None:
    migrate_and_check(tmp_path, segments=20_000, kills=4)


@posix
@pytest.mark.slow
def test_a_model_change_fails_no_search_and_loses_no_vector(tmp_path: Path) -> None:
    change_twice(tmp_path, "sums", "sums", segments=3_000, kills=3)


@posix
@pytest.mark.crash
@pytest.mark.timeout(3600)
def test_a_model_change_to_a_transformer_and_back_loses_no_vector(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    name = "all-MiniLM-L6-v2"
    folder = models.minilm(tmp_path / name)
    change_twice(tmp_path, f"transformer:{folder}", name, segments=20_000, kills=8)
