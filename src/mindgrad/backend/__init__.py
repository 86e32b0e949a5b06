"""Back ends run graphs. ``xla`` is the only room that imports jax, and only when it is used."""
