"""Collect the text from which the sentence encoder learns."""
