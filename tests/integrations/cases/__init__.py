"""The frameworks: one module each, with its `CASES`; only those of installed frameworks are run."""
