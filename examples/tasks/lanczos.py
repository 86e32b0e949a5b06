"""Largest eigenvalues of a Hessian by SciPy's Lanczos method, without the matrix.

    python examples/tasks/lanczos.py

A JAX user passes the Hessian-vector product `hvp(energy)(x, v)` to SciPy. SciPy's NumPy vectors are valid
arguments, and SciPy accepts the returned tensors.

Check: the largest eigenvalues agree with the eigenvalues of ``A - 1``, the Hessian at x = 0, to nine digits.
"""

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

import mindgrad as ms

A = np.cov(np.random.default_rng(0).normal(size=(50, 60)))
energy = lambda x: 0.5 * x @ (A @ x) + x.cos().sum()
operator = LinearOperator((50, 50), matvec=lambda v: ms.hvp(energy)(np.zeros(50), v), dtype=np.float64)
print(largest := eigsh(operator, k=3)[0])
assert np.allclose(largest, np.linalg.eigvalsh(A - np.eye(50))[-3:], rtol=1e-9)
