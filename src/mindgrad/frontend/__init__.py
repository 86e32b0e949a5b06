"""The frontend: convert Python functions before they are traced, and follow the Python state they use."""
