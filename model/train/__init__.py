"""Trains the encoder: teachers, targets, student."""
