"""Initializers of constants and special matrices, and the base class Initializer.

Random initializers draw from NumPy's global generator, which ``mindgrad.set_seed`` and ``numpy.random.seed``
seed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from mindgrad.core.base.refusal import refuse
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.trace import references

__all__ = ["Constant", "Dirac", "Identity", "Initializer", "One", "Orthogonal", "Sparse", "Zero"]

#: name of an initializer in lower case, without underscores -> its class
_NAMED: dict[str, type[Initializer]] = {}


def _register(*aliases: str) -> Callable[[type[Initializer]], type[Initializer]]:
    """Register the decorated class for ``initializer``, also under ``aliases``."""

    def register(kind: type[Initializer]) -> type[Initializer]:
        for name in (kind.__name__, *aliases):
            _NAMED[_plain(name)] = kind
        return kind

    return register


def _plain(name: str) -> str:
    return name.lower().replace("_", "")


def named(name: str) -> type[Initializer] | None:
    """Return the initializer class with this name, ignoring case and underscores."""
    return _NAMED.get(_plain(name))


def names() -> list[str]:
    """List the names of all initializers as users write them: ``xavier_uniform``."""
    return sorted({re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.__name__).lower() for kind in _NAMED.values()})


def _assignment(arr: np.ndarray, num: Any) -> None:
    """Fill ``arr`` with a number, or with an array of the same shape."""
    arr[...] = num


def _number(owner: str, name: str, value: Any) -> float:
    """Convert a number, or a tensor or array with one element, to a float."""
    if isinstance(value, (Tensor, np.ndarray)) and value.size == 1:
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"For '{owner}', the '{name}' must be a number, but got {value!r}.")
    return float(value)


def _generator() -> Any:
    """Return NumPy's global generator, and raise an error during compilation."""
    if references.is_compiling():
        refuse(
            "Random initial values are requested inside a compiled function. They would be drawn once, at "
            "compile time, and be the same in every call",
            "Create Parameters and Cells in '__init__', or draw numbers with ops.standard_normal or "
            "ops.uniform.",
        )
    return np.random


class Initializer:
    """Base class of initializers, which create the initial values of Parameters.

    A subclass defines ``_initialize(self, arr)``, which fills a NumPy array in place.

    >>> import mindgrad as ms
    >>> from mindgrad.common.initializer import Initializer, initializer
    >>> class Ramp(Initializer):
    ...     def _initialize(self, arr):
    ...         arr[...] = range(arr.size)
    >>> print(initializer(Ramp(), (3,)))
    [0. 1. 2.]
    """

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = kwargs

    def _initialize(self, arr: np.ndarray) -> None:
        """Fill ``arr`` in place."""
        raise NotImplementedError(f"'{type(self).__name__}' must define '_initialize(self, arr)'.")

    def __call__(self, arr: np.ndarray) -> None:
        """Fill the NumPy array ``arr`` in place."""
        self._initialize(arr)

    def __repr__(self) -> str:
        given = ", ".join(f"{k}={v!r}" for k, v in getattr(self, "_kwargs", {}).items())
        return f"{type(self).__name__}({given})"


@_register("zeros")
class Zero(Initializer):
    """Initializer that fills a tensor with zeros.

    >>> from mindgrad.common.initializer import Zero, initializer
    >>> print(initializer(Zero(), (2,)))
    [0. 0.]
    """

    def _initialize(self, arr: np.ndarray) -> None:
        _assignment(arr, 0)


@_register("ones")
class One(Initializer):
    """Initializer that fills a tensor with ones.

    >>> from mindgrad.common.initializer import One, initializer
    >>> print(initializer(One(), (2,)))
    [1. 1.]
    """

    def _initialize(self, arr: np.ndarray) -> None:
        _assignment(arr, 1)


@_register()
class Constant(Initializer):
    """Initializer that fills a tensor with a constant.

    Args:
        value (number or array): value of all elements, or an array of values with the shape of the tensor.

    >>> from mindgrad.common.initializer import Constant, initializer
    >>> print(initializer(Constant(3), (2,)))
    [3. 3.]
    """

    def __init__(self, value: Any) -> None:
        super().__init__(value=value)
        self.value = value

    def _initialize(self, arr: np.ndarray) -> None:
        _assignment(arr, self.value)


@_register()
class Identity(Initializer):
    """Initializer that creates an identity matrix.

    Raises:
        ValueError: If the shape of the tensor to initialize does not have two axes.

    >>> from mindgrad.common.initializer import Identity, initializer
    >>> print(initializer(Identity(), (2, 3)))
    [[1. 0. 0.]
     [0. 1. 0.]]
    """

    def _initialize(self, arr: np.ndarray) -> None:
        if arr.ndim != 2:
            raise ValueError(
                f"For 'Identity', the initialized array must have two axes, but its shape is {arr.shape}."
            )
        _assignment(arr, np.eye(*arr.shape))


@_register()
class Dirac(Initializer):
    """Initializer of the kernel of a convolution that returns its input unchanged.

    The kernel is 1 at its center for equal input and output channels, and 0 elsewhere.

    Args:
        groups (int, optional): number of groups of channels. Default: ``1``.

    Raises:
        ValueError: If the shape of the tensor to initialize does not have 3, 4, or 5 axes, or ``groups`` is
            not positive or does not divide the number of output channels.

    >>> from mindgrad.common.initializer import Dirac, initializer
    >>> print(initializer(Dirac(), (2, 2, 1))[:, :, 0])
    [[1. 0.]
     [0. 1.]]
    """

    def __init__(self, groups: int = 1) -> None:
        super().__init__(groups=groups)
        if isinstance(groups, bool) or not isinstance(groups, int):
            raise TypeError(f"For 'Dirac', the 'groups' must be an int, but got {groups!r}.")
        if groups < 1:
            raise ValueError(f"For 'Dirac', the 'groups' must be at least 1, but got {groups}.")
        self.groups = groups

    def _initialize(self, arr: np.ndarray) -> None:
        if arr.ndim not in (3, 4, 5):
            raise ValueError(
                f"For 'Dirac', the initialized array must have 3, 4 or 5 axes, but its shape is {arr.shape}."
            )
        if arr.shape[0] % self.groups:
            raise ValueError(
                f"For 'Dirac', the 'groups' {self.groups} must divide the number of output channels, but "
                f"the shape is {arr.shape}."
            )
        _assignment(arr, 0)
        per_group = arr.shape[0] // self.groups
        middle = tuple(size // 2 for size in arr.shape[2:])
        for group in range(self.groups):
            for channel in range(min(per_group, arr.shape[1])):
                arr[(group * per_group + channel, channel, *middle)] = 1


@_register()
class Orthogonal(Initializer):
    """Initializer that creates a random matrix with orthonormal rows or columns.

    The matrix is multiplied by ``gain``. For a tensor with more than two axes, all axes after the first are
    flattened to columns. The matrix is uniformly distributed: it is the factor Q of the QR factorization of a
    normal random matrix, with the signs that make the diagonal of R positive (F. Mezzadri, *How to generate
    random matrices from the classical compact groups*, 2007). Its use in networks is described by A. Saxe et
    al., *Exact solutions to the nonlinear dynamics of learning in deep linear neural networks* (2014).

    Args:
        gain (float, optional): factor of the orthonormal matrix. Default: ``1.0``.

    Raises:
        ValueError: If the shape of the tensor to initialize has fewer than two axes.

    >>> import mindgrad as ms
    >>> from mindgrad.common.initializer import Orthogonal, initializer
    >>> q = initializer(Orthogonal(), (2, 3))
    >>> print((abs(q @ q.T - ms.ops.eye(2)) < 1e-5).all())
    True
    """

    def __init__(self, gain: float = 1.0) -> None:
        super().__init__(gain=gain)
        self.gain = _number("Orthogonal", "gain", gain)

    def _initialize(self, arr: np.ndarray) -> None:
        if arr.ndim < 2:
            raise ValueError(
                "For 'Orthogonal', the initialized array must have at least two axes, but its shape is "
                f"{arr.shape}."
            )
        if not arr.size:
            return
        rows, columns = arr.shape[0], math.prod(arr.shape[1:])
        q, r = np.linalg.qr(_generator().normal(size=(max(rows, columns), min(rows, columns))))
        q = q * np.where(np.diag(r) < 0, -1.0, 1.0)
        _assignment(arr, self.gain * (q.T if rows < columns else q).reshape(arr.shape))


@_register()
class Sparse(Initializer):
    """Initializer that draws normal random numbers, and sets random elements to zero.

    The method is described by J. Martens, *Deep learning via Hessian-free optimization* (2010), section 5.

    Args:
        sparsity (float): fraction of zeros in each column, between 0 and 1. The number of zeros is rounded
            up.
        sigma (float, optional): standard deviation of the nonzero elements. Default: ``0.01``.

    Raises:
        ValueError: If ``sparsity`` is not between 0 and 1, or the shape of the tensor to initialize does not
            have two axes.

    >>> from mindgrad.common.initializer import Sparse, initializer
    >>> print((initializer(Sparse(0.5), (4, 3)) == 0).sum(0))
    [2 2 2]
    """

    def __init__(self, sparsity: float, sigma: float = 0.01) -> None:
        super().__init__(sparsity=sparsity, sigma=sigma)
        self.sparsity = _number("Sparse", "sparsity", sparsity)
        self.sigma = _number("Sparse", "sigma", sigma)
        if not 0 <= self.sparsity <= 1:
            raise ValueError(f"For 'Sparse', the 'sparsity' must be between 0 and 1, but got {sparsity}.")

    def _initialize(self, arr: np.ndarray) -> None:
        if arr.ndim != 2:
            raise ValueError(
                f"For 'Sparse', the initialized array must have two axes, but its shape is {arr.shape}."
            )
        generator = _generator()
        values = generator.normal(0, self.sigma, arr.shape)
        count = math.ceil(self.sparsity * arr.shape[0])
        for column in values.T:
            column[generator.permutation(arr.shape[0])[:count]] = 0
        _assignment(arr, values)
