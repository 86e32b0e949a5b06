"""Source-to-source rewriting: check and rewrite the syntax tree of a function."""
