"""Compiled programs of functions: signatures, caches, open sizes, and donation."""
