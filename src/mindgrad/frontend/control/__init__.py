"""Runtime of rewritten functions: trace branches, loops, and built-in functions.

Functions that ``frontend.python`` has rewritten call the methods of ``runtime.Runtime``. A *body* is the code
of one branch or of one loop iteration. If a condition is a tensor without a known value, each body is traced
to a separate graph, and an operator ``cond``, ``while``, or ``scan`` contains these graphs.
"""
