"""Higher-order rows: operators that hold programs, each with all its rules."""
