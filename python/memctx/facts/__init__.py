"""Facts: short statements about a project that hold until another fact supersedes them."""

from memctx import checks
from memctx.facts.facts import Facts
from memctx.facts.plan import PlanStep, plan, update
from memctx.protocols import FACT_TYPES, Action, CandidateFact, FactType

__all__ = [
    "FACT_TYPES",
    "Action",
    "CandidateFact",
    "FactType",
    "Facts",
    "PlanStep",
    "plan",
    "update",
]

checks.guard(globals(), __all__)
