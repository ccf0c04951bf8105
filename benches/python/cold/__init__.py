"""Benchmark of search over a whole archive: memctx with its disk index against hand-built combinations of engines.

`python -m cold` runs it; `make bench-cold` calls that.
"""
