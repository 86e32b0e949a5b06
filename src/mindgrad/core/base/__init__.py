"""Shared parts of the core: trees, source locations, and error messages."""
