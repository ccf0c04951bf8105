"""Extraction in the background: what was archived becomes facts, and no batch is lost."""
