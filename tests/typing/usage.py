"""The whole public API as a typed program uses it. Only type checkers read this file; nothing runs it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, assert_type

import numpy as np
from numpy.typing import NDArray

import memctx
from memctx import Memory, compaction, context, messages, registry
from memctx._core import Segment, Store
from memctx.cli import verbs
from memctx.compaction import Recovered
from memctx.compaction import summary as summaries
from memctx.config import DiskSettings, WorkspaceSearchSettings
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
from memctx.facts import CandidateFact, Facts
from memctx.facts.extractors import (
    AnthropicExtractor,
    ClientOptions,
    ExtractionResult,
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
from memctx.hits import Hits
from memctx.hosts import openclaw, pi
from memctx.lowlevel import Explanation, Hit

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

assert_type(memctx.__version__, str)

# text
assert_type(memctx.tokenize("text"), list[str])
assert_type(memctx.tokenize("text", mode="openclaw"), list[str])
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
index = memctx.lowlevel.Bm25Index()
assert_type(memctx.lowlevel.Bm25Index(mode="openclaw").mode, Literal["memctx", "openclaw"])
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
flat = memctx.lowlevel.FlatIndex(3)
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
embedder = memctx.lowlevel.HashEmbedder()
assert_type(embedder.name, str)
assert_type(memctx.lowlevel.HashEmbedder(dim=64).dim, int)
assert_type(embedder.embed("text"), NDArray[np.float32])
assert_type(embedder.embed_many(text for text in ("a", "b")), NDArray[np.float32])
encoder = TransformerEmbedder("models/all-MiniLM-L6-v2", threads=1)
assert_type(encoder.embed("text"), NDArray[np.float32])
assert_type(encoder.embed_many(["a", "b"]), NDArray[np.float32])
embedders: list[Embedder] = [encoder, HashedEmbedder(), static_embedder(), OpenAIEmbedder()]
assert_type(embedder_of("transformer:models/all-MiniLM-L6-v2"), Embedder)
assert_type(embedder_of("use"), Embedder)
assert_type(choose(encoder, url="http://127.0.0.1/v1"), Chosen)
register("ours", static_embedder)
embedder_of(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
memctx.Config(embedding_model=encoder, embedding={"url": None, "timeout_ms": 80.0})

# what a provider would refuse, and repairing it
problem = memctx.validate([{"role": "user", "content": "text"}], "openai")[0]
assert_type(problem, messages.Problem)
assert_type(problem.index, int)
assert_type(problem.code, str)
assert_type(problem.id, str | None)
memctx.validate([], "other")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
repaired = memctx.repair([{"role": "user", "content": "text"}])
assert_type(repaired, messages.Repaired)
assert_type(repaired.changes[0].code, str)

# before a message is stored
assert_type(memctx.lowlevel.ingest.strip_channel_prefix("text"), str)
assert_type(memctx.lowlevel.ingest.is_noise("text"), bool)
entity = memctx.lowlevel.ingest.entities("text")[0]
assert_type(entity, memctx.lowlevel.ingest.Entity)
assert_type(entity.value, str)
assert_type(entity.offset, int)
assert_type(entity.kind, Literal["url", "email", "stock", "amount", "date", "person", "project"])
topics = memctx.lowlevel.ingest.Topics()
topics.add("deploy", ["kubernetes"])
topics.add("deploy", (word for word in ("helm", "上线")))
assert_type(topics.names(), list[str])
assert_type(topics.of("text"), list[str])

# vectors on disk
path = Path("vectors.bin")
memctx.lowlevel.vmem.write(path, ["a", "b"], matrix)
memctx.lowlevel.vmem.write("vectors.bin", ["a"], [[1.0, 2.0, 3.0]], checksum=True)
memctx.lowlevel.vmem.append(path, ["c"], matrix[:1])
assert_type(memctx.lowlevel.vmem.read(path, strict=True), tuple[list[str], NDArray[np.float32]])
report = memctx.lowlevel.vmem.verify(path)
assert_type(report, memctx.lowlevel.vmem.VmemReport)
assert_type((report.dim, report.declared, report.complete), tuple[int, int, int])
assert_type((report.unreadable, report.trailing_bytes), tuple[int, int])
assert_type(report.checksum, Literal["valid", "absent", "wrong"])
assert_type(report.ok, bool)

# fusion
fused = memctx.lowlevel.fusion.blend(
    [hit], memctx.lowlevel.fusion.normalize([hit]), vector_weight=0.6
)
assert_type(fused, list[Hit])
assert_type(memctx.lowlevel.fusion.decay(fused, [0.0], rate=0.99), list[Hit])
assert_type(memctx.lowlevel.fusion.threshold(fused, 0.3), list[Hit])
assert_type(memctx.lowlevel.fusion.mmr(fused, 1, balance=0.5, vectors=matrix), list[Hit])
assert_type(memctx.lowlevel.fusion.mmr(fused, 1, texts=["text"]), list[Hit])

# settings
config = memctx.Config(
    disk=DiskSettings(max_segments=500),
    redaction="openclaw",
    privacy={"archive_tools": ["read"]},
)
assert_type(config.disk.max_segments, int)
assert_type(memctx.Config(disk={"index": False, "deadline_ms": 5}).disk.deadline_ms, float)
assert_type(config.redaction, Literal["mask", "openclaw", "off"])
assert_type(config.context_window, int | None)
assert_type(config.storage_path, Path)
assert_type(memctx.Config.load(file="memctx.toml", privacy={"pii": True}), memctx.Config)
assert_type(config.replace(redaction=False, storage_path="elsewhere"), memctx.Config)
assert_type(config.given(), dict[str, Any])
memctx.Config(max_segments=5)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
config.privacy.pii = True  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]

# memory
assert_type(memctx.open("~/.memctx", session_id="s1", context_window=200_000), Memory)
assert_type(memctx.open(path, session_id="s1", config=config, disk={"durability": "os"}), Memory)
assert_type(memctx.open(session_id="s1"), Memory)
DiskSettings(durability="no")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
memctx.open(path, session_id="s1", max_segment=5)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
memory = registry.runtime("s1", path=path)
assert_type(memory, Memory)
archived = memory.archive([{"role": "user", "content": "text"}], format="anthropic")
assert_type(archived, memctx.Archived)
assert_type(archived.ids, tuple[str, ...])
assert_type((archived.added, archived.duplicates, archived.skipped), tuple[int, int, int])
now = datetime.now(UTC)
found_by = memctx.SearchFilter(since=now, until=0.0, roles=["user"])
assert_type((found_by.since, found_by.roles), tuple[float | None, list[str] | None])
hits = memory.search("query", limit=5, filter=found_by)
assert_type(hits, Hits)
assert_type(memory.search("query", everything=True), Hits)
assert_type(memory.search_workspace("query", 3, sources=["memory"]), list[openclaw.Cited])
assert_type(hits[0].segment, Segment)
assert_type(memory.store, Store)
assert_type(memory.stats(), dict[str, Any])
assert_type(memory.health(), dict[str, Any])
assert_type((memory.session_id, memory.closed, memory.config), tuple[str, bool, memctx.Config])
with memory as same:
    assert_type(same, Memory)
registry.bind(object(), memory)
assert_type(registry.of(object()), Memory | None)
assert_type(registry.memories(), list[Memory])


# trimming and pruning
spoken: list[dict[str, str]] = [{"role": "user", "content": "text"}]
trimmed = context.smart_trim(
    spoken, "query", safe_limit=10, estimate=lambda message: len(message["content"])
)
assert_type(trimmed, context.SmartTrimmed[dict[str, str]])
assert_type(trimmed.trimmed, list[dict[str, str]])
assert_type(trimmed.did_trim, bool)
assert_type(context.truncate_tool_result(spoken[0], archive=memory), dict[str, str])
context.truncate_tool_result("text", max_chars=10, archive=print)


# extractors
claude = AnthropicExtractor("claude-sonnet-5-5", small_model="claude-haiku-5-5", effort="low")
served = OpenAIExtractor(
    "qwen3", options=ClientOptions(base_url="http://127.0.0.1/v1"), price={"qwen3": Price(0, 0)}
)
assert_type(claude.usage, Usage)
assert_type(served.model, str)
assert_type(extractor_of("anthropic:claude-haiku-5-5"), Extractor)
AnthropicExtractor(effort="most")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
OpenAIExtractor()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
request = Request((Message("user", "text", "s1"),))
assert_type(split(request.messages, 1000), list[tuple[Message, ...]])


def plain(request: Request) -> list[CandidateFact]:
    """Extract facts by a plain function."""
    return [CandidateFact("config", message.text) for message in request.messages]


async def waiting(request: Request) -> list[dict[str, str]]:
    """Extract facts asynchronously."""
    return [{"type": "config", "content": message.text} for message in request.messages]


extractors: list[Extractor] = [claude, served, FunctionExtractor(plain), FunctionExtractor(waiting)]
assert_type([extractor_of(plain), extractor_of(waiting), extractor_of(claude)], list[Extractor])


# session files, workspaces, flushes
transcript = pi.Transcript.open(path, session_id="s1")
assert_type(transcript, pi.Transcript)
assert_type(transcript.append_messages(spoken), list[str])
assert_type(transcript.append_compaction("summary", None, 10, tokens_after=5), str)
assert_type(transcript.context().messages, list[dict[str, Any]])
assert_type(transcript.lineage(), tuple[pi.Entry, ...])
counters = pi.CounterFile.beside(path, session_id="s1")
assert_type(counters.update(pi.Counters.after_compaction), pi.Counters)
folder = openclaw.Workspace(path, access="ro", time_zone="UTC")
assert_type(folder.system_prompt(), str)
assert_type(folder.load().files, tuple[openclaw.LoadedFile, ...])
assert_type(openclaw.Workspace.of(memctx.Config()), openclaw.Workspace | None)
assert_type(openclaw.WorkspaceSearch.of(memctx.Config(), folder), openclaw.WorkspaceSearch)
assert_type(memctx.Config.check(file="openclaw.json").faults, tuple[str, ...])
found = openclaw.WorkspaceSearch(
    folder, WorkspaceSearchSettings(sources=("memory", "sessions"), sessions=(path,))
)
assert_type(found.search("query", sources=["memory"]), list[openclaw.Cited])
assert_type(compaction.should_write_notes(1, 2, 3, soft_threshold=0.7), bool)
assert_type(list(openclaw.SilenceFilter().wrap(["text"])), list[str])


async def flushing() -> None:
    """Answer in every way in which a host may."""
    assert_type(
        await compaction.write_notes(lambda system, prompt: system + prompt, folder),
        compaction.NotesWritten,
    )
    memory_flush = compaction.NotesWriter(lambda _system, _prompt: None, folder, counters)
    assert_type(await memory_flush.run(1, 2), compaction.NotesWritten)


async def turn() -> None:
    """Use the same for asyncio."""
    assert_type(await extractors[0].extract(request), ExtractionResult)
    assert_type(await memory.aarchive([]), memctx.Archived)
    assert_type(await memory.asearch("query", limit=5, window=2), Hits)
    compacted = await memory.compact(
        spoken, instructions="Keep ports", reason="threshold", pinned=[0]
    )
    assert_type(compacted, memctx.Compacted)
    assert_type((compacted.messages, compacted.skipped), tuple[list[Any], str | None])
    assert_type(memory.compact_sync(spoken, format="anthropic"), memctx.Compacted)
    assert_type(
        await memory.write_notes(lambda system, prompt: system + prompt, spoken),
        compaction.NotesWritten,
    )
    assert_type(
        await compaction.run_with_recovery(ask, spoken, memory, format="openai"),
        Recovered[int],
    )


async def ask(messages: list[Any]) -> int:
    """Call the model."""
    return len(messages)


def say(messages: list[Any]) -> str:
    """Call the model and wait."""
    return str(messages)


assert_type(compaction.run_with_recovery_sync(say, spoken, memory), Recovered[str])
assert_type(memory.should_compact(spoken, usage=1_000), bool)
assert_type(memory.on("before_compaction", print), Callable[[], None])


# summaries
async def summarize(client: AsyncAnthropic) -> None:
    models: list[summaries.Summarizer] = [
        summaries.AnthropicSummarizer("model", client),
        summaries.FunctionSummarizer(lambda request: request.conversation_text),
    ]
    summary = await summaries.summarize_with_fallback(
        [], models[0], summaries.SummaryOptions(mode="default"), on_text=print
    )
    assert_type(summary, summaries.Summary)
    assert_type(summary.fallback_level, summaries.FallbackLevel)
    assert_type(summary.problems, tuple[str, ...])
    assert_type(
        await summaries.summarize_in_stages(
            [], models[1], summaries.SummaryOptions(window=200_000, max_chunk_tokens=70_000)
        ),
        str,
    )
    summaries.SummaryOptions(mode="best")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


# errors
try:
    memctx.lowlevel.vmem.read(path)
except memctx.errors.CorruptStoreError as error:
    assert_type(error, memctx.errors.CorruptStoreError)
except (memctx.errors.StoreLockedError, memctx.errors.UnsupportedVersionError) as error:
    assert_type(error, memctx.errors.StoreLockedError | memctx.errors.UnsupportedVersionError)
not_a_value: ValueError = memctx.ConfigError("no")
wrong_length: memctx.errors.VectorError = memctx.errors.DimensionMismatchError("no")
wrong_format: TypeError = memctx.MessageFormatError("no")
errors: list[memctx.MemctxError] = [memctx.StoreError("no"), memctx.errors.ExtractionError("no")]

# facts
fact_store = memctx.lowlevel.FactStore(
    "folder", memctx.lowlevel.StoreOptions(session_id="s1", cross_session=True, durability="os")
)
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
assert_type(fact_hits, list[memctx.lowlevel.FactHit])
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
outcome = verbs.dispatch(memory, "/memory search stripe", messages=[], format="openai")
assert_type(outcome, verbs.Outcome | None)
if outcome is not None:
    assert_type(outcome.text, str)
    assert_type(outcome.data, dict[str, Any])
    assert_type(outcome.action, Literal["none", "compact", "new", "reset"])
verbs.dispatch(memory, "/status", format="other")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
