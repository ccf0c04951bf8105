"""The public API as Python sees it: golden values, slow and obvious twins, and what goes wrong."""
