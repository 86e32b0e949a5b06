"""Graph to graph: one law per file. Transforms never see Python functions or tensors."""
