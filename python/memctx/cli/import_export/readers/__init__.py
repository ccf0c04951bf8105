"""Transcript readers, one for each host: they stream, skip damaged lines, and keep the host's ids."""
