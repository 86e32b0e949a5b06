"""How a program of the corpus is checked: its derivatives, and those of its reference by quotients.

With outputs y = f(x; w), cotangents c, tangents v of x and u of w, and L = ⟨c, f⟩:

    value                   f
    forward                 ∂f/∂x v
    reverse                 ∇L
    reverse over reverse    ∇⟨∇L, (v, u)⟩
    forward over reverse    ∂/∂x(∇L) v
    reverse over forward    ∇⟨c, ∂f/∂x v⟩

∇ is with respect to x and w. What is compiled is one program that every case runs. It holds the value, the
gradient and one of the second derivatives, another one for each program; every sixteenth has all. XLA gets that
of every sixteenth program, none with all, for it takes minutes; of the others NumPy evaluates it.

The quotients are central differences of the float64 reference, at the steps h and 2h, extrapolated:
(4 D(h) − D(2h)) / 3 has an error of order h⁴. Where the two steps disagree, an input lies too close to a
kink or to another path, and the case is wrong, not the program.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import mindgrad as ms
from mindgrad import Parameter, ParameterTuple, Tensor, ops
from mindgrad.core.base.tree import flatten
from mindgrad.ops import GradOperation, grad, jvp
from tests.programs.control.program import Case, ControlProgram
from tests.programs.evaluated import evaluated
from tests.thorough import size

__all__ = ["MODES", "Checked", "arrays_of", "compiled_modes", "derivatives_of", "is_for_xla", "plain"]

MODES = (
    "value",
    "forward",
    "reverse",
    "reverse over reverse",
    "forward over reverse",
    "reverse over forward",
)

#: distance of the points of a quotient; second derivatives lose 2⁻⁵³ / h², which is 1e-10
STEP = 1e-3

Arrays = list[np.ndarray]


def arrays_of(tree: Any) -> Arrays:
    """The tensors and numbers of a structure, in order, as arrays."""
    leaves = [x for x in flatten(tree)[0] if x is not None]
    return [x.asnumpy() if isinstance(x, Tensor) else np.asarray(x) for x in leaves]


def plain(array: Any) -> Any:
    """What a reference gets: a number for an array without axes, a copy of any other array."""
    if isinstance(array, np.ndarray):
        return array.item() if array.ndim == 0 else array.copy()
    return array


def _as_inputs(values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(Tensor(x) if isinstance(x, np.ndarray) else x for x in values)


def compiled_modes(name: str) -> tuple[str, ...]:
    """The derivatives of the program ``name`` that are compiled."""
    number = zlib.crc32(name.encode())
    return MODES if number % 16 == 9 else ("value", "reverse", MODES[3 + number % 3])


def is_for_xla(name: str) -> bool:
    """Whether XLA compiles the derivatives of the program ``name``."""
    return zlib.crc32(name.encode()) % size(16, 8) == 5


def _tensors(tree: Any) -> list[Tensor]:
    return [x if isinstance(x, Tensor) else Tensor(np.array(x)) for x in flatten(tree)[0]]


def _pairing(left: Sequence[Tensor], right: Sequence[Tensor]) -> Tensor:
    """Σ ⟨c, t⟩"""
    return sum([ops.sum(c * t) for c, t in zip(left, right, strict=True)], Tensor(np.array(0.0)))


def derivatives_of(
    function: Callable[..., Any], weights: Sequence[Parameter], modes: Sequence[str]
) -> Callable[..., dict[str, list[Tensor]]]:
    """The derivatives of ``function`` that ``modes`` names, as one function of ``(xs, others, vs, us, cts)``."""
    by_all = GradOperation(get_all=True, get_by_list=True)
    listed = ParameterTuple(weights)

    def everything(xs: Any, others: Any, vs: Any, us: Any, cts: Any) -> dict[str, list[Tensor]]:
        f = lambda *xs: _tensors(function(*xs, *others))
        positions = tuple(range(len(xs)))

        def gradient(loss: Callable[..., Any], *xs: Tensor) -> list[Tensor]:
            if weights:
                return _tensors(by_all(loss, listed)(*xs))
            return _tensors(grad(loss, positions)(*xs))

        loss = lambda *xs: _pairing(cts, f(*xs))
        along = lambda *xs: _tensors(jvp(f, xs, vs)[1])
        formulas = {
            "value": lambda: f(*xs),
            "forward": lambda: along(*xs),
            "reverse": lambda: gradient(loss, *xs),
            "reverse over reverse": lambda: gradient(
                lambda *xs: _pairing((*vs, *us), gradient(loss, *xs)), *xs
            ),
            "forward over reverse": lambda: _tensors(jvp(lambda *xs: gradient(loss, *xs), xs, vs)[1]),
            "reverse over forward": lambda: gradient(lambda *xs: _pairing(cts, along(*xs)), *xs),
        }
        return {mode: formulas[mode]() for mode in modes}

    return everything


class Checked:
    """One program with its derivatives, eager and compiled, and the quotients of its reference."""

    def __init__(self, program: ControlProgram) -> None:
        self.program = program
        self.function, self.weights, written = program.pure()
        self.ws = [w.asnumpy() for w in self.weights]
        self.state = [p for p in written if p.dtype.is_float]
        self.start = [p.asnumpy() for p in self.state]
        self.fixed = {p.name: p.asnumpy() for p in written if not p.dtype.is_float}
        everything = derivatives_of(self.function, self.weights, compiled_modes(program.name))
        self._compiled = (ms.jit if is_for_xla(program.name) else evaluated)(everything)

    # -- one case ----------------------------------------------------------------------------------

    def xs(self, case: Case) -> Arrays:
        """What is differentiated: the inputs, then the values of the written Parameters."""
        return [*case.xs, *self.start]

    def directions(self, case: Case) -> tuple[Arrays, Arrays, Arrays]:
        """Tangents of the inputs and of the weights, and cotangents of the outputs."""
        generator = np.random.default_rng(len(self.program.name))
        ys = self.outputs(self.ws, self.xs(case), case)
        like = lambda arrays: [np.asarray(generator.uniform(-1, 1, np.shape(a))) for a in arrays]
        return like(self.xs(case)), like(self.ws), like(ys)

    def outputs(self, ws: Arrays, xs: Arrays, case: Case) -> Arrays:
        """The outputs by the reference, those that the program writes last."""
        held = {w.name: plain(v) for w, v in zip(self.weights, ws, strict=True)}
        held |= {p.name: plain(v) for p, v in zip(self.state, xs[len(case.xs) :], strict=True)}
        held |= {name: plain(value) for name, value in self.fixed.items()}
        given = [plain(x) for x in (*xs[: len(case.xs)], *case.others)]
        first = [held] if held else []
        found = self.program.reference(*first, *given)
        after = [held[p.name] for p in self.state]
        return [np.asarray(y, np.float64) for y in flatten((found, after))[0]]

    def _run(self, everything: Callable[..., Any], index: int) -> dict[str, Arrays]:
        case = self.program.cases[index]
        vs, us, cts = map(_as_inputs, self.directions(case))
        others = _as_inputs([*self.fixed.values(), *case.others])
        found = everything(_as_inputs(self.xs(case)), others, vs, us, cts)
        return {mode: arrays_of(tensors) for mode, tensors in found.items()}

    def eager(self, index: int, modes: Sequence[str] = MODES) -> dict[str, Arrays]:
        """The derivatives of case ``index`` that ``modes`` names, operator by operator."""
        return self._run(derivatives_of(self.function, self.weights, modes), index)

    def compiled(self, index: int) -> dict[str, Arrays]:
        """The derivatives of case ``index`` that are compiled, as one program."""
        return self._run(self._compiled, index)

    # -- quotients ---------------------------------------------------------------------------------

    def quotients(self, index: int) -> dict[str, Arrays]:
        """The value and the derivatives of case ``index`` by the reference."""
        case = self.program.cases[index]
        vs, us, cts = self.directions(case)
        at, shapes = _joined([*self.xs(case), *self.ws])
        count = len(self.xs(case))

        def outputs(point: np.ndarray) -> np.ndarray:
            parts = _parted(point, shapes)
            return _joined(self.outputs(parts[count:], parts[:count], case))[0]

        weights = _joined(cts)[0]
        loss = lambda point: weights @ outputs(point)
        forward = _joined([*vs, *[np.zeros_like(u) for u in us]])[0]
        both = _joined([*vs, *us])[0]
        slopes = np.array([_slope(loss, at, each) for each in np.eye(len(at))])
        curves = [
            np.array([_curve(loss, at, each, along) for each in np.eye(len(at))]) for along in (forward, both)
        ]
        ys = self.outputs(self.ws, self.xs(case), case)
        return {
            "value": ys,
            "forward": _parted(_slope(outputs, at, forward), [y.shape for y in ys]),
            "reverse": _parted(slopes, shapes),
            "reverse over reverse": _parted(curves[1], shapes),
            "forward over reverse": _parted(curves[0], shapes),
            "reverse over forward": _parted(curves[0], shapes),
        }


def _joined(arrays: Arrays) -> tuple[np.ndarray, list[tuple[int, ...]]]:
    flat = [np.ravel(a).astype(np.float64) for a in arrays]
    return np.concatenate([*flat, np.zeros(0)]), [np.shape(a) for a in arrays]


def _parted(flat: np.ndarray, shapes: Sequence[tuple[int, ...]]) -> Arrays:
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    return [part.reshape(shape) for part, shape in zip(np.split(flat, ends)[:-1], shapes, strict=True)]


def _slope(f: Callable[[np.ndarray], Any], x: np.ndarray, v: np.ndarray) -> Any:
    """Df(x)v."""
    return _extrapolated(lambda h: (f(x + h * v) - f(x - h * v)) / (2 * h))


def _curve(f: Callable[[np.ndarray], Any], x: np.ndarray, u: np.ndarray, v: np.ndarray) -> Any:
    """D²f(x)(u, v)."""
    return _extrapolated(
        lambda h: (
            f(x + h * (u + v)) - f(x + h * (u - v)) - f(x - h * (u - v)) + f(x - h * (u + v))
        ) / (4 * h * h)
    )  # fmt: skip


def _extrapolated(quotient: Callable[[float], Any]) -> Any:
    """The limit for small steps of a quotient that is even in its step."""
    fine, coarse = quotient(STEP), quotient(2 * STEP)
    scale = max(1.0, float(np.max(np.abs(fine), initial=0)))
    distance = float(np.max(np.abs(fine - coarse), initial=0))
    assert distance < 1e-2 * scale, f"a kink is near this input: {fine} and {coarse}"
    return (4 * fine - coarse) / 3
