"""Sparse derivatives: patterns of Jacobians, colourings, and the recovery of entries from products."""
