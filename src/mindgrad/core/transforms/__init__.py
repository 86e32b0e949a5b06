"""Graph transformations, one per module: differentiation, batching, Taylor series.

Each maps a graph to a graph. None of them handles Python functions or tensors.
"""
