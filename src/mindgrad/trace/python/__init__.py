"""Source-to-source rewriting: the syntax tree of a user's function is checked, analysed and rewritten."""
