"""What a summary carries over word by word, because no model may get it wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memctx.compact.ask import latest_ask
from memctx.compact.failures import tool_failures
from memctx.compact.files import file_operations
from memctx.summarize.sections import Suffix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx import Redactor
    from memctx.messages import Shape


def carried(
    messages: Sequence[Any],
    shape: Shape | None = None,
    *,
    ask: str | None = None,
    redactor: Redactor | None = None,
) -> Suffix:
    """The tools that failed, the files, and what was asked last: ``ask``, or what the messages say."""

    def masked(text: str) -> str:
        return redactor.mask(text).text if redactor else text

    files = file_operations(messages, shape)
    asked = ask if ask is not None else latest_ask(messages, shape)
    failures = tool_failures(messages, shape)
    return Suffix(
        failures=tuple(masked(str(failure)) for failure in failures),
        read=tuple(files.read),
        modified=tuple(files.modified),
        ask=None if asked is None else masked(asked),
        read_omitted=files.read_omitted,
        modified_omitted=files.modified_omitted,
    )
