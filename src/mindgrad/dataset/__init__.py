"""Datasets from NumPy arrays and Python generators."""

__all__: list[str] = []
