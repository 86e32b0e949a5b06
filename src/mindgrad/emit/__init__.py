"""Source emission: graphs written as Python programs for NumPy, jax and MindSpore."""
