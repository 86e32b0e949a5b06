"""Lanczos on a Hessian that nobody forms: a JAX user gives SciPy the product `hvp(energy)(x, v)`.

    python examples/tasks/lanczos.py

SciPy's vectors are arguments as they are, and it reads what comes back.

Check: the largest eigenvalues are those of ``A - 1``, the Hessian at x = 0, to nine digits.
"""

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

import mindgrad as ms

A = np.cov(np.random.default_rng(0).normal(size=(50, 60)))
energy = lambda x: 0.5 * x @ (A @ x) + x.cos().sum()
operator = LinearOperator((50, 50), matvec=lambda v: ms.hvp(energy)(np.zeros(50), v), dtype=np.float64)
print(largest := eigsh(operator, k=3)[0])
assert np.allclose(largest, np.linalg.eigvalsh(A - np.eye(50))[-3:], rtol=1e-9)
