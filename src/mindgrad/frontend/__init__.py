"""Python to graph: how a program is traced, and the state that it reads and writes."""
