"""Back end: compile graphs with XLA and run them.

Modules of this package import JAX when it is first needed.
"""
