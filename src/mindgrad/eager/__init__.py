"""Eager mode: repeated calls are recorded, compared, and compiled."""
