"""Derivatives of Python functions of tensors."""
