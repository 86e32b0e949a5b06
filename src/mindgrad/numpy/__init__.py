"""NumPy's functions on tensors, under NumPy's names."""

__all__: list[str] = []
