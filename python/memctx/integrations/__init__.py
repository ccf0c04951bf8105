"""Memory for the frameworks of others: one module for each, imported only where it is used.

Every adapter takes the same arguments: ``memory``, an open `Memory` or the directory of a store; ``session_id``, by
default made of the framework's thread and agent; ``context_window``; ``on_turn``, called with each `Turn`; and the
settings of `memctx.open`. An adapter never fails a call: what it does not understand is sent as it is, and reported.
"""
