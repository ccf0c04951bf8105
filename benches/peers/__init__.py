"""Libraries that memctx is measured against, each behind the few calls a benchmark needs."""
