"""Rewrite the source of functions so that loops and branches can be compiled.

In the rewritten source, calls of a runtime (``trace.control``) replace control flow. ``convert`` is the entry
point, and ``rewrite`` shows an example of rewritten code.
"""
