"""Lanczos on a Hessian that nobody forms: a JAX user gives SciPy the product `hvp(energy)(x, v)`.

    python examples/tasks/lanczos.py

A chain of masses whose springs are stiff when stretched and soft when compressed: an `if` under `vmap`.

Check: the largest eigenvalues are those of the dense tridiagonal matrix, to nine digits.
"""

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

import mindgrad as ms

spring = lambda d: 2.0 * d * d if d > 0 else 0.5 * d * d
energy = lambda x: ms.vmap(spring)(x[1:] - x[:-1]).sum()
product = ms.jit(ms.hvp(energy))
x = np.random.default_rng(0).normal(size=60)
operator = LinearOperator((60, 60), matvec=lambda v: product(x, v.reshape(60)).asnumpy(), dtype=np.float64)
largest = eigsh(operator, k=3, v0=np.ones(60) + x)[0]
differences = np.diff(np.eye(60), axis=0)
dense = differences.T @ np.diag(np.where(np.diff(x) > 0, 4.0, 1.0)) @ differences
print("largest eigenvalues:", largest)
assert np.allclose(largest, np.linalg.eigvalsh(dense)[-3:], rtol=1e-9)
