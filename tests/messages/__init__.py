"""Messages of every format, read into records."""
