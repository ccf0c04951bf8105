"""Facts: short statements that stay true until one says otherwise."""

from memctx.knowledge.draft import FACT_TYPES, Action, Draft, FactType

__all__ = ["FACT_TYPES", "Action", "Draft", "FactType"]
