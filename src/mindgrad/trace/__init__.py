"""Tracing of Python: a user's function is rewritten, run with symbols, and becomes a graph.

- source: ``python`` has the syntax tree of a function (``source``), what is refused (``unsupported``),
  and the passes over it (``recursion``, ``loop_exits``, ``jumps``, ``liveness``, ``expressions``,
  ``rewrite``), from which a function object is made again (``convert``)
- control flow: ``control`` has what rewritten code calls (``runtime``, with ``predicates``, ``exceptions``):
  ``branches`` and ``loops``, whose bodies are ``traced`` with their ``variables``; ``builtins``,
  ``comprehensions``, ``printing``
- a trace: ``closed_program`` runs a function on symbols, ``tracing`` a whole call, entered by ``user_calls``;
  what it may change is ``mutation_policy``'s
- what it read: Parameters (``state``), Python's state (``guards``, ``reach``, ``kinds``), arguments
  (``signature``)
- what it leaves: assignments to attributes and variables (``effect_log``), stored later (``side_effects``)
"""
