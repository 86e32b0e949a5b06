"""Derivatives of Python functions: every transform that users call, on tracing, execution and eager mode."""
