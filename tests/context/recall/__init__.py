"""The block that carries what is recalled, and what a store finds to put in it."""
