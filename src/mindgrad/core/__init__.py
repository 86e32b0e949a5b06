"""The heart: types, the graph, its builder, and tensors. It names no operator."""
