"""Graph rewrites optimise whole programs, one idea a file, in the order of ``pipeline``."""
