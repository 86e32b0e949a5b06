"""Rewrites of whole graphs, one per module. ``pipeline`` applies them in order."""
