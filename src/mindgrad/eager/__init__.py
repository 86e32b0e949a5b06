"""Eager mode: calls that repeat are recorded, compared and run as compiled programs."""
