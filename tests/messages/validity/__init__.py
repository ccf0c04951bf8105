"""Validation and repair of conversations by the rules of each provider."""
