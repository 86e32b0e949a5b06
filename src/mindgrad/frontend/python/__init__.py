"""Source-to-source rewriting: control flow becomes calls of a runtime.

``convert`` is the entry point. ``rewrite`` shows an example of rewritten code.
"""
