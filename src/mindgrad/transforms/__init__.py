"""Graph transformations, one per module: differentiation, batching, Taylor series.

They transform graphs to graphs and never handle Python functions or tensors.
"""
