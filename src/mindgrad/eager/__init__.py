"""Eager mode: repeated calls are recorded, compared, and compiled.

``eager.tiers`` decides which calls are compiled. ``docs/eager_engine.md`` explains the terms of this package.
"""
