"""A race of search over everything ever said: memctx with its cold tier against what one would put together by hand.

`python -m cold` runs it; `make bench-cold` calls that.
"""
