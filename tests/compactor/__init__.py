"""Compactions carried out."""
