"""Sparse derivatives: patterns of Jacobians, colorings, and the recovery of entries from products."""
