"""Hosts, real and headless, with the hooks that `memctx install` gives them, against the loopback provider."""
