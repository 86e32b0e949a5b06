"""Source emission: write graphs as Python programs for NumPy, JAX, and MindSpore.

In this package, "write" means to return or append source text. The *emitted* program is the Python program
that results. A *target* contains the rules for one library, such as ``numpy_target``.
"""
