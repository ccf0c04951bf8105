"""Path guard: fails tests that read beside the repository, in this process and in its children."""
