"""Facts: short statements about a project that hold until another fact supersedes them."""

from memctx._lazy import lazy_exports

TYPE_CHECKING = False  # as type checkers know it, without importing typing
if TYPE_CHECKING:
    from memctx.facts.facts import Facts
    from memctx.facts.planning import PlanStep, plan, update
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

# Imported on first use: facts are read more often than they are planned.
_LATER = {
    "FACT_TYPES": "memctx.protocols",
    "Action": "memctx.protocols",
    "CandidateFact": "memctx.protocols",
    "FactType": "memctx.protocols",
    "Facts": "memctx.facts.facts",
    "PlanStep": "memctx.facts.planning",
    "plan": "memctx.facts.planning",
    "update": "memctx.facts.planning",
}

if not TYPE_CHECKING:  # a type checker would accept any name
    __getattr__ = lazy_exports(globals(), _LATER)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
