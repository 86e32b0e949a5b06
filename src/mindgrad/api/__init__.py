"""Public transforms: ``grad``, ``jvp``, ``vjp``, ``vmap``, ``jit``, and others."""
