"""Differentiable solvers: linear systems, roots, fixed points, minima, and ODEs."""
