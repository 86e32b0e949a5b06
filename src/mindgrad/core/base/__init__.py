"""Trees, source locations, messages, and other parts that all packages of the core share."""
