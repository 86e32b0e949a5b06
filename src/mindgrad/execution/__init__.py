"""Execution of programs: recordings and their plans, compiled programs, their caches and donated memory."""
