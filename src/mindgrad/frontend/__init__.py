"""The front end rewrites the source of user functions, runs it with symbolic tensors, and records graphs.

a function      source (its syntax tree) → unsupported (what is refused at once) → recursion,
                loop_exits, jumps, liveness, expressions, rewrite (with bindings, ast_helpers) → convert
running it      user_calls → runtime (what rewritten code calls; with predicates, exceptions) → branches,
                loops (with traced, variables); builtins, comprehensions, printing; mutation_policy
its state       snapshots (with reach, kinds) of Python's state; aliases (names of one tensor); texts
its inputs      state (Parameters) and guards, state_equality, signature (what selects a program)
side effects    effect_log (assignments, while tracing) → side_effects (inputs, outputs, stored values)
"""
