"""Invariants of summaries, for any conversation and any behavior of the model."""

from __future__ import annotations

import asyncio
import copy
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from context.rendering import Rendering
from context.script import FORMATS
from context.strategies import scripts, texts
from memctx.compaction.summary import SUMMARY_CHARS, SummaryOptions, summarize_with_fallback
from memctx.compaction.summary.sections import preserve_sections
from memctx.errors import SummaryError

from .models import Scripted

if TYPE_CHECKING:
    from context.script import FormatName, Script

ANSWERS = st.one_of(
    texts(),
    st.sampled_from(("", " \n", None, 7, "word " * 9_000)),
    st.sampled_from(
        (
            SummaryError("outage"),
            SummaryError("too long", is_overflow=True),
            SummaryError("slow", is_timeout=True),
            SummaryError("refused", is_retryable=False),
            SummaryError("wrong key", is_permanent=True),
            RuntimeError("bug"),
            TimeoutError(),
            OSError(28, "No space left on device"),
        )
    ),
)


class Whimsical(Scripted):
    """A model that gives one answer after the other, and the last for ever."""

    def __init__(self, answers: list[Any]) -> None:
        super().__init__(lambda _: answers.pop(0) if len(answers) > 1 else answers[0])


@given(
    scripts(most=3),
    st.sampled_from(FORMATS),
    st.lists(ANSWERS, min_size=1, max_size=8),
    st.sampled_from(("default", "safeguard")),
    st.sampled_from((1, 300, 3_000, 200_000)),
    st.none() | texts(),
    st.integers(0, 4),
)
def test_every_summary_keeps_the_invariants(  # noqa: PLR0913, PLR0917 - all that may differ
    script: Script,
    format: FormatName,
    answers: list[Any],
    mode: Any,
    window: int,
    previous: str | None,
    split: int,
) -> None:
    messages = Rendering(script, format).whole()
    given_before = copy.deepcopy(messages)
    history, prefix = messages[: len(messages) - split], messages[len(messages) - split :]
    summary = asyncio.run(
        summarize_with_fallback(
            history,
            Whimsical(answers),
            SummaryOptions(
                window=window, reserve_tokens=max(window // 8, 1), mode=mode, format=format
            ),
            previous_summary=previous,
            prefix=prefix,
        )
    )
    assert summary.text.strip()
    assert len(summary.text) <= SUMMARY_CHARS
    assert summary.text.endswith(preserve_sections(messages, format).text() or summary.text[-1])
    assert messages == given_before
    assert summary.problems or summary.fallback_level == "full"
    assert summary.is_by_model == (summary.fallback_level not in {"partial", "fixed"})


@given(scripts(most=3), st.sampled_from(FORMATS))
def test_without_a_model_the_previous_summary_is_kept(script: Script, format: FormatName) -> None:
    messages = Rendering(script, format).whole()
    dead = Scripted(lambda _: SummaryError("wrong key", is_permanent=True))
    summary = asyncio.run(
        summarize_with_fallback(
            messages, dead, SummaryOptions(format=format), previous_summary="Port 8443."
        )
    )
    assert summary.text.startswith("Port 8443.")
    assert summary.attempts <= 1
