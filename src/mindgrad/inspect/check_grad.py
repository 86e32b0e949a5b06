"""``check_grad``: comparison of derivatives in both modes with finite differences.

    (J d)_j  and  (Jᵀ e_j) · d    against    d/dh f_j(x + h d)  at h = 0

The directions d are the unit vectors of an argument, and e_j the unit vectors of the results. If an argument
or the results have too many entries, random directions replace the unit vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from mindgrad._base.progress import Progress
from mindgrad.api.arguments import check_callable, explains_keywords
from mindgrad.core.ir.dtype import complex128, float64
from mindgrad.core.ir.tensor import Tensor
from mindgrad.frontend.programs.array_arguments import with_tensors
from mindgrad.inspect.checked_function import CheckedFunction, Leaf, quiet
from mindgrad.inspect.finite_difference import Differences, complex_step, differences, power_of_two
from mindgrad.inspect.gradient_check import Comparison, GradientCheck
from mindgrad.inspect.verdicts import Slopes, Verdicts

__all__ = ["check_grad"]

_MODES = ("forward", "reverse")
#: maximum difference between the complex-step slope and the central difference, as a fraction of the largest
#: slope. Above it, ``fn`` counts as not analytic, and the central difference is used
_ANALYTIC = 1e-5


@explains_keywords
def check_grad(
    fn: Callable[..., Any],
    args: Any,
    order: int = 1,
    modes: Sequence[str] = _MODES,
    *,
    weights: Any = None,
    tolerance: float | None = None,
    max_entries: int = 64,
    directions: int = 8,
    seed: int = 0,
    raise_exception: bool = False,
) -> GradientCheck:
    """Compare the derivatives of ``fn`` with central differences of its values.

    Derivatives are computed in the dtypes of the arguments. The differences are computed in float64 if ``fn``
    supports it, and by the complex step if ``fn`` is analytic. Parameters keep their values.

    Args:
        fn (Callable or Cell): deterministic function with real floating-point results of any shape.
        args (Tensor, float, container, tuple, or list): argument of ``fn``, or a tuple or list of its
            arguments: Tensors, floats, and containers of these. Integers, bools, and strings are constants.
        order (int, optional): 1 to check the derivatives of ``fn``; 2 to also check the derivatives of its
            gradient. Default: ``1``.
        modes (tuple or list of str, optional): differentiation modes to check.
            Default: ``("forward", "reverse")``.
        weights (ParameterTuple, list, tuple, or Parameter, optional): Parameters to check, too. ``None``: the
            trainable Parameters of a Cell. Default: ``None``.
        tolerance (float, optional): allowed error of a derivative, divided by the largest slope with respect
            to the same argument. ``None``: 1e-6 for derivatives in float64, 1e-3 in float32, and 5e-2 in
            shorter dtypes. Default: ``None``.
        max_entries (int, optional): an argument or result with at most this many elements is checked element
            by element. Larger ones are checked along random directions. Default: ``64``.
        directions (int, optional): number of random directions for each large argument or result. Default:
            ``8``.
        seed (int, optional): seed of the random directions. Default: ``0``.
        raise_exception (bool, optional): whether a wrong derivative raises ``AssertionError``. Default:
            ``False``.

    Returns:
        GradientCheck: result with the attributes ``ok`` (bool) and ``rows``, and the method ``plot(path)``.
        ``print`` shows the result as a table.

    Raises:
        AssertionError: If ``raise_exception`` is set and a derivative is wrong or cannot be decided. The
            message contains the table.
        TypeError: If ``fn`` is not callable, a result is complex, or no result is floating-point.
        ValueError: If ``order``, ``modes``, or a numeric argument is out of range, ``fn`` returns different
            or non-finite results when it is called again, or no argument is differentiable.

    >>> import mindgrad as ms
    >>> x = ms.Tensor([0.5, 2.0])
    >>> ms.check_grad(lambda x: ms.ops.sin(x) * x, x, order=2).ok
    True

    See Also:
        :func:`mindgrad.check_finite`, :func:`mindgrad.grad`, :func:`mindgrad.explain`
    """
    check_callable("check_grad", fn)
    _check_options(order, modes, max_entries, directions, tolerance)
    args = with_tensors(args)
    listed = tuple(args) if isinstance(args, (tuple, list)) else (args,)
    rows: list[Comparison] = []
    precision = ""
    with Progress("checking derivatives of", "checked derivatives of", fn) as progress:
        for current in range(1, order + 1):
            checked = CheckedFunction(fn, listed, weights, current, seed)
            if not checked.variables:
                raise ValueError(
                    "For 'check_grad', nothing can be differentiated: no argument is a floating-point Tensor "
                    "or a float, and there are no Parameters."
                )
            check = _Check(checked, current, tuple(modes), tolerance, max_entries, directions, seed)
            precision = precision or check.precision
            rows += check.rows(progress)
    rows += [_constant(leaf) for leaf in checked.leaves if not leaf.is_active]
    result = GradientCheck(getattr(fn, "__name__", None) or type(fn).__name__, tuple(rows), precision)
    if raise_exception and not result.ok:
        raise AssertionError(str(result))
    return result


def _check_options(
    order: int, modes: Sequence[str], max_entries: int, directions: int, tolerance: float | None
) -> None:
    if not isinstance(order, (int, np.integer)) or isinstance(order, bool) or order not in (1, 2):
        raise ValueError(
            f"For 'check_grad', the 'order' must be 1 or 2, but got {order!r}. Pass several arguments of the "
            "function as one tuple: check_grad(fn, (x, y))."
        )
    if isinstance(modes, str) or not modes or not set(modes) <= set(_MODES):
        raise ValueError(
            f"For 'check_grad', the 'modes' must be a tuple of 'forward' and 'reverse', but got {modes!r}."
        )
    for name, number in (("max_entries", max_entries), ("directions", directions)):
        if not isinstance(number, int) or number < 1:
            raise ValueError(f"For 'check_grad', '{name}' must be a positive int, but got {number!r}.")
    if tolerance is not None and not tolerance > 0:
        raise ValueError(f"For 'check_grad', the 'tolerance' must be positive, but got {tolerance!r}.")


def _constant(leaf: Leaf) -> Comparison:
    reason = "complex: not checked" if leaf.is_tensor and leaf.tensor.dtype.is_inexact else "no derivative"
    return Comparison(leaf.name, leaf.type, 0, "", reason, "constant")


def _epsilon(dtype: Any) -> float:
    return float(ml_dtypes.finfo(dtype.numpy).eps)


def _tolerance(epsilon: float) -> float:
    return 1e-6 if epsilon < 1e-12 else 1e-3 if epsilon < 1e-6 else 5e-2


def _flat(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Concatenate all elements of the results as float64 or complex128."""
    kind = np.complex128 if any(np.iscomplexobj(y) for y in arrays) else np.float64
    return np.concatenate([np.asarray(y).astype(kind).ravel() for y in arrays])


class _Slopes(NamedTuple):
    """Slopes of the results along one direction.

    Attributes:
        central: slopes by central differences.
        exact: slopes by the complex-step method; NaN if it does not apply.
        unit: magnitude of the argument, to which the step sizes are relative.
    """

    central: Differences
    exact: np.ndarray
    unit: float


class _Check:
    """The check of the derivatives of one order.

    Attributes:
        precision: name of the dtype in which differences are computed.
    """

    def __init__(
        self,
        function: CheckedFunction,
        order: int,
        modes: Sequence[str],
        tolerance: float | None,
        max_entries: int,
        directions: int,
        seed: int,
    ) -> None:
        self.function, self.order, self.modes = function, order, modes
        self.tolerance, self.max_entries, self.directions = tolerance, max_entries, directions
        self.random = np.random.default_rng(seed)
        with quiet():
            self.types = function.result_types()
        self.arrays = [np.asarray(x.tensor.asnumpy(), np.float64) for x in function.variables]
        self.dtype, self.base = self._precision()
        if not np.isfinite(self.base).all():
            raise ValueError(
                "For 'check_grad', the function must be finite at the arguments, but a result"
                f"{' of its gradient' * (order == 2)} is NaN or infinite."
            )
        if not np.array_equal(self.base, self._values(self.arrays)):
            raise ValueError(
                "For 'check_grad', the function must return the same results when it is called again, but "
                "it does not. Fix the seed of its random numbers, or turn off dropout with "
                "set_train(False)."
            )
        coarsest = max(
            [_epsilon(leaf.tensor.dtype) for leaf in function.variables]
            + [_epsilon(dtype) for dtype, _ in self.types]
        )
        self.own_epsilon = coarsest
        self.epsilon = _epsilon(float64) if self.dtype is not None else coarsest
        self.precision = "Float64" if self.dtype is not None else str(self.types[0][0])
        self.cotangents, self.is_every_output = self._cotangents()

    def _precision(self) -> tuple[Any, np.ndarray]:
        """Return float64 and the results in float64.

        If ``fn`` does not compute in float64, return ``None`` and the results in their own dtypes.
        """
        try:
            with quiet():
                results = self.function.values(self.arrays, float64)
        except Exception:  # any error means that ``fn`` does not support float64
            results = []
        if results and all(y.dtype == np.float64 for y in results):
            return float64, _flat(results)
        return None, self._results(self.arrays, None)

    def _results(self, arrays: Sequence[np.ndarray], dtype: Any) -> np.ndarray:
        with quiet():
            return _flat(self.function.values(arrays, dtype))

    def _values(self, arrays: Sequence[np.ndarray]) -> np.ndarray:
        return self._results(arrays, self.dtype)

    def _cotangents(self) -> tuple[np.ndarray, bool]:
        """Choose the cotangents of the results for reverse mode.

        Returns a matrix with one cotangent per row, and whether they are all unit vectors. If there are too
        many results, the cotangents are random signs.
        """
        size = len(self.base)
        if size <= self.max_entries:
            return np.eye(size), True
        return self.random.choice([-1.0, 1.0], (self.directions, size)), False

    def rows(self, progress: Progress) -> list[Comparison]:
        """Compare the derivatives with respect to each variable in each mode."""
        pulled = [self._pull(cotangent) for cotangent in self.cotangents] if "reverse" in self.modes else []
        rows = []
        numbers = [x.size if x.size <= self.max_entries else self.directions for x in self.arrays]
        progress.expect(sum(numbers), f"order {self.order}")
        for index, leaf in enumerate(self.function.variables):
            if not numbers[index]:
                continue
            tangents, is_every_entry = self._tangents(self.arrays[index])
            slopes = [self._slopes(index, tangent) for tangent in progress.counted(tangents)]
            if "forward" in self.modes:
                pushed = np.stack([_flat(self.function.push(index, tangent)) for tangent in tangents])
                rows.append(self._compare(leaf, "forward", pushed, slopes, is_every_entry))
            if "reverse" in self.modes:
                gradients = np.stack([gradient[index].ravel() for gradient in pulled])
                # if every entry is checked, the tangents are the rows of an identity matrix. Skip the product
                # with it, because zero times an infinite slope would be NaN
                matrix = gradients.T if is_every_entry else tangents.reshape(len(tangents), -1) @ gradients.T
                rows.append(self._compare(leaf, "reverse", matrix, slopes, is_every_entry))
        return rows

    def _tangents(self, array: np.ndarray) -> tuple[np.ndarray, bool]:
        if array.size <= self.max_entries:
            return np.eye(array.size).reshape(array.size, *array.shape), True
        return self.random.choice([-1.0, 1.0], (self.directions, *array.shape)), False

    def _pull(self, cotangent: np.ndarray) -> list[np.ndarray]:
        sizes = [math.prod(shape) for _, shape in self.types]
        parts = np.split(cotangent, np.cumsum(sizes)[:-1])
        tensors = [
            Tensor(part.reshape(shape), dtype=dtype)
            for part, (dtype, shape) in zip(parts, self.types, strict=True)
        ]
        return [np.asarray(x, np.float64) for x in self.function.pull(tensors)]

    # -- finite differences ----------------------------------------------------------------------

    def _observed(self, results: np.ndarray) -> np.ndarray:
        """Append the products of the results with random cotangents, if these are used."""
        return results if self.is_every_output else np.concatenate([results, self.cotangents @ results])

    def _slopes(self, index: int, tangent: np.ndarray) -> _Slopes:
        """Estimate the slopes of the results along the direction ``tangent``."""
        array = self.arrays[index]
        size = np.abs(array[tangent != 0]).max() if tangent.sum() == 1 else np.median(np.abs(array))
        unit = power_of_two(float(size) or float(np.abs(array).max()))

        def along(step: complex) -> np.ndarray:
            moved: list[Any] = list(self.arrays)
            moved[index] = array + step * tangent
            if not isinstance(step, complex):
                return self._observed(self._values(moved))
            shifted = [x.astype(np.complex128) for x in moved]
            return self._observed(self._results(shifted, complex128))

        central = differences(along, self._observed(self.base), unit, self.epsilon)
        return _Slopes(central, self._complex_step(along, unit, central.slope), unit)

    def _complex_step(
        self, along: Callable[[complex], np.ndarray], unit: float, slope: np.ndarray
    ) -> np.ndarray:
        """Compute slopes by the complex step.

        A slope is NaN if the function is not analytic or does not support complex numbers.
        """
        nothing = np.full(len(slope), np.nan)
        if self.order > 1 or self.dtype is None:
            # the complex step needs float64, and the gradient of a complex function is not analytic
            return nothing
        try:
            exact = complex_step(along, unit)
        except Exception:  # any error means that an operator does not support complex numbers
            return nothing
        agrees = np.abs(exact - slope) <= _ANALYTIC * np.abs(slope).max(initial=0.0)
        return np.where(agrees, exact, np.nan)

    # -- comparison of slopes with derivatives ---------------------------------------------------

    def _compare(
        self, leaf: Leaf, mode: str, derivative: np.ndarray, slopes: Sequence[_Slopes], is_every_entry: bool
    ) -> Comparison:
        """Compare a matrix of derivatives, with one row per direction of the variable."""
        is_sum = mode == "reverse" and not self.is_every_output
        part = slice(len(self.base), None) if is_sum else slice(0, len(self.base))
        central = [row.central for row in slopes]

        def table(name: str) -> np.ndarray:
            return np.stack([getattr(row, name)[part] for row in central])

        exact = np.stack([row.exact[part] for row in slopes])
        is_exact = np.isfinite(exact)
        difference = np.where(is_exact, exact, table("slope"))
        uncertainty = np.where(is_exact, 0.0, table("uncertainty"))
        units = np.array([[row.unit] for row in slopes])
        left, right = table("left"), table("right")
        judged = Verdicts(
            derivative,
            Slopes(
                difference,
                uncertainty,
                np.fmin(left, right),
                np.fmax(left, right),
                table("is_nondifferentiable"),
                table("is_edge"),
                table("is_jump") & ~is_exact,
            ),
            tolerance=self.tolerance or _tolerance(self.own_epsilon),
            epsilon=self.own_epsilon,
            magnitude=np.abs(self.base).max(initial=0.0) / units,
        )
        row, column = judged.worst
        step = slopes[row].unit * 2.0**-80 if is_exact[row, column] else table("step")[row, column]
        sweep = central[row].sweep[:, part][:, column]
        with np.errstate(invalid="ignore"):
            errors = np.abs(sweep - derivative[row, column])
        return Comparison(
            leaf.name,
            leaf.type,
            self.order,
            mode,
            self._scope(leaf, is_every_entry, is_sum),
            judged.verdict,
            self._place(leaf, row, column, is_every_entry, is_sum),
            float(derivative[row, column]),
            float(difference[row, column]),
            float(judged.error[row, column]),
            float(step),
            "complex step" if is_exact[row, column] else "central difference",
            self._remark(leaf, judged, is_every_entry, is_sum),
            central[row].steps,
            errors,
        )

    def _scope(self, leaf: Leaf, is_every_entry: bool, is_sum: bool) -> str:
        entries = f"{leaf.tensor.size} {'entry' if leaf.tensor.size == 1 else 'entries'}"
        text = entries if is_every_entry else f"{self.directions} random directions of {entries}"
        return text + f", {self.directions} random sums of {len(self.base)} results" * is_sum

    def _place(self, leaf: Leaf, row: int, column: int, is_every_entry: bool, is_sum: bool) -> str:
        """Describe an entry of the matrix: the element of the variable, and of the result."""
        text = _index(row, leaf.tensor.shape) if is_every_entry else f"direction {row}"
        if is_sum:
            return f"{text} of sum {column}"
        if len(self.base) == 1:
            return text or "()"
        number = column
        for position, (_, shape) in enumerate(self.types):
            size = math.prod(shape)
            if number < size:
                name = "result" if len(self.types) == 1 else f"result {position}"
                name = f"gradient by {self.function.variables[position].name} " if self.order == 2 else name
                return f"{text} of {name}{_index(number, shape)}".lstrip()
            number -= size
        raise IndexError(column)

    def _remark(self, leaf: Leaf, judged: Verdicts, is_every_entry: bool, is_sum: bool) -> str:
        remarks = []
        for is_kind, text in (
            (
                judged.slopes.is_nondifferentiable,
                "{count} at a nondifferentiable point (at {place}, the one-sided slopes are {left:.6g} and "
                "{right:.6g})",
            ),
            (
                judged.slopes.is_edge,
                "{count} at the boundary of the domain (at {place}, the function is finite on one side only)",
            ),
            (judged.slopes.is_jump, "{count} at a jump (at {place}, the values on the two sides differ)"),
        ):
            rows, columns = np.nonzero(is_kind)
            if not len(rows):
                continue
            row, column = int(rows[0]), int(columns[0])
            remarks.append(
                text.format(
                    count=f"{len(rows)} {'entry' if len(rows) == 1 else 'entries'}",
                    place=self._place(leaf, row, column, is_every_entry, is_sum),
                    left=judged.slopes.low[row, column],
                    right=judged.slopes.high[row, column],
                )
            )
        return "; ".join(remarks)


def _index(number: int, shape: tuple[int, ...]) -> str:
    return f"[{', '.join(str(int(i)) for i in np.unravel_index(number, shape))}]" if shape else ""
