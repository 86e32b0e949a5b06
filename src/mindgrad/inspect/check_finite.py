"""``check_finite``: assertion that a tensor contains neither NaN nor infinity."""

from __future__ import annotations

import numpy as np

from mindgrad._base.checks import of_type
from mindgrad.api.arguments import explains_keywords
from mindgrad.core.base.location import user_frame
from mindgrad.core.base.refusal import SourceLocation, located_text, location_of
from mindgrad.core.control.debug_print import show
from mindgrad.core.ir.graph import is_finite
from mindgrad.core.ir.scope import GraphScope, innermost, lifted
from mindgrad.core.ir.tensor import Tensor

__all__ = ["check_finite"]


@explains_keywords
def check_finite(x: Tensor, message: str = "") -> Tensor:
    """Return ``x`` unchanged, and raise an error if an element is NaN or infinite.

    Args:
        x (Tensor): tensor of any shape and dtype.
        message (str, optional): start of the error message, such as the name of the value. Default: ``""``.

    Returns:
        Tensor: ``x`` unchanged. ``check_finite`` is differentiated like the identity.

    Raises:
        FloatingPointError: If an element of ``x`` is NaN or infinite. A compiled function raises the error
            after it has run.
        TypeError: If ``x`` is not a Tensor, or ``message`` is not a string.

    >>> import mindgrad as ms
    >>> print(ms.check_finite(ms.Tensor([1.0, 2.0]), "the energy"))
    [1. 2.]

    See Also:
        :func:`mindgrad.check_grad`, :func:`mindgrad.set_context`, :func:`mindgrad.ops.isfinite`
    """
    of_type(x, Tensor, "check_finite", "x")
    of_type(message, str, "check_finite", "message")
    if not x.dtype.is_inexact:
        return x
    location = location_of(user_frame())
    scope = innermost()
    if not isinstance(scope, GraphScope):
        _look(x.host_array(), message, location)
        return x

    def look(array: np.ndarray) -> None:
        _look(array, message, location)

    scope.record(show, [lifted(x)], {"function": look})
    return x


def _look(array: np.ndarray, message: str, location: SourceLocation) -> None:
    if is_finite(array):
        return
    index = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
    reason = f"{message or 'check_finite'}: {array[index]}" + f" at {list(index)}" * bool(index)
    raise FloatingPointError(located_text(reason, "", location))
