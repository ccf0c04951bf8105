r"""Escaping of untrusted text for terminals, JSON and Markdown.

>>> terminal("port\x1b[31m 8443"), json_text("port\u202e 8443")
('port\ufffd[31m 8443', '"port\\u202e 8443"')
"""

from __future__ import annotations

import json
import re

# Control characters but for line feed and tab, marks and embeddings of text direction, separators of lines, characters
# without width that hide text, halves of characters.
CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
# A possible beginning of HTML or of an automatic link in Markdown.
HTML = re.compile(r"<(?=[A-Za-z/!?])")
OPENING = re.compile(r"(?:(`{3,})[^`]*|(~{3,}).*)$")
CLOSING = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*$")
# Such a line opens a block depending on its context.
INDENTED = re.compile(r"( {1,3})(?=```|~~~)")


def terminal(text: str) -> str:
    r"""Return a text without characters that control a terminal or the direction of writing.

    >>> terminal("port\x1b[31m 8443\n")
    'port\ufffd[31m 8443\n'
    """
    if text.isprintable():
        return text
    return "".join(
        each if each in "\n\t" or each.isprintable() else _replace(each) for each in text
    )


def plain(text: str) -> str:
    r"""Return a text without control characters; every script is kept.

    >>> plain("a\x07b\r\nc")
    'a\ufffdb\nc'
    """
    return CONTROL.sub(REPLACEMENT, text.replace("\r\n", "\n").replace("\r", "\n"))


def markdown(text: str) -> str:
    r"""Return a text as Markdown without effective HTML or open code blocks.

    >>> print(markdown("<script>\x1b"))
    &lt;script>�
    """
    lines: list[str] = []
    fence = ""
    for line in plain(text).split("\n"):
        if not fence:
            opening = OPENING.match(line)
            lines.append(
                HTML.sub("&lt;", INDENTED.sub(r"\1\\", line, count=1) if line[:1] == " " else line)
            )
            fence = (opening[1] or opening[2]) if opening else ""
        else:
            lines.append(line)
            closing = CLOSING.match(line)
            if closing and closing[1].startswith(fence):
                fence = ""
    return "\n".join([*lines, fence] if fence else lines)


def json_text(value: object, *, indent: int | None = None) -> str:
    r"""Return a value as JSON with control characters and lone surrogates escaped.

    >>> json.loads(json_text({"a": "\x9b\u202e"})) == {"a": "\x9b\u202e"}
    True
    """
    return escape_controls(json.dumps(value, ensure_ascii=False, indent=indent))


def escape_controls(text: str) -> str:
    """Return a JSON text with its control characters escaped; the value stays the same."""
    return CONTROL.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1]


def _replace(character: str) -> str:
    return " " if character.isspace() else REPLACEMENT
