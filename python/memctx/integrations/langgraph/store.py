"""`MemctxStore`: LangGraph's long-term memory in a directory."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack, cast

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    PutOp,
    SearchItem,
    SearchOp,
    get_text_at_path,
)

from memctx.bridge import JsonLog
from memctx.config import Config
from memctx.embeddings import choose
from memctx.errors import ConfigError, StoreError
from memctx.integrations.langgraph.embedder import LangChainEmbedder
from memctx.integrations.langgraph.filters import compile_filter, has_labels
from memctx.integrations.langgraph.ranking import Ranking
from memctx.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from os import PathLike

    from langgraph.store.base import IndexConfig, Op, Result, TTLConfig

    from memctx.config.settings import Arguments
    from memctx.protocols import Embedder

logger = logging.getLogger("memctx.integrations")

FOLDER, LOG = "langgraph", "items.jsonl"
MINUTE = 60.0
SPARE = 1_000
"""Lines that are out of date, beside as many as there are items, before the log is written again."""
LEAST_REFRESH = 0.01
"""Share of a time to live by which a read must extend it to be written down."""


@dataclass(slots=True)
class _Entry:
    """An item, in the fields of its record."""

    number: int
    """Rises with the time of the first `put`, in the order of the log."""
    namespace: tuple[str, ...]
    key: str
    value: dict[str, Any]
    created: float
    updated: float
    ttl: float | None
    """Minutes to live after it was last written or read."""
    expires: float | None
    index: bool | list[str] | None


class MemctxStore(BaseStore):
    """Items by namespace and key, found by filters, and by words and vectors for a query.

    What was put is on disk when the call returns, and several processes may share a directory. Values are JSON objects
    and come back as they are: secrets in them are not masked. Expired items are never returned.

    >>> store = MemctxStore("./memory")  # doctest: +SKIP
    >>> store.put(("users", "alice"), "food", {"text": "Alice loves ramen"})  # doctest: +SKIP
    >>> store.search(("users",), query="what does she eat?")[0].key  # doctest: +SKIP
    'food'
    """

    supports_ttl = True

    def __init__(
        self,
        memory: Memory | str | PathLike[str] | None = None,
        *,
        index: IndexConfig | Literal[False] | None = None,
        ttl: TTLConfig | None = None,
        config: Config | None = None,
        **settings: Unpack[Arguments],
    ) -> None:
        """Open the items of a directory, which is created at the first `put`.

        ``index`` may name fields, and an embedding of LangChain in place of ``embedding_model``; with False a query
        ranks nothing. With ``sweep_interval_minutes`` in ``ttl``, calls remove expired items that often.

        Raises:
            ConfigError: a setting is unknown or out of range, or given for a memory that is open.
        """
        if isinstance(memory, Memory):
            if config or settings:
                raise ConfigError("memory is open; expected its settings where it was opened")
            config, memory = memory.config, memory.config.storage_path
        else:
            config = Config.load(**settings) if config is None else config.replace(**settings)
        folder = Path(memory if memory is not None else config.storage_path).expanduser() / FOLDER
        self.ttl_config = ttl
        self.index_config = index or None
        self._fields: list[str] = list((index or {}).get("fields") or ["$"])
        self._namespaces: dict[tuple[str, ...], dict[str, _Entry]] = {}
        self._by_number: dict[int, _Entry] = {}
        self._last_number = 0
        self._changes = 0
        self._lock = threading.RLock()
        self._swept = time.monotonic()
        self._stop_sweeping = threading.Event()
        self._sweeper: Future[None] | None = None
        self._ranking: Ranking | None = None
        self._log = JsonLog(
            folder / LOG,
            "langgraph-items",
            read=self._apply,
            reset=self._reset,
            disk=config.disk,
        )
        if index is not False:
            embedder = _embedder(index, config)
            self._ranking = Ranking(embedder, folder, lock=folder / LOG)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations: reads see what was there before the writes, which reach the disk together or not at all.

        Raises:
            ConfigError: a filter has an unknown operator.
            TypeError: a value is not JSON, or an operation of an unknown class.
            StoreError: the disk or another process prevents it; nothing was written.
        """
        results: list[Result] = []
        puts: dict[tuple[tuple[str, ...], str], PutOp] = {}
        read: list[_Entry] = []
        self._sweep_if_due()
        with self._lock:
            self._log.follow()
        for op in ops:
            if isinstance(op, PutOp):
                puts[op.namespace, op.key] = op
                results.append(None)
            elif isinstance(op, GetOp):
                results.append(self._get(op, read))
            elif isinstance(op, SearchOp):
                results.append(self._search(op, read))
            elif isinstance(op, ListNamespacesOp):
                results.append(self._list(op))
            else:
                raise TypeError(f"an operation is {type(op).__name__}; expected an Op of LangGraph")
        self._refresh(read)
        if puts:
            self._put(list(puts.values()))
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run `batch` in a thread, for callers that must not block."""
        return await asyncio.to_thread(self.batch, list(ops))

    def sweep_ttl(self) -> int:
        """Remove expired items, and return how many there were."""
        with self._lock:
            self._swept = time.monotonic()
            count = 0

            def make() -> list[list[dict[str, Any]]]:
                nonlocal count
                gone = [_removal(each) for each in self._entries() if not _is_alive(each)]
                count = len(gone)
                return [gone] if gone else []

            self._log.follow()
            if any(not _is_alive(each) for each in self._entries()):
                self._log.append(make)
                self._compact()
            return count

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> Future[None]:
        """Start a thread that removes expired items from time to time, also while no call does; return its future."""
        if self._sweeper is not None and not self._sweeper.done():
            return self._sweeper
        interval = sweep_interval_minutes or (self.ttl_config or {}).get("sweep_interval_minutes")
        stop, done = threading.Event(), Future[None]()

        def sweep() -> None:
            while not stop.wait((interval or 5) * MINUTE):
                try:
                    self.sweep_ttl()
                except Exception as error:  # noqa: BLE001 - the next time it may work
                    logger.warning("expired items are not removed: %s", error)
            done.set_result(None)

        self._stop_sweeping, self._sweeper = stop, done
        threading.Thread(target=sweep, name="memctx-ttl", daemon=True).start()
        return done

    def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """Stop that thread, and return whether it has ended."""
        if self._sweeper is None:
            return True
        self._stop_sweeping.set()
        try:
            self._sweeper.result(timeout)
        except TimeoutError:
            return False
        return True

    def close(self) -> None:
        """Stop the sweeper, and keep the vectors for the next time; the items are on disk already."""
        self.stop_ttl_sweeper(timeout=5)
        if self._ranking is not None:
            self._ranking.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _get(self, op: GetOp, read: list[_Entry]) -> Item | None:
        with self._lock:
            entry = self._namespaces.get(tuple(op.namespace), {}).get(op.key)
            if entry is None or not _is_alive(entry):
                return None
            if op.refresh_ttl:
                read.append(entry)
            return Item(**_fields(entry))

    def _search(self, op: SearchOp, read: list[_Entry]) -> list[SearchItem]:
        """Return the items that pass the filter: ranked ones first if there is a query, then others, oldest first."""
        stop = op.offset + op.limit
        ranking = self._ranking if op.query else None
        with self._lock:
            passing = self._passing(op)
            found = {each.number: each for each in (passing if ranking else islice(passing, stop))}
            is_all = len(found) == len(self._by_number)
        ranked = ranking.rank(op.query or "", None if is_all else found, stop) if ranking else []
        pairs = [(found.pop(number), score) for number, score in ranked if number in found]
        others = islice(found.values(), max(stop - len(pairs), 0))
        chosen = [*pairs, *((each, None) for each in others)][op.offset : stop]
        if op.refresh_ttl:
            read += [entry for entry, _ in chosen]
        return [SearchItem(**_fields(entry), score=score) for entry, score in chosen]

    def _passing(self, op: SearchOp) -> Iterator[_Entry]:
        """Yield the items that a search may return, oldest first."""
        now = time.time()
        alive = (
            each
            for each in self._below(tuple(op.namespace_prefix))
            if each.expires is None or each.expires > now
        )
        if not op.filter:
            return alive
        passes = compile_filter(op.filter)
        return (each for each in alive if passes(each.value))

    def _below(self, prefix: tuple[str, ...]) -> list[_Entry]:
        """Return the items of a namespace and of those below it, oldest first."""
        if not prefix:
            return list(self._by_number.values())
        groups = [
            list(group.values())
            for namespace, group in self._namespaces.items()
            if namespace[: len(prefix)] == prefix
        ]
        found = [each for group in groups for each in group]
        return sorted(found, key=lambda each: each.number) if len(groups) > 1 else found

    def _list(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        with self._lock:
            found = {
                namespace[: op.max_depth]
                for namespace, group in self._namespaces.items()
                if all(has_labels(namespace, each) for each in op.match_conditions or ())
                and any(map(_is_alive, group.values()))
            }
        return sorted(found)[op.offset : op.offset + op.limit]

    def _put(self, puts: list[PutOp]) -> None:
        with self._lock:
            self._log.append(lambda: [[self._record(op) for op in puts]])
            self._compact()
        if self._ranking is not None:
            self._ranking.embed()

    def _record(self, op: PutOp) -> dict[str, Any]:
        """Return the line of a `put`: the item, or its removal where there is no value."""
        if not isinstance(op.key, str):
            raise TypeError(f"key is {op.key!r}; expected a text")
        if op.value is None:
            return {"namespace": op.namespace, "key": op.key, "removed": True}
        if not isinstance(op.value, dict):
            raise TypeError(f"value is {type(op.value).__name__}; expected a dict")
        now = time.time()
        known = self._namespaces.get(tuple(op.namespace), {}).get(op.key)
        return {
            "namespace": op.namespace,
            "key": op.key,
            "value": op.value,
            "created": known.created if known is not None and _is_alive(known) else now,
            "updated": now,
            "ttl": op.ttl,
            "expires": None if op.ttl is None else now + op.ttl * MINUTE,
            "index": op.index,
        }

    def _refresh(self, read: Iterable[_Entry]) -> None:
        """Extend the lives of items that were read; the disk is not waited for, and a failure is logged."""
        now = time.time()
        touched: list[dict[str, Any]] = []
        for entry in read:
            if entry.ttl is not None and entry.expires is not None:
                expires = now + entry.ttl * MINUTE
                if expires - entry.expires > LEAST_REFRESH * entry.ttl * MINUTE:
                    name = {"namespace": entry.namespace, "key": entry.key}
                    touched.append({**name, "expires": expires})
        if touched:
            try:
                with self._lock:
                    self._log.append(lambda: [touched], sync=False)
                    self._compact()
            except (StoreError, OSError) as error:
                logger.warning("lives of items are not extended: %s", error)

    def _apply(self, changes: object) -> None:
        """Take a line of the log into memory."""
        for change in cast("list[dict[str, Any]]", changes if isinstance(changes, list) else []):
            self._changes += 1
            namespace, key = tuple(change["namespace"]), change["key"]
            group = self._namespaces.setdefault(namespace, {})
            entry = group.get(key)
            if "value" in change:
                self._set(group, entry, namespace, change)
            elif "expires" in change and entry is not None:
                entry.expires = change["expires"]
            elif "removed" in change and entry is not None:
                del group[key], self._by_number[entry.number]
                if self._ranking is not None:
                    self._ranking.remove(entry.number)
            if not group:
                del self._namespaces[namespace]

    def _set(
        self,
        group: dict[str, _Entry],
        known: _Entry | None,
        namespace: tuple[str, ...],
        change: dict[str, Any],
    ) -> None:
        if known is None:
            self._last_number += 1
        entry = _Entry(
            self._last_number if known is None else known.number,
            namespace,
            change["key"],
            change["value"],
            change["created"],
            change["updated"],
            change["ttl"],
            change["expires"],
            change["index"],
        )
        group[entry.key] = self._by_number[entry.number] = entry
        if self._ranking is not None:
            self._ranking.put(entry.number, list(self._texts(entry)))

    def _texts(self, entry: _Entry) -> Iterator[str]:
        """Yield the texts of an item that a query is compared with."""
        if entry.index is False:
            return
        for path in entry.index if isinstance(entry.index, list) else self._fields:
            yield from get_text_at_path(entry.value, path)

    def _reset(self) -> None:
        self._namespaces.clear()
        self._by_number.clear()
        self._last_number = self._changes = 0
        if self._ranking is not None:
            self._ranking.clear()

    def _compact(self) -> None:
        """Write the log again if most of it is out of date."""
        if self._changes > 2 * len(self._by_number) + SPARE:
            self._log.rewrite(
                lambda: [[_addition(each)] for each in self._entries() if _is_alive(each)]
            )

    def _entries(self) -> Iterator[_Entry]:
        return iter(self._by_number.values())

    def _sweep_if_due(self) -> None:
        interval = (self.ttl_config or {}).get("sweep_interval_minutes")
        if interval and time.monotonic() - self._swept > interval * MINUTE:
            self.sweep_ttl()


def _embedder(index: IndexConfig | None, config: Config) -> Embedder:
    if index and index.get("embed"):
        return LangChainEmbedder(index)
    is_given = "embedding_model" in config.given()
    return choose(config.embedding_model, url=config.embedding.url, uses_keys=is_given).embedder


def _is_alive(entry: _Entry) -> bool:
    return entry.expires is None or entry.expires > time.time()


def _fields(entry: _Entry) -> dict[str, Any]:
    """Return the arguments of an `Item`, with a copy of the value."""
    return {
        "value": _copy(entry.value),
        "key": entry.key,
        "namespace": entry.namespace,
        "created_at": datetime.fromtimestamp(entry.created, UTC),
        "updated_at": datetime.fromtimestamp(entry.updated, UTC),
    }


def _copy(value: Any) -> Any:  # noqa: ANN401 - JSON is anything
    if isinstance(value, dict):
        return {name: _copy(each) for name, each in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_copy(each) for each in cast("list[Any]", value)]
    return value


def _addition(entry: _Entry) -> dict[str, Any]:
    return {
        "namespace": entry.namespace,
        "key": entry.key,
        "value": entry.value,
        "created": entry.created,
        "updated": entry.updated,
        "ttl": entry.ttl,
        "expires": entry.expires,
        "index": entry.index,
    }


def _removal(entry: _Entry) -> dict[str, Any]:
    return {"namespace": entry.namespace, "key": entry.key, "removed": True}
