"""The whole public API as a typed program uses it. Only type checkers read this file; nothing runs it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, assert_type

import numpy as np
from numpy.typing import NDArray

import memctx
from memctx import Explanation, Hit, Memory, compact, session, summarize, workspace
from memctx._core import Segment, StoreHit, WarmStore
from memctx.compactor import Recovered
from memctx.embeddings import (
    Chosen,
    Embedder,
    HashedEmbedder,
    OpenAIEmbedder,
    TransformerEmbedder,
    choose,
    embedder_of,
    register,
    static_embedder,
)
from memctx.extractors import (
    AnthropicExtractor,
    Extraction,
    Extractor,
    FunctionExtractor,
    Message,
    OpenAIExtractor,
    Price,
    Request,
    Usage,
    extractor_of,
    split,
)
from memctx.knowledge import Draft, Facts

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

assert_type(memctx.__version__, str)

# text
assert_type(memctx.tokenize("text"), list[str])
assert_type(memctx.tokenize("text", mode="original"), list[str])
assert_type(memctx.estimate_tokens("text"), int)
assert_type(memctx.estimate_tokens("text", "script"), int)
memctx.tokenize("text", mode="other")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
memctx.tokenize(b"text")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# hits and why they are where they are
hit = Hit("a", 0.5)
assert_type(hit, Hit)
assert_type(hit.id, str)
assert_type(hit.score, float)
assert_type(hit.explain, Explanation)
assert_type(hit.explain.name, str)
assert_type(hit.explain.value, float)
assert_type(hit.explain.parts, tuple[Explanation, ...])
assert_type(hit.explain.to_dict(), dict[str, Any])
hit.score = 1.0  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]

# text search
index = memctx.Bm25Index()
assert_type(memctx.Bm25Index(mode="original").mode, Literal["memctx", "original"])
index.add("a", "text")
index.add("b", "text", group="session-1")
index.add_many([("c", "text"), ("d", "text")], group="session-2")
index.add_many((str(number), "text") for number in range(3))
assert_type(index.remove("a"), bool)
assert_type(index.search("query"), list[Hit])
assert_type(index.search("query", 5, group="session-1", within={"a", "b"}), list[Hit])
assert_type(index.explain("query", "b"), Explanation | None)
assert_type(len(index), int)
assert_type("a" in index, bool)

# vector search
vector = np.zeros(3, dtype=np.float32)
matrix = np.zeros((2, 3), dtype=np.float64)
flat = memctx.FlatIndex(3)
assert_type(flat.dim, int)
flat.add("a", vector)
flat.add("b", [1.0, 0.0, 0.0], group="session-1")
flat.add_many(["c", "d"], matrix, group="session-2")
assert_type(flat.remove("a"), bool)
assert_type(flat.get("b"), NDArray[np.float32] | None)
assert_type(flat.search(vector), list[Hit])
assert_type(flat.search([0, 1, 0], 5, group="session-1", within=["b"]), list[Hit])
assert_type(flat.search_many(matrix, 5), list[list[Hit]])
assert_type(flat.explain(vector, "b"), Explanation | None)
assert_type(len(flat), int)
assert_type("a" in flat, bool)

# embedding
embedder = memctx.HashEmbedder()
assert_type(embedder.name, str)
assert_type(memctx.HashEmbedder(dim=64).dim, int)
assert_type(embedder.embed("text"), NDArray[np.float32])
assert_type(embedder.embed_many(text for text in ("a", "b")), NDArray[np.float32])
encoder = TransformerEmbedder("models/all-MiniLM-L6-v2", threads=1)
assert_type(encoder.embed("text"), NDArray[np.float32])
assert_type(encoder.embed_many(["a", "b"]), NDArray[np.float32])
embedders: list[Embedder] = [encoder, HashedEmbedder(), static_embedder(), OpenAIEmbedder()]
assert_type(embedder_of("transformer:models/all-MiniLM-L6-v2"), Embedder)
assert_type(choose(encoder, url="http://127.0.0.1/v1"), Chosen)
register("ours", TransformerEmbedder)
embedder_of(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
memctx.Config(embedding_model=encoder, embedding_url=None, embedding_timeout_ms=80.0)

# what a provider would refuse, and mending it
problem = memctx.validate([{"role": "user", "content": "text"}], "openai")[0]
assert_type(problem, memctx.Problem)
assert_type(problem.index, int)
assert_type(problem.code, str)
assert_type(problem.id, str | None)
memctx.validate([], "other")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
repaired = memctx.repair([{"role": "user", "content": "text"}])
assert_type(repaired, memctx.Repaired)
assert_type(repaired.changes[0].code, str)

# before a message is stored
assert_type(memctx.ingest.strip_channel_prefix("text"), str)
assert_type(memctx.ingest.is_noise("text"), bool)
entity = memctx.ingest.entities("text")[0]
assert_type(entity, memctx.ingest.Entity)
assert_type(entity.value, str)
assert_type(entity.offset, int)
assert_type(entity.kind, Literal["url", "email", "stock", "amount", "date", "person", "project"])
topics = memctx.ingest.Topics()
topics.add("deploy", ["kubernetes"])
topics.add("deploy", (word for word in ("helm", "上线")))
assert_type(topics.names(), list[str])
assert_type(topics.of("text"), list[str])

# vectors on disk
path = Path("vectors.bin")
memctx.vmem.write(path, ["a", "b"], matrix)
memctx.vmem.write("vectors.bin", ["a"], [[1.0, 2.0, 3.0]], checksum=True)
memctx.vmem.append(path, ["c"], matrix[:1])
assert_type(memctx.vmem.read(path, strict=True), tuple[list[str], NDArray[np.float32]])
report = memctx.vmem.verify(path)
assert_type(report, memctx.vmem.VmemReport)
assert_type((report.dim, report.declared, report.complete), tuple[int, int, int])
assert_type((report.unreadable, report.trailing_bytes), tuple[int, int])
assert_type(report.checksum, Literal["valid", "absent", "wrong"])
assert_type(report.ok, bool)

# fusion
fused = memctx.fusion.blend([hit], memctx.fusion.normalize([hit]), vector_weight=0.6)
assert_type(fused, list[Hit])
assert_type(memctx.fusion.decay(fused, [0.0], rate=0.99), list[Hit])
assert_type(memctx.fusion.threshold(fused, 0.3), list[Hit])
assert_type(memctx.fusion.mmr(fused, 1, balance=0.5, vectors=matrix), list[Hit])
assert_type(memctx.fusion.mmr(fused, 1, texts=["text"]), list[Hit])

# settings
config = memctx.Config(max_segments=500, redaction="seed", archive_tools=["read"])
assert_type(config.max_segments, int)
assert_type(memctx.Config(cold=False, cold_deadline_ms=5).cold_deadline_ms, float)
assert_type(config.redaction, Literal["mask", "seed", "off"])
assert_type(config.context_window, int | None)
assert_type(config.storage_path, Path)
assert_type(memctx.Config.load(file="memctx.toml", pii=True), memctx.Config)
assert_type(config.replace(redaction=False, storage_path="elsewhere"), memctx.Config)
assert_type(config.given(), dict[str, Any])
memctx.Config(max_segment=5)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
config.pii = True  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]

# memory
assert_type(memctx.open("~/.memctx", session_id="s1", context_window=200_000), Memory)
assert_type(memctx.open(path, session_id="s1", config=config, durability="os"), Memory)
assert_type(memctx.open(session_id="s1"), Memory)
memctx.open(path, session_id="s1", durability="no")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
memctx.open(path, session_id="s1", max_segment=5)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
memory = memctx.runtime("s1", path=path)
assert_type(memory, Memory)
archived = memory.archive([{"role": "user", "content": "text"}], shape="anthropic")
assert_type(archived, memctx.Archived)
assert_type(archived.ids, tuple[str, ...])
assert_type((archived.added, archived.duplicates, archived.skipped), tuple[int, int, int])
hits = memory.search("query", limit=5, since=datetime.now(), until=0.0, roles=["user"])  # noqa: DTZ005
assert_type(hits, list[StoreHit])
assert_type(memory.search("query", everything=True), list[StoreHit])
assert_type(hits[0].segment, Segment)
assert_type(memory.store, WarmStore)
assert_type(memory.stats(), dict[str, Any])
assert_type(memory.health(), dict[str, Any])
assert_type((memory.session_id, memory.closed, memory.config), tuple[str, bool, memctx.Config])
with memory as same:
    assert_type(same, Memory)
memctx.registry.bind(object(), memory)
assert_type(memctx.registry.of(object()), Memory | None)
assert_type(memctx.registry.memories(), list[Memory])


# trimming and pruning
spoken: list[dict[str, str]] = [{"role": "user", "content": "text"}]
trimmed = memctx.smart_trim(
    spoken, "query", safe_limit=10, estimate=lambda message: len(message["content"])
)
assert_type(trimmed, memctx.SmartTrimmed[dict[str, str]])
assert_type(trimmed.trimmed, list[dict[str, str]])
assert_type(trimmed.did_trim, bool)
assert_type(memctx.prune_at_birth(spoken[0], archive=memory), dict[str, str])
memctx.prune_at_birth("text", max_chars=10, archive=print)


# extractors
claude = AnthropicExtractor("claude-sonnet-5-5", small_model="claude-haiku-5-5", effort="low")
served = OpenAIExtractor("qwen3", base_url="http://127.0.0.1/v1", price={"qwen3": Price(0, 0)})
assert_type(claude.usage, Usage)
assert_type(served.model, str)
assert_type(extractor_of("anthropic:claude-haiku-5-5"), Extractor)
AnthropicExtractor(effort="most")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
OpenAIExtractor()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
request = Request((Message("user", "text", "s1"),))
assert_type(split(request.messages, 1000), list[tuple[Message, ...]])


def plain(request: Request) -> list[Draft]:
    """A function that finds facts."""
    return [Draft("config", message.text) for message in request.messages]


async def waiting(request: Request) -> list[dict[str, str]]:
    """One that waits for something."""
    return [{"type": "config", "content": message.text} for message in request.messages]


extractors: list[Extractor] = [claude, served, FunctionExtractor(plain), FunctionExtractor(waiting)]
assert_type([extractor_of(plain), extractor_of(waiting), extractor_of(claude)], list[Extractor])


# session files, workspaces, flushes
transcript = session.Transcript.open(path, session_id="s1")
assert_type(transcript, session.Transcript)
assert_type(transcript.append_messages(spoken), list[str])
assert_type(transcript.append_compaction("summary", None, 10, tokens_after=5), str)
assert_type(transcript.context().messages, list[dict[str, Any]])
assert_type(transcript.lineage(), tuple[session.Entry, ...])
counters = session.CounterFile.beside(path, session_id="s1")
assert_type(counters.update(session.Counters.compacted), session.Counters)
folder = workspace.Workspace(path, access="ro", time_zone="UTC")
assert_type(folder.system_prompt(), str)
assert_type(folder.load().files, tuple[workspace.LoadedFile, ...])
found = workspace.WorkspaceSearch(folder, sources=["memory", "sessions"], sessions=[path])
assert_type(found.search("query", sources=["memory"]), list[workspace.Cited])
assert_type(compact.should_flush(1, 2, 3, soft_threshold=0.7), bool)
assert_type(list(compact.SilenceFilter().wrap(["text"])), list[str])


async def flushing() -> None:
    """Every way in which a host may answer."""
    assert_type(
        await compact.flush_memory(lambda system, prompt: system + prompt, folder),
        compact.MemoryFlushed,
    )
    memory_flush = compact.MemoryFlush(lambda _system, _prompt: None, folder, counters)
    assert_type(await memory_flush.run(1, 2), compact.MemoryFlushed)


async def turn() -> None:
    """The same for asyncio."""
    assert_type(await extractors[0].extract(request), Extraction)
    assert_type(await memory.aarchive([]), memctx.Archived)
    assert_type(await memory.asearch("query", limit=5, window=2), list[StoreHit])
    compacted = await memory.compact(
        spoken, instructions="Keep ports", reason="threshold", pinned=[0]
    )
    assert_type(compacted, memctx.Compacted)
    assert_type((compacted.messages, compacted.skipped), tuple[list[Any], str | None])
    assert_type(memory.compact_sync(spoken, shape="anthropic"), memctx.Compacted)
    assert_type(
        await memory.flush_memory(lambda system, prompt: system + prompt, spoken),
        compact.MemoryFlushed,
    )
    assert_type(await memctx.run_with_recovery(ask, spoken, memory, shape="openai"), Recovered[int])


async def ask(messages: list[Any]) -> int:
    """A call of the model."""
    return len(messages)


def say(messages: list[Any]) -> str:
    """The same for callers that wait."""
    return str(messages)


assert_type(memctx.run_with_recovery_sync(say, spoken, memory), Recovered[str])
assert_type(memory.should_compact(spoken, usage=1_000), bool)
assert_type(memory.on("before_compaction", print), Callable[[], None])


# summaries
async def summarised(client: AsyncAnthropic) -> None:
    models: list[summarize.Summarizer] = [
        summarize.AnthropicSummarizer("model", client),
        summarize.FunctionSummarizer(lambda request: request.conversation_text),
    ]
    summary = await summarize.summarize_with_fallback([], models[0], mode="default", on_text=print)
    assert_type(summary, summarize.Summary)
    assert_type(summary.rung, summarize.Rung)
    assert_type(summary.problems, tuple[str, ...])
    assert_type(
        await summarize.summarize_in_stages(
            [], models[1], window=200_000, max_chunk_tokens=70_000, reserve_tokens=20_000
        ),
        str,
    )
    await summarize.summarize_with_fallback([], models[0], mode="best")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


# errors
try:
    memctx.vmem.read(path)
except memctx.CorruptStoreError as error:
    assert_type(error, memctx.CorruptStoreError)
except (memctx.StoreLockedError, memctx.UnsupportedVersionError) as error:
    assert_type(error, memctx.StoreLockedError | memctx.UnsupportedVersionError)
not_a_value: ValueError = memctx.ConfigError("no")
wrong_length: memctx.VectorError = memctx.DimensionMismatchError("no")
wrong_shape: TypeError = memctx.MessageShapeError("no")
errors: list[memctx.MemctxError] = [memctx.StoreError("no"), memctx.ExtractionError("no")]

# facts
fact_store = memctx.FactStore("folder", session_id="s1", cross_session=True, durability="os")
facts = Facts(fact_store)
fact = facts.add("config", "port 8443", context="set-up", sources=["segment"])
assert_type(fact, memctx.Fact)
assert_type(fact.sources, tuple[str, ...])
assert_type(fact.timestamp, float | None)
assert_type(fact.superseded_by, str | None)
assert_type(fact.revision, int)
assert_type(facts.update(fact.id, "port 8443, TLS only"), memctx.Fact)
assert_type(facts.supersede(fact.id, "port 9443"), memctx.Fact)
assert_type(facts.forget(fact.id), memctx.Fact)
assert_type(facts.get(fact.id), memctx.Fact | None)
assert_type(facts.list(types=["config"], limit=5), list[memctx.Fact])
assert_type(facts.history(fact.id), list[memctx.Fact])
fact_hits = facts.search("which port?", explain=True)
assert_type(fact_hits, list[memctx.FactHit])
assert_type(fact_hits[0].explanation, str | None)
assert_type(len(facts), int)
assert_type(
    fact_store.apply([("add", "id", "config", "text", None, ()), ("delete", "id")]),
    list[Literal["done", "duplicate", "added", "missing"]],
)
assert_type(fact_store.nearest("text", limit=8), list[memctx.Fact])
facts.add("setting", "port 8443")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
fact_store.apply([("add", "id")])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]

# commands of a chat host
outcome = memctx.commands.dispatch(memory, "/memory search stripe", messages=[], shape="openai")
assert_type(outcome, memctx.commands.Outcome | None)
if outcome is not None:
    assert_type(outcome.text, str)
    assert_type(outcome.data, dict[str, Any])
    assert_type(outcome.action, Literal["none", "compact", "new", "reset"])
memctx.commands.dispatch(memory, "/status", shape="other")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
