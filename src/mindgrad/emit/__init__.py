"""Source emission: write graphs as Python programs for NumPy, JAX, and MindSpore."""
