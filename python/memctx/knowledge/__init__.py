"""Facts: short statements that stay true until one says otherwise."""

from memctx.knowledge.draft import FACT_TYPES, Action, Draft, FactType
from memctx.knowledge.facts import Facts

__all__ = ["FACT_TYPES", "Action", "Draft", "FactType", "Facts"]
