"""Curvature of any program: Hessians, Gauss–Newton and Fisher matrices, and Kronecker factors."""
