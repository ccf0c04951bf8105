"""Private keys, whole, cut and encoded."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from redaction.corpus import Kind, Secret

from .kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from redaction.draw import Draw


def _pem(d: Draw) -> str:
    body = d.base64(600)
    return "\n".join(body[at : at + 64] for at in range(0, len(body), 64))


def _armor(
    name: str, label: str, wrap: Callable[[str], str], held_out_wrap: Callable[[str], str]
) -> None:
    def draw(d: Draw, held_out: bool) -> Secret:
        body = _pem(d)
        block = f"-----BEGIN {label}-----\n{body}\n-----END {label}-----"
        text = (held_out_wrap if held_out else wrap)(block)
        inner = text.partition("KEY-----")[2] or text.partition("BLOCK-----")[2]
        return Secret(text, tuple(body.splitlines()), (inner.partition("-----END")[0],))

    KINDS.append(Kind("structural", name, draw))


_armor(
    "pem_rsa",
    "RSA PRIVATE KEY",
    lambda b: f"here you go:\n{b}\nthanks",
    lambda b: "> " + b.replace("\n", "\n> "),
)
_armor(
    "pem_pkcs8",
    "PRIVATE KEY",
    lambda b: b + "\n",
    lambda b: "  key: |\n    " + b.replace("\n", "\n    ") + "\n",
)
_armor(
    "pem_openssh",
    "OPENSSH PRIVATE KEY",
    lambda b: f"$ cat id\n{b}\n$ ls\n",
    lambda b: f"```\n{b}\n```",
)
_armor(
    "pem_pgp",
    "PGP PRIVATE KEY BLOCK",
    lambda b: b.replace("BLOCK-----\n", "BLOCK-----\nVersion: GnuPG v2\n\n", 1),
    lambda b: f"<pre>{b}</pre>",
)
_armor(
    "pem_json",
    "PRIVATE KEY",
    lambda b: '{"private_key": "' + b.replace("\n", "\\n") + '\\n", "id": 7}',
    lambda b: '"{\\"pk\\": \\"' + b.replace("\n", "\\\\n") + '\\"}"',
)
_armor(
    "pem_cut",
    "EC PRIVATE KEY",
    lambda b: b[: len(b) - 60] + "\n[output truncated]",
    lambda b: b[:400],
)
_armor(
    "pem_numbered",
    "RSA PRIVATE KEY",
    lambda b: "\n".join(f"{n:6}\t{line}" for n, line in enumerate(b.split("\n"), 1)),
    lambda b: "\n".join(f"{n}: {line}" for n, line in enumerate(b.split("\n"), 1)),
)


def _putty(d: Draw, held_out: bool) -> Secret:
    body = _pem(d)
    lines = body.splitlines()
    text = (
        f"PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: {len(lines)}\n{body}\nPrivate-MAC: none\n"
    )
    ends = "\r\n" if held_out else "\n"
    return Secret(text.replace("\n", ends), tuple(lines), (body.replace("\n", ends),))


KINDS.append(Kind("structural", "putty", _putty))


def _encoded(d: Draw, held_out: bool) -> Secret:
    value = base64.b64encode(f"-----BEGIN RSA PRIVATE KEY-----\n{_pem(d)}".encode()).decode()
    text = f"users:\n- name: admin\n  user:\n    client-key-data: {value}\n"
    return Secret(text if not held_out else f"TLS={value}", (value[40:],), (value,))


KINDS.append(Kind("structural", "kubeconfig", _encoded))
