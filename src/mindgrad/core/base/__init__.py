"""Foundations of the core: trees, source locations, and error messages."""
