"""Compiled programs of functions: call signatures, caches, open sizes, and donation."""
