"""The frontend: convert and trace Python functions, and follow Python state.

Terms of this package:

- A *symbol* is a tensor or number without a value. It represents a variable of a graph, like a tracer in JAX.
  A value is *known* if it is available at compile time, and *symbolic* otherwise.
- A *converted* function has rewritten source, in which calls of the *runtime* replace ``if``, loops, and
  other statements. All other functions are *unconverted*.
- A *body* is the code of one branch of an ``if``, or of one iteration of a loop, that is traced to a separate
  graph.
- A *location* (class ``Place``) is an attribute or variable that code can assign.
- A *guard* is a check before each call of a compiled function. It compares one value that the trace has read,
  such as a global variable, with the present value. If they differ, the function is traced again.
- An object *from outside* existed before the trace began.
- A *Cell* is a neural network module, as in MindSpore. A *Parameter* is a tensor that functions can assign.

Modules:

- ``python`` rewrites the source of a function. ``source`` finds its syntax tree, and ``unsupported`` rejects
  constructs that cannot be compiled. The passes ``recursion``, ``loop_exits``, ``jumps``, ``liveness``,
  ``expressions``, and ``rewrite`` change the tree. ``convert`` compiles the tree to a function object.
- ``control`` is the runtime (``runtime``, ``exceptions``). It traces ``branches`` and ``loops``. ``traced``
  traces each body, with the ``variables`` that the body assigns. ``builtins`` and ``printing`` contain
  replacements of Python functions.
- ``tracing`` traces a complete call. ``user_calls`` calls the user's functions, and ``mutation_policy``
  restricts the objects that they may change.
- A trace records its reads of Python state (``state``, ``guards``, ``reach``, ``contents``), and the types of
  the arguments (``signature``).
- A trace also records the attributes and variables that it assigns (``effect_log``). Every run of the
  compiled function repeats these assignments (``side_effects``).
"""
