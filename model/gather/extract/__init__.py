"""Take pairs and texts out of each source."""

from gather.extract.table import EXTRACTORS

__all__ = ["EXTRACTORS"]
