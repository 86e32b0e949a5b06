"""Tracing and recording: convert a run of a Python function to a graph."""
