"""Workspaces: their files in the system prompt, found by search, and written to."""
