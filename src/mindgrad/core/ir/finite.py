"""Find the operator that first returns NaN or infinity (``debug_nans``).

In eager mode, the results of every kernel are checked. For a compiled function, only its results are checked.
If one of them is not finite, ``backend.finite_results`` evaluates the function again, equation by equation.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from mindgrad.core.base.location import located_source, user_frame
from mindgrad.core.base.refusal import SourceLocation, hints, located_text, location_of
from mindgrad.core.ir.graph import DerivativeOf, is_finite
from mindgrad.core.ir.rules import Array, Results, Source, Statics, Stored
from mindgrad.core.ir.types import type_of

if TYPE_CHECKING:
    from mindgrad.core.ir.primitive import Primitive

__all__ = ["check_kernel", "first_fault", "refuse_fault"]


def first_fault(operands: Sequence[Stored], results: Sequence[Stored], parameters: Statics) -> Array | None:
    """Return the first result with an unexpected infinity or NaN, or ``None``.

    If all operands are finite, every infinity or NaN is unexpected. If an operand is infinite, only NaN is
    unexpected, for example from a difference of infinities or a product of zero and infinity. An infinite
    result is allowed in this case because masks use −∞. If an operand is NaN, an earlier operator has
    returned it. An operator without operands, or with an infinite parameter (padding with −∞), may return
    infinities.
    """
    for faulty in results:
        if type(faulty) is not np.ndarray:
            faulty = np.asarray(faulty)
        if not is_finite(faulty):
            break
    else:
        return None
    if not operands:
        return None
    arrays = [np.asarray(x) for x in operands]
    if not all(map(is_finite, arrays)):
        return None if any(map(_has_nan, arrays)) else next(filter(_has_nan, map(np.asarray, results)), None)
    numbers = [float(x) for x in parameters.values() if isinstance(x, (float, np.floating))]
    return faulty if all(map(isfinite, numbers)) else None


def _has_nan(array: Array) -> bool:
    return array.dtype.kind in "fcV" and bool(np.isnan(array).any())


def check_kernel(
    primitive: Primitive, operands: Sequence[Stored], results: Results, parameters: Statics
) -> None:
    """Check the results of an eager kernel.

    Raises:
        FloatingPointError: If :func:`first_fault` finds an unexpected infinity or NaN.
    """
    listed = results if primitive.multiple else (results,)
    faulty = first_fault(operands, listed, parameters)
    if faulty is not None:
        source = located_source()
        location = location_of(user_frame()) if source is None else source[0]
        refuse_fault(primitive.name, operands, faulty, location)


def refuse_fault(name: str, operands: Sequence[Stored], faulty: Array, source: Source) -> NoReturn:
    """Raise the error for a result that is not finite.

    Args:
        name: name of the operator that returned the result.
        operands: operands of the operator.
        faulty: the result that contains NaN or infinity.
        source: line of user code, as the source of an equation or a ``SourceLocation``; ``None`` if the
            line is not known.

    Raises:
        FloatingPointError: always.
    """
    is_spread = not all(is_finite(np.asarray(x)) for x in operands)
    is_bad = np.isnan(faulty) if is_spread else ~np.isfinite(faulty)
    index = tuple(int(i) for i in np.argwhere(is_bad)[0]) if faulty.ndim else ()
    at = f" at {list(index)}" if index else ""
    ranges = ", ".join(_range(np.asarray(x)) for x in operands)
    before = "infinite" if is_spread else "finite"
    reason = f"the operator '{name}' returned {faulty[index]}{at} from {before} operands: {ranges}"
    if isinstance(source, DerivativeOf):
        reason = f"in a derivative of the line below, {reason}"
    if source is None:
        raise FloatingPointError(f"{reason} (debug_nans; the line is not known)")
    location = source if isinstance(source, SourceLocation) else SourceLocation(*source)
    instead = (
        "keep the operands in the domain where the operator is finite, or allow the result by "
        f"MINDGRAD_DEBUG_NANS=0.{hints['NaN']}"
    )
    if is_spread:
        instead = f"the difference of infinities, and zero times infinity, is NaN: {instead}"
    raise FloatingPointError(located_text(reason, instead, location))


def _range(operand: Array) -> str:
    if not operand.size or operand.dtype.kind == "c":
        return str(type_of(operand))
    return f"{type_of(operand)} from {operand.min()} to {operand.max()}"
