"""Tracing: from a Python function of tensors to a closed graph."""
