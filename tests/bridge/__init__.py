"""Tests of the parts of which adapters are made."""
