"""Operands and indices of functions of tensors: promotion, broadcasting, indexing."""
