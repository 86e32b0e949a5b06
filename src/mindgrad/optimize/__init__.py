"""The compiler chooses: rewrites of whole graphs, one idea a file, and the order in which they run."""
