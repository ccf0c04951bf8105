"""A turn as hosts take it: generated conversations and real sessions, in every format."""
