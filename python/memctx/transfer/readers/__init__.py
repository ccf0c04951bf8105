"""Readers of transcripts, one for each host: they stream, pass over what is damaged, and keep the host's own ids."""
