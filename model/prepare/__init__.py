"""From gathered text to what training reads: one spelling, word pieces, and a choice of texts."""
