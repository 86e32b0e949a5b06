"""Execution: recordings, plans, compiled programs, caches, and donated memory."""
