"""Curvature of programs: Hessian, Gauss–Newton, and Fisher matrices."""
