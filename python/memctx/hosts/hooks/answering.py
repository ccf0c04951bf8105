"""`answer`: one call of a hook. It fails open: whatever is wrong with memory, the host goes on without it."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from memctx import store_files
from memctx.errors import MemctxError
from memctx.hosts.hooks import log
from memctx.hosts.hooks.events import FORMATS, PI_HOSTS, read_call, write_answer
from memctx.hosts.hooks.opening import default_root, load_config, open_reader
from memctx.hosts.hooks.session import read_record, update_record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from memctx.config import Config
    from memctx.hosts.hooks.events import HookCall
    from memctx.hosts.hooks.recall import Recalled
    from memctx.hosts.hooks.session import SessionRecord
    from memctx.messages import FormatName

SECONDS_FOR_FACTS = {"archive": 2.0, "stop": 3.0, "end": 0.7, "subagent": 0.0}
"""Most seconds to wait for facts by job; the rest is extracted by a later call. All are shorter than a hook waits for
the resident helper, or it would do the same again itself."""
MAX_PROMPT, MAX_ANSWER = 300, 900
"""Most characters of the excerpts in a record."""
MAX_MASKED = 65_536
"""Characters of a text that are searched for secrets before an excerpt is taken."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Output of a hook, and its exit code, which is always 0: others would stop the host.

    >>> Answer("").exit_code
    0
    """

    stdout: str
    exit_code: int = 0


def answer(
    host: str, event: str, payload: Mapping[str, object], *, root: Path | None = None
) -> Answer:
    """Answer one call of a hook with the memory in a folder, by default the one that the environment names.

    It never raises for a fault of memory: the answer is then empty, and the error is in ``hosts/hooks.log`` of the
    folder.

    >>> import pathlib, tempfile
    >>> answer("codex", "Stop", {"session_id": "c1", "cwd": "/src/shop"}, root=pathlib.Path(tempfile.mkdtemp()))
    Answer(stdout='', exit_code=0)
    """
    try:
        call = read_call(host, event, payload)
        return Answer("") if call is None else Answer(_Run(call, root).run())
    except Exception as error:  # noqa: BLE001 - a fault of memory must not become one of the host
        log.log_error(root or default_root(), f"{host} {event}", error)
        return Answer("")


class _Run:
    """One call that is being answered."""

    def __init__(self, call: HookCall, root: Path | None) -> None:
        self._call = call
        self._root_given = root
        self._config: Config = load_config(root)
        self._root = Path(self._config.storage_path).expanduser()

    def run(self) -> str:
        """Do the job of the event and return what the host reads."""
        if not self._config.enabled:
            return ""
        call = self._call
        if call.job == "start":
            return self._start()
        if call.job == "prompt":
            return self._prompt()
        if call.job == "compacted":
            self._note_compaction()
        elif not call.is_summarizer and self._config.capture != "off":
            self._archive()
        return ""

    def _start(self) -> str:
        if self._call.source == "resume":
            return ""  # the conversation still has what it was told
        if self._call.source == "compact":
            record = self._note_compaction()
            return self._tell(self._recall_dropped(record), record)
        record = read_record(self._root, self._call.session)
        return self._tell(self._recall_project(), record)

    def _prompt(self) -> str:
        call, prompt = self._call, self._call.prompt
        record = self._update(
            lambda known: replace(
                known,
                title=self._excerpt(call.title, MAX_PROMPT) or known.title,
                first_prompt=known.first_prompt or self._excerpt(prompt, MAX_PROMPT),
                last_prompt=self._excerpt(prompt, MAX_PROMPT),
                last_at=_now(),
            )
        )
        found: list[Recalled] = []
        if not record.is_told:
            # Hosts without a start that takes text, and one whose start came too early for it.
            found.append(self._recall_project())
            record = replace(record, shown=(*record.shown, *found[0].ids))
        if self._is_store:
            from memctx.hosts.hooks.recall import recall_for_prompt  # noqa: PLC0415 - after the record

            with open_reader(self._root_given) as memory:
                recalled = recall_for_prompt(memory, self._config, call.session, record, prompt)
                found.append(recalled)
        if call.host == "cursor" and self._config.capture != "off":
            self._store([{"role": "user", "content": prompt}])
        return self._tell(_join(found), record)

    def _archive(self) -> None:
        call, seconds = self._call, SECONDS_FOR_FACTS.get(self._call.job, 0.0)
        messages = self._sent_messages()
        if call.job in {"stop", "response", "end"}:
            said = call.answer or _last_answer(messages)
            self._update(
                lambda known: replace(
                    known,
                    title=self._excerpt(call.title, MAX_PROMPT) or known.title,
                    last_answer=self._excerpt(said, MAX_ANSWER) or known.last_answer,
                    last_at=_now() if said else known.last_at or _now(),
                )
            )
        if call.job == "response":
            self._store([{"role": "assistant", "content": call.answer}])
        elif call.job == "tool":
            self._store(_tool_messages(call))
        elif messages:
            self._store(messages, seconds, "pi" if call.host in PI_HOSTS else "anthropic")
        elif call.transcript is not None and call.transcript.is_file():
            from memctx.hosts.hooks.archiving import store_transcript  # noqa: PLC0415 - not for prompts

            store_transcript(
                self._config,
                call.session,
                call.transcript,
                FORMATS[call.host],
                seconds=seconds,
            )
            if call.host == "gemini":
                self._note_compression(call.transcript)

    def _sent_messages(self) -> list[dict[str, Any]]:
        """Return the messages that a plugin sends in place of a transcript; those of opencode in Anthropic's format."""
        messages = self._call.fields.get("messages")
        if self._call.host in PI_HOSTS and isinstance(messages, list):
            return cast("list[dict[str, Any]]", messages)
        if self._call.host != "opencode":
            return []
        from memctx.cli.import_export import read_parts  # noqa: PLC0415 - loads all readers

        return read_parts(messages)

    def _store(
        self,
        messages: list[dict[str, Any]],
        seconds: float = 0.0,
        format: FormatName | None = None,
    ) -> None:
        from memctx.hosts.hooks.archiving import store_messages  # noqa: PLC0415 - not for prompts

        store_messages(self._config, self._call.session, messages, format=format, seconds=seconds)

    def _note_compaction(self) -> SessionRecord:
        """Note that the model no longer sees what was said before, and was told nothing since."""
        return self._update(
            lambda known: replace(
                known, compacted_at=_now(), compactions=known.compactions + 1, shown=()
            )
        )

    def _note_compression(self, transcript: Path) -> None:
        """Note a compression of Gemini CLI, which has no event for it, by the summary in its file."""
        from memctx.cli.import_export import TranscriptFile, find_compressions  # noqa: PLC0415 - loads all readers

        times = find_compressions(TranscriptFile(transcript))
        if len(times) > read_record(self._root, self._call.session).compactions:
            self._update(
                lambda known: replace(
                    known, compacted_at=times[-1], compactions=len(times), shown=()
                )
            )

    def _recall_project(self) -> Recalled:
        from memctx.hosts.hooks.recall import recall_project  # noqa: PLC0415 - not for archiving

        session = self._call.session
        if not self._is_store:
            return recall_project(None, self._config, session, self._root)
        with open_reader(self._root_given) as memory:
            return recall_project(memory, self._config, session, self._root)

    def _recall_dropped(self, record: SessionRecord) -> Recalled:
        from memctx.hosts.hooks.recall import Recalled, recall_dropped  # noqa: PLC0415 - not for archiving

        if not self._is_store:
            return Recalled()
        with open_reader(self._root_given) as memory:
            return recall_dropped(memory, self._config, self._call.session, record)

    def _tell(self, recalled: Recalled, record: SessionRecord) -> str:
        """Note what the conversation is told, and return the host's form of it."""
        is_first = not record.is_told
        # What a prompt recalls is in one request; what a start tells is in the system prompt of all.
        is_kept = self._call.host != "openclaw" or self._call.job == "start"
        shown = recalled.ids if is_kept else ()
        if is_first or shown:
            self._update(
                lambda known: replace(
                    known,
                    title=self._excerpt(self._call.title, MAX_PROMPT) or known.title,
                    is_told=True,
                    shown=(*known.shown, *shown),
                )
            )
        return write_answer(self._call, recalled.text)

    def _update(self, change: Callable[[SessionRecord], SessionRecord]) -> SessionRecord:
        """Change the record; where it cannot be written, log that and go on."""
        try:
            return update_record(self._root, self._call.session, change)
        except (MemctxError, OSError) as error:
            log.log_error(self._root, f"{self._call.host} {self._call.event}", error)
            return change(read_record(self._root, self._call.session))

    def _excerpt(self, text: str, most: int) -> str:
        """Return the beginning of a text with secrets masked."""
        if not text:
            return ""
        from memctx._core import Redactor  # noqa: PLC0415 - not for every event

        privacy = self._config.privacy
        redactor = Redactor(
            self._config.redaction, pii=privacy.pii, patterns=privacy.patterns or None
        )
        # A secret that is cut is no longer found, so far more is masked than is kept.
        return redactor.mask(text[:MAX_MASKED]).text[:most].strip()

    @property
    def _is_store(self) -> bool:
        return store_files.is_store(self._root)


def _join(found: list[Recalled]) -> Recalled:
    from memctx.hosts.hooks.recall import MAX_CHARS, Recalled  # noqa: PLC0415 - as above

    texts = [each.text for each in found if each.text]
    if sum(map(len, texts)) > MAX_CHARS:
        texts = texts[-1:]  # the prompt's own
    return Recalled("\n\n".join(texts), tuple(own for each in found for own in each.ids))


def _last_answer(messages: list[dict[str, Any]]) -> str:
    """Return the text of the last message of the assistant."""
    from memctx.messages import part  # noqa: PLC0415 - not for prompts

    for message in reversed(messages):
        if part.get(message, "role") == "assistant":
            blocks = part.blocks(part.get(message, "content"))
            texts = [each if isinstance(each, str) else part.text(each, "text") for each in blocks]
            if said := [text for text in texts if text]:
                return "\n".join(said)
    return ""


def _tool_messages(call: HookCall) -> list[dict[str, Any]]:
    """Return a call of a tool and its result."""
    own = call.text("tool_use_id") or f"{call.text('generation_id')}-{call.text('tool_name')}"
    result = call.fields.get("tool_output", call.fields.get("tool_response"))
    asked: dict[str, Any] = {
        "type": "tool_use",
        "id": own,
        "name": call.text("tool_name"),
        "input": call.fields.get("tool_input") or {},
    }
    text = result if isinstance(result, str) else store_files.json_of(result)
    answered = {"type": "tool_result", "tool_use_id": own, "content": text}
    return [
        {"role": "assistant", "content": [asked]},
        {"role": "user", "content": [answered]},
    ]


def _now() -> float:
    return time.time() * 1000
