"""Functions that differentiate, batch, and compile Python functions of tensors."""
