"""``run_check``: an installation test that computes a product and its gradient."""

import sys
from typing import Any

from mindgrad.api.gradient import grad
from mindgrad.api.jit import jit
from mindgrad.context import get_context
from mindgrad.core.ir.tensor import Tensor

__all__ = ["run_check"]


def run_check() -> None:
    """Check the installation: compute a product and a gradient, eager and compiled.

    Returns:
        Nothing. The function prints the versions and the result of the check.

    Raises:
        RuntimeError: If the product or its gradient is wrong.

    >>> import mindgrad as ms
    >>> ms.run_check()  # doctest: +ELLIPSIS
    mindgrad version: ...
    The product and its gradient are correct in eager and compiled mode on platform [CPU].

    See Also:
        :func:`mindgrad.install`, :func:`mindgrad.get_context`
    """

    def product(x: Tensor, y: Tensor) -> Tensor:
        return x * y  # type: ignore[operator]

    x, y = Tensor([2.0, 3.0]), Tensor([5.0, 7.0])
    for name, eager, compiled in (
        ("product", product(x, y), jit(product)(x, y)),
        ("gradient", grad(product)(x, y), jit(grad(product))(x, y)),
    ):
        right = [10.0, 21.0] if name == "product" else [5.0, 7.0]
        if eager.numpy().tolist() != right or compiled.numpy().tolist() != right:
            raise RuntimeError(f"For 'run_check', the {name} is wrong: eager {eager}, compiled {compiled}.")
    package: Any = sys.modules["mindgrad"]
    own, other = package._OWN_VERSION, package.__version__
    stands_for = "" if own == other else f" (as MindSpore {other})"
    print(f"mindgrad version: {own}{stands_for}")  # noqa: T201 - the output of the function
    platform = get_context("device_target")
    print(f"The product and its gradient are correct in eager and compiled mode on platform [{platform}].")  # noqa: T201
