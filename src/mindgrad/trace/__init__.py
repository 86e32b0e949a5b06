"""Tracing of Python: rewrite a function, run it on symbols, and build its graph.

- ``python`` rewrites the source of a function. ``source`` finds its syntax tree, and ``unsupported`` rejects
  constructs that cannot be compiled. The passes ``recursion``, ``loop_exits``, ``jumps``, ``liveness``,
  ``expressions``, and ``rewrite`` change the tree. ``convert`` compiles the tree to a function object.
- ``control`` is the runtime that rewritten code calls (``runtime``, ``exceptions``). It traces ``branches``
and
  ``loops``: their bodies are ``traced`` with their ``variables``. ``builtins``, ``comprehensions``, and
  ``printing`` replace functions of Python.
- ``closed_program`` runs a function on symbols, and ``tracing`` traces a complete call. ``user_calls`` calls
the
  user's functions, and ``mutation_policy`` restricts the objects that they may change.
- A trace records the Parameters that it reads (``state``), Python state (``guards``, ``reach``,
``contents``), and
  the types of arguments (``signature``).
- A trace also records the attributes and variables that it assigns (``effect_log``). They are stored after
each run
  of the compiled function (``side_effects``).
"""
