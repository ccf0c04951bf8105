"""A loopback provider with the rules of the real ones, a conversation with it, and tests of `memctx.providers`."""
