"""The language a question is asked in, of those in the sets, told by its script."""

from __future__ import annotations

import re

SCRIPTS = (
    ("Korean", re.compile("[\uac00-\ud7af]")),
    ("Japanese", re.compile("[\u3040-\u30ff]")),
    ("Chinese", re.compile("[\u4e00-\u9fff]")),
)
NAMES = ("English", "Chinese", "Japanese", "Korean")


def language(text: str) -> str:
    """Return one of `NAMES`.

    >>> language("部署到哪里")
    'Chinese'
    """
    return next((name for name, script in SCRIPTS if script.search(text)), "English")
