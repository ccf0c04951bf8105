"""Messages of every shape, read into records."""
