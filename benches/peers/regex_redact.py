"""The redactor's rules run by regex engines, one substitution after another; no judgment of what they find.

The patterns come from the core. What the core does by hand instead (names with a value, URLs, headers, key blocks,
words of other scripts) stands here as patterns of the same reach.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import re2

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]

_NAME = r"(?i)[\w.-]{0,40}(?:passw|passphrase|pwd|secret|token|api.?key|access.?key|auth|cred|psk|jwt)[\w.-]{0,40}"
BY_HAND = [
    ("private_key", r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY[A-Z ]{0,10}-----[A-Za-z0-9+/=\s\\]{20,}"),
    ("url_password", r"[a-z0-9+]{2,20}://[^\s/:@\"']{0,80}:[^\s/@\"']{3,120}@"),
    (
        "authorization",
        r"(?i)authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?[a-z-]{0,20} ?[\w.~+/=-]{16,}",
    ),
    ("bearer_token", r"(?i)bearer\s{1,4}[\w.~+/=-]{16,}"),
    ("cookie", r"(?i)cookie[\"']?\s{0,4}[:=][^\n]{8,}"),
    ("assignment", _NAME + r"[\"'\]]{0,3}\s{0,8}(?::=|=>|[:=])\s{0,8}[\"']?[^\s\"',;]{6,}"),
    ("prose", _NAME + r"\s(?:[a-z]{1,12}\s){0,6}(?:is|to|:|=)\s{1,4}[^\s]{8,}"),
    (
        "foreign",
        "(?:密码|口令|密钥|令牌|パスワード|トークン|비밀번호|토큰)[^\\n\\x00-\\x7f]{0,12}[ :]{0,4}[!-~]{8,}",
    ),
    ("discord_token", r"[MNO][\w-]{22,29}\.[\w-]{6}\.[\w-]{25,48}"),
]


def rules() -> list[tuple[str, str]]:
    """Every rule as kind and pattern."""
    cargo = shutil.which("cargo") or "cargo"
    command = [
        cargo,
        "run",
        "--release",
        "--quiet",
        "--package",
        "memctx-benches",
        "--bin",
        "rules",
    ]
    lines = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [*(tuple(json.loads(line)) for line in lines.splitlines()), *BY_HAND]


def by_re(rules: list[tuple[str, str]]) -> Callable[[str], str]:
    """All rules in turn by Python's `re`."""
    compiled = [(f"[REDACTED:{kind}]", re.compile(pattern, re.ASCII)) for kind, pattern in rules]

    def mask(text: str) -> str:
        for replacement, pattern in compiled:
            text = pattern.sub(replacement, text)
        return text

    return mask


def by_re2(rules: list[tuple[str, str]]) -> Callable[[str], str]:
    """All rules in turn by RE2, on bytes, which it need not encode for every rule."""
    compiled = [
        (f"[REDACTED:{kind}]".encode(), re2.compile(pattern.encode())) for kind, pattern in rules
    ]

    def mask(text: str) -> str:
        data = text.encode()
        for replacement, pattern in compiled:
            data = pattern.sub(replacement, data)
        return data.decode()

    return mask


def by_re2_set(rules: list[tuple[str, str]]) -> Callable[[str], str]:
    """RE2 as its authors advise: one automaton finds out which rules match at all, only those substitute."""
    options = re2.Options()
    options.max_mem = 1 << 28
    chooser = re2.Set.SearchSet(options)
    for _, pattern in rules:
        chooser.Add(pattern)
    chooser.Compile()
    compiled = [(f"[REDACTED:{kind}]", re2.compile(pattern)) for kind, pattern in rules]

    def mask(text: str) -> str:
        for index in chooser.Match(text) or ():
            replacement, pattern = compiled[index]
            text = pattern.sub(replacement, text)
        return text

    return mask
