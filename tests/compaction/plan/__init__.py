"""Tests of planning a compaction."""
