"""Eager mode: repeated calls are recorded, compared, and compiled.

``eager.tiers`` decides which calls are compiled. ``docs/eager_engine.md`` explains the terms of this package:

- A *call* is one call of a user function in PYNATIVE_MODE, from its start to its return.
- An *event* is one operator, or one step of a derivative, that the call applies.
- The *structure* of a call is the list of its events, without the values of its inputs.
- A *deferred* call follows the structure of an earlier call, and computes its values later, often in one
  compiled function.
- A *pending* array belongs to a deferred call and is not computed yet.
- A *recording* is the list of operators that a differentiated function applies.
"""
