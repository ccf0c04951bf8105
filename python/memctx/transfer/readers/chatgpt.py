"""ChatGPT: the conversations of an export, each a tree, in one long list or in the archive as it was downloaded."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, Any, BinaryIO

from memctx.errors import StoreError
from memctx.messages import part
from memctx.session.entry import as_object
from memctx.transfer.json_list import JsonList
from memctx.transfer.readers.tree import lineage
from memctx.transfer.said import Said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memctx.transfer.tape import Tape

MEMBER = "conversations"
SPEAKERS = frozenset({"user", "assistant", "tool"})
SAID = frozenset({"text", "multimodal_text", "code", "execution_output"})


def recognises(text: str) -> bool:
    """Whether a text is the beginning of a list of conversations."""
    return text.lstrip().startswith("[") and '"mapping"' in text


def read(tape: Tape) -> Iterator[Said]:
    """The messages of every conversation on the branch that was last looked at."""
    if not zipfile.is_zipfile(tape.path):
        with tape.opened() as file:
            yield from _conversations(tape, file)
        return
    try:
        with zipfile.ZipFile(tape.path) as archive:
            for name in sorted(archive.namelist()):
                base = name.rsplit("/", 1)[-1]
                if base.startswith(MEMBER) and base.endswith(".json"):
                    with archive.open(name) as file:
                        yield from _conversations(tape, file)  # type: ignore[arg-type]
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise StoreError(f"{tape.path}: cannot be read: {error}") from error


def _conversations(tape: Tape, file: BinaryIO) -> Iterator[Said]:
    try:
        for found in JsonList(file):
            conversation = as_object(found)
            if conversation is None or as_object(conversation.get("mapping")) is None:
                tape.damaged += 1
            else:
                yield from _messages(tape, conversation)
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{tape.path}: expected a list of conversations: {error}") from None


def _messages(tape: Tape, conversation: dict[str, Any]) -> Iterator[Said]:
    nodes: dict[str, Any] = conversation["mapping"]
    session = part.text(conversation, "conversation_id") or part.text(conversation, "id")
    parents = {each: part.text(node, "parent") for each, node in nodes.items()}
    leaf = part.text(conversation, "current_node")
    kept = reversed(lineage(parents, leaf if leaf in nodes else _newest(nodes)))
    for own in kept:
        message = as_object(part.get(nodes[own], "message"))
        if message is None:
            continue
        said = _said(message)
        if said is None:
            tape.left_out += 1
            continue
        at = message.get("create_time") or conversation.get("create_time")
        seconds = at if isinstance(at, int | float) else None
        yield Said(
            session or tape.name,
            part.text(message, "id") or own,
            said,
            "pi",
            None if seconds is None else seconds * 1000,
        )


def _newest(nodes: dict[str, Any]) -> str | None:
    """The leaf that is reached from the root by the last child each time."""
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


def _said(message: dict[str, Any]) -> dict[str, Any] | None:
    role, content = part.text(message.get("author"), "role"), message.get("content")
    hidden = part.get(message.get("metadata"), "is_visually_hidden_from_conversation")
    if role not in SPEAKERS or part.text(content, "content_type") not in SAID or hidden is True:
        return None
    texts = [_text(each) for each in part.items(part.get(content, "parts"))]
    text = "\n".join([*texts, part.text(content, "text") or ""]).strip()
    if not text:
        return None
    if role != "tool":
        return {"role": role, "content": text}
    name = part.text(message.get("author"), "name") or ""
    blocks = [{"type": "text", "text": text}]
    return {"role": "toolResult", "toolName": name, "toolCallId": "", "content": blocks}


def _text(piece: object) -> str:
    """A piece of a message: text, a transcribed voice, or a picture."""
    if isinstance(piece, str):
        return piece
    told = part.text(piece, "text")
    return (
        told
        if told is not None
        else "[image]"
        if "image" in (part.text(piece, "content_type") or "")
        else ""
    )
