"""Agent sessions drawn from seeds, as rich as recorded ones; `python -m generated FOLDER` writes them as files."""
