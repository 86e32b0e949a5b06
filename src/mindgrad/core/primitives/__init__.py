"""Primitives: the kernels, derivative rules, and test samples of all operators."""
