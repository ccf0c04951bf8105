"""The public API as Python sees it: golden values, reference implementations, and errors."""
