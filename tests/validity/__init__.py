"""What a provider takes, what it refuses, and how a conversation is mended."""
