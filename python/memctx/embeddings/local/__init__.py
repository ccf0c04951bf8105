"""Embedders that run in this process."""
