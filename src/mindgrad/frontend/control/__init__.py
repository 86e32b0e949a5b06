"""Runtime of rewritten functions: trace branches, loops, and built-in functions.

Rewritten code (``frontend.python``) calls the methods of ``runtime.Runtime``. If a condition is a tensor
without a known value, the *bodies* of a branch or loop are traced to graphs, and one operator ``cond``,
``while``, or ``scan`` contains these graphs.
"""
