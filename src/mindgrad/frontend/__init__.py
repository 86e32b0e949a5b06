"""The front end rewrites the source of user functions, runs it with symbolic tensors, and records graphs.

a function      source (its syntax tree) → fence (what is refused at once) → recursion, exits, jumps,
                liveness, expressions, rewrite (with names, nodes) → convert (a function object again)
running it      entry → flow (what rewritten code calls; with truth, exceptions) → branches, loops (with
                traced, variables); builtins, comprehensions, printing; ownership (what may change)
what a body changes  snapshots (with reach, kinds) of Python's state; aliases (names of one tensor); texts
what it used    state (Parameters) and dependencies, contents, signature (what selects a program)
what it leaves  assigned (attributes and variables, while tracing) → outcome (inputs, outputs, stored)
"""
