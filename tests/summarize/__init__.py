"""Summaries."""
