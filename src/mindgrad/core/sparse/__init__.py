"""Sparse derivatives: sparsity patterns, colorings, and recovery of entries."""
