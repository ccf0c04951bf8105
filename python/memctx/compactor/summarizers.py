"""`summarizer_of`: the summariser that a setting names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memctx.errors import SummaryError
from memctx.summarize import AnthropicSummarizer, FunctionSummarizer

if TYPE_CHECKING:
    from memctx.summarize import Summarizer, SummaryRequest

DEFAULT_MODEL = "claude-haiku-5-5"


def summarizer_of(setting: Any) -> Summarizer:  # noqa: ANN401 - checked by the settings
    """The summariser of a setting: a name, a summariser, a function, or none that can do it.

    >>> summarizer_of(None)
    FunctionSummarizer(nobody)
    """
    if setting is None:
        return FunctionSummarizer(nobody)
    if isinstance(setting, str):
        return AnthropicSummarizer(setting.partition(":")[2] or DEFAULT_MODEL)
    if callable(getattr(setting, "summarize", None)):
        found: Summarizer = setting
        return found
    return FunctionSummarizer(setting)


def nobody(request: SummaryRequest) -> str:
    """Stands in for a summariser."""
    raise SummaryError(f"no summarizer is set for a request of {request.kind}", is_dead=True)
