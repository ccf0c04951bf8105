"""Frameworks of others, each run for real against the loopback provider."""
