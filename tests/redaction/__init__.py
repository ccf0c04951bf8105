"""A corpus of secrets and look-alikes, drawn from a seed, and the score of the redactor on it."""
