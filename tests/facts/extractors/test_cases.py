"""Every way in which a model answers or fails ends in facts or in an error that says what to do."""

from __future__ import annotations

import logging
import traceback
from typing import TYPE_CHECKING

import pytest

from .cases import APIS, CASES, KEY, TELLTALE, outcome_of

if TYPE_CHECKING:
    from .cases import Case

pytestmark = pytest.mark.timing  # timeouts of a fraction of a second


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_model_behavior_ends_in_facts_or_a_classified_error(
    case: Case, api: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        outcome = outcome_of(case, api)
    assert outcome.kind == case.error, outcome
    assert outcome.calls == case.calls, outcome
    assert case.at_least <= outcome.seconds < 30, outcome
    shown = caplog.text
    if outcome.error is not None:
        assert outcome.error.retry_after == case.retry_after
        shown += "".join(traceback.format_exception(outcome.error)) + repr(
            outcome.error.__context__
        )
    else:
        assert outcome.extraction is not None
        assert len(outcome.extraction.candidates) == case.facts
        assert case.problem is None or case.problem in " ".join(outcome.extraction.problems)
        assert (case.problem is None) == (outcome.extraction.problems == ())
        shown += repr(outcome.extraction.problems)
    # A careless server repeats the request in its errors, and the SDKs log it.
    assert TELLTALE not in shown
    assert KEY not in shown
