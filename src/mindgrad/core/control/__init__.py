"""Primitives with graphs as parameters: branches, loops, and custom derivatives."""
