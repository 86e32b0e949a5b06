"""Curvature matrices with one diagonal block for each weight.

All functions of the matrix follow from the eigendecompositions of its blocks
(``curvature.kronecker_blocks``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from mindgrad.curvature.kronecker_blocks import Block, KroneckerBlock
from mindgrad.curvature.operator import CurvatureOperator
from mindgrad.curvature.outer_products import Sides
from mindgrad.curvature.weight_space import WeightSpace

__all__ = ["BlockDiagonalOperator", "WeightPlan"]


class WeightPlan(NamedTuple):
    """How the block of one weight is computed.

    Attributes:
        block: ``"Kronecker"``, ``"dense"``, or ``"diagonal"``.
        sides: the axes of both factors.
        terms: for each equation, the number of outer products that its factors sum.
        sources: descriptions of the equations.
        reason: why the block is not a Kronecker product, or ``""``.
    """

    block: str
    sides: Sides
    terms: tuple[int, ...]
    sources: tuple[str, ...]
    reason: str


class BlockDiagonalOperator(CurvatureOperator):
    """A curvature matrix with one diagonal block for each weight.

    :func:`kfac` and :func:`ekfac` create these operators.

    Args:
        space (WeightSpace): the space of the weights.
        blocks (list[Block]): the block of each weight.
        plans (list[WeightPlan]): how each block was computed.
        memory (int): number of bytes that dense matrices may use.

    Attributes:
        blocks (list[Block]): the block of each weight, in the order of the flat vector.

    Raises:
        ValueError: If ``memory`` is not a positive integer.

    Examples:
        >>> import mindgrad as ms
        >>> w = ms.Tensor([[1.0, 0.5], [0.0, 1.0]])
        >>> x = ms.Tensor([[1.0, 0.0], [0.0, 2.0]])
        >>> A = ms.curvature.kfac(lambda w, x: x @ w, w, x, dense_size=0)
        >>> print(A.shape, A.diagonal(), A.trace())
        (4, 4) [1. 1. 4. 4.] 10.0
        >>> print(A.blocks[0].left[0])
        [[0.5 0. ]
         [0.  2. ]]
        >>> print(f"{A.log_determinant(damping=1.0):.4f}")
        4.6052

    See Also:
        :func:`mindgrad.curvature.kfac`, :func:`mindgrad.curvature.ekfac`
    """

    def __init__(
        self, space: WeightSpace, blocks: Sequence[Block], plans: Sequence[WeightPlan], memory: int
    ) -> None:
        super().__init__(space, memory=memory)
        self._leaves = space.leaves
        self.blocks = list(blocks)
        self._plans = list(plans)

    @cached_property
    def _ends(self) -> np.ndarray:
        return np.cumsum([block.size for block in self.blocks])[:-1]

    def _by_block(self, x: np.ndarray, function: Callable[[Block, np.ndarray], np.ndarray]) -> np.ndarray:
        columns = x.reshape(len(x), -1)
        parts = np.split(columns, self._ends)
        results = [function(block, part) for block, part in zip(self.blocks, parts, strict=True)]
        return np.concatenate(results).astype(self.dtype, copy=False).reshape(x.shape)

    def _matvec(self, vector: np.ndarray) -> np.ndarray:
        return self._by_block(vector, lambda block, x: block.matmul(x))

    def _matmat(self, x: np.ndarray) -> np.ndarray:
        return self._matvec(x)

    def diagonal(self) -> np.ndarray:
        """Return the diagonal as a flat vector."""
        return np.concatenate([block.diagonal() for block in self.blocks]).astype(self.dtype, copy=False)

    def solve(
        self,
        b: Any,
        damping: float = 0.0,
        rtol: float | None = None,
        maxiter: int | None = None,
        factored: bool = False,
    ) -> Any:
        """Return the solution x of ``(A + damping I) x = b``.

        The solution uses the eigendecompositions of the factors.

        Args:
            b (numpy.ndarray or container): flat vector, or a container with the structure of the weights.
            damping (float, optional): nonnegative number that is added to the diagonal. Default: ``0.0``.
            rtol, maxiter: accepted for compatibility with other operators, and ignored, because the solution
                is direct.
            factored (bool, optional): whether to add the damping to both factors of a Kronecker product
                instead (Martens and Grosse, 2015, section 6.3). Default: ``False``.

        Returns:
            The solution, as a flat vector or in the structure of the weights, like ``b``.

        Raises:
            ValueError: If ``damping`` is negative or not finite, or ``b`` has a wrong shape.
            TypeError: If the structure of ``b`` differs from the structure of the weights.
            numpy.linalg.LinAlgError: If the damped matrix is singular.
        """
        return self._power(b, damping, -1.0, factored)

    def inverse_root(self, b: Any, damping: float = 0.0) -> Any:
        """Return ``(A + damping I)^(−1/2) b``.

        With normal numbers b, the result is a sample of a Gaussian with precision ``A + damping I``.

        Args:
            b (numpy.ndarray or container): flat vector, or a container with the structure of the weights.
            damping (float, optional): nonnegative number that is added to the diagonal. Default: ``0.0``.

        Returns:
            The product, as a flat vector or in the structure of the weights, like ``b``.

        Raises:
            ValueError: If ``damping`` is negative or not finite, or ``b`` has a wrong shape.
            numpy.linalg.LinAlgError: If the damped matrix is singular.
        """
        return self._power(b, damping, -0.5, False)

    def _power(self, b: Any, damping: float, power: float, factored: bool) -> Any:
        is_flat = isinstance(b, np.ndarray)
        vector = self._real(b if is_flat else self.space.vector(b, "b"))
        if vector.shape != (self.shape[0],):
            raise self._wrong_shape(vector)
        spectra = self._spectra(damping, factored)
        values = {id(block): spectrum**power for block, spectrum in zip(self.blocks, spectra, strict=True)}
        x = self._by_block(vector, lambda block, part: block.function(part, values[id(block)]))
        return x if is_flat else self.space.tree(x)

    def _spectra(self, damping: float, factored: bool = False) -> list[np.ndarray]:
        is_number = isinstance(damping, (int, float, np.number)) and not isinstance(damping, bool)
        if not is_number or not 0 <= damping < np.inf:
            raise ValueError(
                f"For '{self.space.owner}', 'damping' must be a finite nonnegative number, but is "
                f"{damping!r}."
            )
        spectra = [block.damped(damping, factored) for block in self.blocks]
        precision = np.finfo(self.dtype).eps
        if any(x.size and not x.min() > precision * x.max() for x in spectra):
            raise self._singular(damping)
        return spectra

    def log_determinant(self, damping: float = 0.0) -> float:
        """Return the logarithm of the determinant of ``A + damping I``.

        Args:
            damping (float, optional): nonnegative number that is added to the diagonal. Default: ``0.0``.

        Returns:
            float

        Raises:
            ValueError: If ``damping`` is negative or not finite.
            numpy.linalg.LinAlgError: If the damped matrix is singular.
        """
        return float(sum(np.log(x).sum(dtype=np.float64) for x in self._spectra(damping)))

    def explain(self) -> str:
        """Return a description of the block of each weight, with its equations."""
        lines = [
            f"{self.space.owner}: block-diagonal matrix of {self.shape[0]} x {self.shape[1]}, {self.dtype}"
        ]
        for k, (leaf, block, plan) in enumerate(zip(self._leaves, self.blocks, self._plans, strict=True)):
            name = getattr(leaf, "name", None) if getattr(leaf, "is_parameter", False) else f"weight {k}"
            if isinstance(block, KroneckerBlock):
                count, left, right = block.shape
                several = f"{count} blocks of " if count > 1 else ""
                kind = f"{several}{left} x {left} ⊗ {right} x {right}"
            else:
                kind = f"{plan.block}, {block.size} elements"
            lines.append(f"{name} {tuple(leaf.shape)}: {kind}" + (f" ({plan.reason})" if plan.reason else ""))
            lines += [f"    {source}" for source in dict.fromkeys(plan.sources)]
        return "\n".join(lines)
