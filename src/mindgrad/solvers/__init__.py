"""Solvers with implicit derivatives: linear systems, roots, fixed points, ordinary differential equations."""
