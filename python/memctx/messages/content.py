"""The text of a message's content: blocks joined by newlines, pictures and files as short placeholders."""

from __future__ import annotations

from memctx.messages import part

# The field that holds the text of each kind of block.
TEXT = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
MEDIA = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "computer_screenshot": "image",
    "audio": "audio",
    "input_audio": "audio",
    "video": "video",
    "document": "document",
    "file": "file",
    "input_file": "file",
    "container_upload": "file",
}
# Blocks that hold blocks, as a document or a search result do, are read this deep.
DEEPEST = 6
LONGEST_LABEL = 200


def text_of(content: object, depth: int = 0) -> str:
    """The text of a string, of one block or of a list of blocks; empty where there is none."""
    blocks = part.blocks(content) if depth <= DEEPEST else ()
    return "\n".join(filter(None, (block_text(block, depth) for block in blocks)))


def block_text(block: object, depth: int = 0) -> str:
    """The text of one block; empty for thinking, tool calls and whatever is not known."""
    if isinstance(block, str):
        return block
    kind = part.text(block, "type")
    if kind in TEXT:
        return part.text(block, TEXT[kind]) or ""
    if kind in MEDIA:
        return _readable_source(block, depth) or _placeholder(MEDIA[kind], block)
    if kind == "search_result":
        heading = _lines(block, "title", "source")
        return "\n".join(filter(None, (heading, text_of(part.get(block, "content"), depth + 1))))
    if kind is None or kind == "logs" or kind.endswith(("_result", "_error")):
        return _lines(block, "title", "url", "content", "stdout", "stderr", "logs", "error_code")
    return ""


def _readable_source(block: object, depth: int) -> str:
    """The text of a document that came as text or as blocks rather than as bytes."""
    source = part.get(block, "source")
    kind = part.text(source, "type")
    if kind == "text":
        return part.text(source, "data") or ""
    if kind == "content":
        return text_of(part.get(source, "content"), depth + 1)
    return ""


def _placeholder(kind: str, block: object) -> str:
    """What stands for bytes: what they are and, if short, what they are called."""
    source, image_url, file = (part.get(block, name) for name in ("source", "image_url", "file"))
    places = [
        (block, "title"),
        (block, "filename"),
        (file, "filename"),
        (block, "mimeType"),
        (source, "media_type"),
        (source, "url"),
        (image_url, "url"),
        (block, "image_url"),
        (block, "file_url"),
        (block, "url"),
    ]
    labels = (part.text(holder, name) for holder, name in places if holder is not None)
    usable = (label for label in labels if label and len(label) <= LONGEST_LABEL)
    label = next((label for label in usable if not label.startswith("data:")), None)
    return f"[{kind} {label}]" if label else f"[{kind}]"


def _lines(block: object, *names: str) -> str:
    """The named fields of a block that are text, a line each."""
    return "\n".join(filter(None, (part.text(block, name) for name in names)))
