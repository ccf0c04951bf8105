"""Values for the scripts of a page."""

from __future__ import annotations

import json

from memctx._html import Markup
from memctx.cli.escaping import escape_controls


def data(value: object) -> Markup:
    r"""Return a value as JSON that cannot close its element.

    >>> data("</script>")
    '"\\u003c/script>"'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Markup(escape_controls(text).replace("<", "\\u003c"))
