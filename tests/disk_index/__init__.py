"""Disk index: evicted messages are found, with any number of writers, and in spite of damage to the index."""
