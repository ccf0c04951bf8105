"""Evaluation sets of our own."""
