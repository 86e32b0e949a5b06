"""Runtime of rewritten functions: branches, loops and Python's own functions where tensors decide them."""
