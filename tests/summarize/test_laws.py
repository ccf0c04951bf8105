"""What holds of every summary, whatever the conversation and whatever the model does."""

from __future__ import annotations

import asyncio
import copy
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from memctx import SummaryError
from memctx.summarize import SUMMARY_CHARS, summarize_with_fallback
from memctx.summarize.carried import carried
from turn.rendering import Rendering
from turn.script import SHAPES
from turn.strategies import scripts, texts

from .models import Scripted

if TYPE_CHECKING:
    from turn.script import Script, Shape

ANSWERS = st.one_of(
    texts(),
    st.sampled_from(("", " \n", None, 7, "word " * 9_000)),
    st.sampled_from(
        (
            SummaryError("outage"),
            SummaryError("too long", is_overflow=True),
            SummaryError("slow", is_timeout=True),
            SummaryError("refused", is_final=True),
            SummaryError("wrong key", is_dead=True),
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
    st.sampled_from(SHAPES),
    st.lists(ANSWERS, min_size=1, max_size=8),
    st.sampled_from(("default", "safeguard")),
    st.sampled_from((1, 300, 3_000, 200_000)),
    st.none() | texts(),
    st.integers(0, 4),
)
def test_a_summary_always_comes_to_its_end(  # noqa: PLR0913, PLR0917 - all that may differ
    script: Script,
    shape: Shape,
    answers: list[Any],
    mode: Any,
    window: int,
    previous: str | None,
    split: int,
) -> None:
    messages = Rendering(script, shape).whole()
    given_before = copy.deepcopy(messages)
    history, prefix = messages[: len(messages) - split], messages[len(messages) - split :]
    summary = asyncio.run(
        summarize_with_fallback(
            history,
            Whimsical(answers),
            window=window,
            reserve_tokens=max(window // 8, 1),
            mode=mode,
            previous_summary=previous,
            prefix=prefix,
            shape=shape,
        )
    )
    assert summary.text.strip()
    assert len(summary.text) <= SUMMARY_CHARS
    assert summary.text.endswith(carried(messages, shape).text() or summary.text[-1])
    assert messages == given_before
    assert summary.problems or summary.rung == "full"
    assert summary.is_by_model == (summary.rung not in {"partial", "fixed"})


@given(scripts(most=3), st.sampled_from(SHAPES))
def test_without_a_model_the_previous_summary_is_kept(script: Script, shape: Shape) -> None:
    messages = Rendering(script, shape).whole()
    dead = Scripted(lambda _: SummaryError("wrong key", is_dead=True))
    summary = asyncio.run(
        summarize_with_fallback(messages, dead, previous_summary="Port 8443.", shape=shape)
    )
    assert summary.text.startswith("Port 8443.")
    assert summary.attempts <= 1
