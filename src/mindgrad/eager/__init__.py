"""Tiers of eager mode: calls that are deferred, and run as compiled programs once they are hot."""
