"""Primitives whose parameters are graphs: branches, loops, custom derivatives."""
