"""Indexing of tensors: ``x[index]``, and copies of tensors with changed elements."""
