"""Indexing of tensors: ``x[index]``, and copies with changed elements."""
