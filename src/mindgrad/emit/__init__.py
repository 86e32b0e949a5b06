"""Source emission: write graphs as Python programs for NumPy, JAX, and MindSpore.

In this package, "write" means to return or append source text.
"""
