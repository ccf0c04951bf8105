"""Embedders: what turns texts and queries into vectors."""
