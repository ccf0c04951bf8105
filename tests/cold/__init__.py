"""The cold tier: what left memory is found on disk, whoever writes, whatever becomes of the index."""
