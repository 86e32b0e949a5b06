"""Runtime of rewritten functions: branches, loops, and built-in functions."""
