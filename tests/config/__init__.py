"""Settings: defaults, spellings, sources, and what is refused."""
