"""Path guard of child processes, loaded at their start: its folder comes first in PYTHONPATH."""

import importlib

confined = importlib.import_module("confined")
confined.Guard(confined.default_fence()).install()
