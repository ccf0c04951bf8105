"""Crashes: a driver, the commands it drives, and processes killed while they index or change their model."""
