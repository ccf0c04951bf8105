"""Tests of session files."""
