"""Back end: compile graphs with XLA and run them.

The modules of this package import JAX only when they first need it.
"""
