"""Embedders behind an HTTP API."""
