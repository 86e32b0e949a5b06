"""Rewrite the source of functions so that loops and branches can be compiled.

In the rewritten source, calls of a runtime (``frontend.control``) replace control flow. ``convert`` is the
entry point. The module ``rewrite`` shows an example of rewritten code.
"""
