"""Session files: appended, read again, and what a crash leaves of them."""
