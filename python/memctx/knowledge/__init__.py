"""Facts: short statements that stay true until one says otherwise."""

from memctx.knowledge.draft import FACT_TYPES, Action, Draft, FactType
from memctx.knowledge.facts import Facts
from memctx.knowledge.plan import Op, plan
from memctx.knowledge.update import update

__all__ = ["FACT_TYPES", "Action", "Draft", "FactType", "Facts", "Op", "plan", "update"]
