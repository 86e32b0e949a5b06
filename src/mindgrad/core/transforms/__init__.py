"""Graph transformations, one per module: differentiation, batching, Taylor series.

Each transformation maps a graph to a graph; none of them handles Python functions or tensors.
"""
