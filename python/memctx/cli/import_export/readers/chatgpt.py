"""ChatGPT: the conversations of an export, each a tree, in one long list or in the archive as it was downloaded."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, Any

from memctx.cli.import_export.readers.tree import is_whole, lineage
from memctx.cli.import_export.streams import JsonList
from memctx.cli.import_export.transcript_file import TranscriptMessage
from memctx.errors import StoreError
from memctx.hosts.pi import as_object
from memctx.messages import part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memctx.cli.import_export.streams import Readable
    from memctx.cli.import_export.transcript_file import TranscriptFile

MEMBER = "conversations"
SPEAKERS = frozenset({"user", "assistant", "tool"})
CONTENT_TYPES = frozenset({"text", "multimodal_text", "code", "execution_output"})


def recognizes(text: str) -> bool:
    """Return whether a text is the beginning of a list of conversations."""
    return text.lstrip().startswith("[") and '"mapping"' in text


def is_member(name: str) -> bool:
    """Return whether a file of an archive holds conversations."""
    base = name.rsplit("/", 1)[-1]
    return base.startswith(MEMBER) and base.endswith(".json")


def read(transcript: TranscriptFile) -> Iterator[TranscriptMessage]:
    """Yield the messages of every conversation on its current branch."""
    if zipfile.is_zipfile(transcript.path):
        for name, file in transcript.members(is_member):
            yield from _conversations(transcript, file, f"{transcript.path}: {name}")
        return
    with transcript.open() as file:
        yield from _conversations(transcript, file, str(transcript.path))


def _conversations(
    transcript: TranscriptFile, file: Readable, where: str
) -> Iterator[TranscriptMessage]:
    try:
        for found in JsonList(file, transcript.limits, where):
            conversation = as_object(found)
            if conversation is None or as_object(conversation.get("mapping")) is None:
                transcript.damaged += 1
            else:
                yield from _messages(transcript, conversation)
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{where}: expected a list of conversations: {error}") from None


def _messages(
    transcript: TranscriptFile, conversation: dict[str, Any]
) -> Iterator[TranscriptMessage]:
    nodes: dict[str, Any] = conversation["mapping"]
    session = part.text(conversation, "conversation_id") or part.text(conversation, "id")
    session = session or transcript.name
    transcript.describe(session, title=conversation.get("title"))
    call: str | None = None
    for own in _select_nodes(transcript, conversation, nodes):
        message = as_object(part.get(nodes[own], "message"))
        if message is None:
            continue
        message_id = part.text(message, "id") or own
        said = _convert_message(message, message_id, call)
        if said is None:
            transcript.skips["host message"] += 1
            continue
        # A call waits for one result.
        call = None if said["role"] != "assistant" else message_id if _is_call(message) else call
        at = message.get("create_time") or conversation.get("create_time")
        seconds = at if isinstance(at, int | float) else None
        yield TranscriptMessage(
            session,
            message_id,
            said,
            "pi",
            None if seconds is None else seconds * 1000,
        )


def _select_nodes(
    transcript: TranscriptFile, conversation: dict[str, Any], nodes: dict[str, Any]
) -> list[str]:
    """Return the nodes of a conversation in order: the current branch of an intact tree, or all nodes."""
    parents = {each: part.text(node, "parent") for each, node in nodes.items()}
    leaf = part.text(conversation, "current_node")
    if is_whole(parents):
        branch = list(lineage(parents, leaf if leaf in nodes else _current_leaf(nodes)))
        left = [each for each in nodes if part.get(nodes[each], "message") is not None]
        transcript.skips["abandoned branch"] += len(set(left) - set(branch))
        return branch[::-1]
    moments = dict[str, float]()
    latest = 0.0
    for each, node in nodes.items():
        at = part.get(part.get(node, "message"), "create_time")
        latest = moments[each] = float(at) if isinstance(at, int | float) else latest
    return sorted(nodes, key=moments.__getitem__)


def _current_leaf(nodes: dict[str, Any]) -> str | None:
    """Return the leaf reached from the root by following the last child."""
    at = next(
        (each for each, node in nodes.items() if part.text(node, "parent") not in nodes), None
    )
    seen: set[str] = set()
    while at is not None and at not in seen:
        seen.add(at)
        children = [each for each in part.items(part.get(nodes[at], "children")) if each in nodes]
        if not children:
            return at
        at = str(children[-1])
    return at


def _is_call(message: dict[str, Any]) -> bool:
    return (part.text(message, "recipient") or "all") != "all"


def _convert_message(message: dict[str, Any], own: str, call: str | None) -> dict[str, Any] | None:
    """Return a message in Pi's format; None for the host's own. ``call`` is the id of the pending call."""
    role, content = part.text(message.get("author"), "role"), message.get("content")
    hidden = part.get(message.get("metadata"), "is_visually_hidden_from_conversation")
    if (
        role not in SPEAKERS
        or part.text(content, "content_type") not in CONTENT_TYPES
        or hidden is True
    ):
        return None
    texts = [_text(each) for each in part.items(part.get(content, "parts"))]
    text = "\n".join([*texts, part.text(content, "text") or ""]).strip()
    if not text:
        return None
    if role == "assistant" and _is_call(message):
        asked = {"name": part.text(message, "recipient"), "arguments": {"input": text}}
        return {"role": role, "content": [{"type": "toolCall", "id": own, **asked}]}
    if role != "tool":
        return {"role": role, "content": text}
    name = part.text(message.get("author"), "name") or ""
    blocks = [{"type": "text", "text": text}]
    # A result without a call keeps an id of its own: one without any is refused by the reader.
    return {"role": "toolResult", "toolName": name, "toolCallId": call or own, "content": blocks}


def _text(part_: object) -> str:
    """Return the text of a part: text, transcribed speech, or a placeholder for an image."""
    if isinstance(part_, str):
        return part_
    text = part.text(part_, "text")
    return (
        text
        if text is not None
        else "[image]"
        if "image" in (part.text(part_, "content_type") or "")
        else ""
    )
