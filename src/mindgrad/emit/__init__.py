"""Source emission: graphs as Python programs for NumPy, JAX, and MindSpore."""
