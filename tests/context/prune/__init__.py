"""A memory as its users hold it, over the real store."""
