"""The derivatives of a program, in five combinations of modes, and the oracles that they must meet.

With outputs y = f(x; w), cotangents c, tangents v of x and u of w, and L = ⟨c, f⟩:

    forward                 ∂f/∂x v
    reverse                 ∇L
    reverse over reverse    ∇⟨∇L, (v, u)⟩
    forward over reverse    ∂/∂x(∇L) v
    reverse over forward    ∇⟨c, ∂f/∂x v⟩
    forward over forward    ∂/∂x(∂f/∂x v) v

∇ is with respect to x and w. All but the last are one program, as it is compiled. NumPy evaluates it; XLA, which
takes minutes for all, gets all of every eighth program, and the first three of every fourth other one. The last is checked
eagerly only.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mindgrad import Parameter, ParameterTuple, Tensor, ops
from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.ir.rewriting import without_rewrites
from mindgrad.frontend.programs.compiled import Compiled
from mindgrad.ops import GradOperation, grad, jvp
from tests.programs.corpus.program import Program
from tests.programs.evaluated import evaluated
from tests.thorough import THOROUGH

__all__ = ["Checked", "MODES", "derivatives_by_jax", "derivatives_of", "modes_for_xla"]

MODES = (
    "value",
    "forward",
    "reverse",
    "reverse over reverse",
    "forward over reverse",
    "reverse over forward",
    "forward over forward",
)

Derivatives = dict[str, list[Any]]


def modes_for_xla(name: str) -> tuple[str, ...]:
    """The derivatives of the program ``name`` that XLA compiles."""
    number = zlib.crc32(name.encode())
    return (
        MODES[:-1] if number % 8 == 5 else MODES[:3] if number % 4 in ((1, 3) if THOROUGH else (3,)) else ()
    )


def _pairing(left: Sequence[Tensor], right: Sequence[Tensor]) -> Tensor:
    """Σ ⟨c, t⟩ as a Float64 number: terms of any floating-point type."""
    total = Tensor(0.0, ops.zeros_like(left[0]).dtype) if left else Tensor(0.0)
    for c, t in zip(left, right, strict=True):
        total = total + ops.reduce_sum(c * t)
    return total


def _tensors(tree: Any) -> list[Tensor]:
    return [leaf for leaf in flatten(tree)[0] if isinstance(leaf, Tensor)]


def _like(tree: Any, tensors: Sequence[Tensor]) -> Any:
    """``tensors`` in the places of those of ``tree``."""
    leaves, structure = flatten(tree)
    following = iter(tensors)
    return unflatten(structure, [next(following) if isinstance(x, Tensor) else x for x in leaves])


def derivatives_of(
    function: Callable[..., Any], weights: Sequence[Parameter], modes: Sequence[str] = MODES[:-1]
) -> Callable[..., Derivatives]:
    """Derivatives of ``function``, those named ``modes``, as one function of ``(xs, others, vs, us, cts)``."""
    listed = ParameterTuple(weights)
    with_weights = GradOperation(get_all=True, get_by_list=True)

    def everything(
        xs: tuple[Tensor, ...],
        others: tuple[Tensor, ...],
        vs: tuple[Tensor, ...],
        us: tuple[Tensor, ...],
        cts: tuple[Tensor, ...],
    ) -> Derivatives:
        f = lambda *xs: function(*xs, *others)
        positions = tuple(range(len(xs)))

        def gradient(loss: Callable[..., Any], *xs: Tensor) -> tuple[Tensor, ...]:
            if not weights:
                found = grad(loss, positions)(*xs)
                return found if len(xs) > 1 else (found,)
            by_input, by_weight = with_weights(loss, listed)(*xs)
            return (*by_input, *by_weight)

        def loss(*xs: Tensor) -> Tensor:
            return _pairing(cts, _tensors(f(*xs)))

        def slope(*xs: Tensor) -> Tensor:
            return _pairing((*vs, *us), gradient(loss, *xs))

        def along(*xs: Tensor) -> list[Tensor]:
            return _tensors(jvp(f, xs, vs)[1])

        def pushed(*xs: Tensor) -> Tensor:
            return _pairing(cts, along(*xs))

        outputs, tangents = jvp(f, xs, vs)
        # the outputs' own structure, and the operator that users know, for the plain gradient
        sens = _like(outputs, cts)
        scaled = GradOperation(get_all=True, get_by_list=bool(weights), sens_param=True)
        ways: dict[str, Callable[[], Any]] = {
            "value": lambda: _tensors(outputs),
            "forward": lambda: _tensors(tangents),
            "reverse": lambda: _tensors(scaled(f, listed)(*xs, sens)),
            "reverse over reverse": lambda: gradient(slope, *xs),
            "forward over reverse": lambda: jvp(lambda *xs: gradient(loss, *xs), xs, vs)[1],
            "reverse over forward": lambda: gradient(pushed, *xs),
            "forward over forward": lambda: jvp(along, xs, vs)[1],
        }
        return {mode: [*ways[mode]()] for mode in modes}

    return everything


def derivatives_by_jax(
    oracle: Callable[..., Any], names: Sequence[str], symmetric: bool
) -> Callable[..., Derivatives]:
    """The same derivatives by jax, of ``(xs, others, ws, vs, us, cts)``.

    Args:
        oracle: the program in ``jax.numpy``.
        names: the names of ``ws``.
        symmetric: whether second derivatives are the same in every order of modes, by mathematics;
            then one order stands for all. They are not where a derivative is stopped or replaced.
    """

    def everything(xs: Any, others: Any, ws: Any, vs: Any, us: Any, cts: Any) -> Derivatives:
        def f(xs: Any, ws: Any) -> list[Any]:
            first = [dict(zip(names, ws, strict=True))] if names else []
            return jax.tree.leaves(oracle(*first, *xs, *others))

        def pairing(left: Any, right: Any) -> Any:
            return sum(jnp.sum(c * t) for c, t in zip(left, right, strict=True))

        def gradient(loss: Any) -> Any:
            return lambda xs, ws: jax.tree.leaves(jax.grad(loss, (0, 1))(xs, ws))

        def loss(xs: Any, ws: Any) -> Any:
            return pairing(cts, f(xs, ws))

        def slope(xs: Any, ws: Any) -> Any:
            return pairing((*vs, *us), gradient(loss)(xs, ws))

        def along(xs: Any, ws: Any) -> Any:
            return jax.jvp(lambda xs: f(xs, ws), (xs,), (vs,))[1]

        def pushed(xs: Any, ws: Any) -> Any:
            return pairing(cts, along(xs, ws))

        reverse, mixed = jax.jvp(lambda xs: gradient(loss)(xs, ws), (xs,), (vs,))
        (values, forward), (_, twice) = jax.jvp(lambda xs: (f(xs, ws), along(xs, ws)), (xs,), (vs,))
        return {
            "value": values,
            "forward": forward,
            "reverse": reverse,
            "reverse over reverse": gradient(slope)(xs, ws) if names or not symmetric else mixed,
            "forward over reverse": mixed,
            "reverse over forward": mixed if symmetric else gradient(pushed)(xs, ws),
            "forward over forward": twice,
        }

    return everything


class Checked:
    """One program with everything that its derivatives are taken at."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.function, self.weights, self.others = program.parts()
        self.xs = program.inputs()
        generator = np.random.default_rng(len(program.name))

        def like(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
            return [np.asarray(generator.normal(size=a.shape)).astype(a.dtype) for a in arrays]

        self.vs = like(self.xs)
        self.us = like([w.asnumpy() for w in self.weights])
        self.ys = [t.asnumpy() for t in _tensors(self.call(self.xs))]
        self.cts = like(self.ys)
        everything = derivatives_of(self.function, self.weights)
        self.compiled = self.arrays(evaluated(everything))
        modes = modes_for_xla(program.name)
        by_xla = Compiled(derivatives_of(self.function, self.weights, modes))
        self.by_xla = self.arrays(by_xla) if modes else {}
        self.eager = self.arrays(derivatives_of(self.function, self.weights, MODES))

    def call(self, xs: Sequence[np.ndarray]) -> Any:
        """The program's outputs."""
        return self.function(*map(Tensor, xs), *self.others)

    def arrays(self, everything: Callable[..., Derivatives]) -> dict[str, list[np.ndarray]]:
        """All derivatives as arrays."""
        given = [tuple(map(Tensor, each)) for each in (self.xs, self.vs, self.us, self.cts)]
        found = everything(given[0], tuple(self.others), *given[1:])
        return {mode: [t.asnumpy() for t in tensors] for mode, tensors in found.items()}

    def as_written(self) -> dict[str, list[np.ndarray]]:
        """All derivatives by the program without rewrites, evaluated with NumPy: nothing is compiled again."""
        with without_rewrites():
            return self.arrays(evaluated(derivatives_of(self.function, self.weights)))

    def by_jax(self) -> dict[str, list[np.ndarray]] | None:
        """All derivatives by jax, ``None`` where there is no oracle."""
        oracle = self.program.oracle
        if oracle is None:
            return None
        names = [w.name for w in self.weights]
        with jax.enable_x64(True):
            jitted = jax.jit(derivatives_by_jax(oracle, names, self.program.smooth))
            ws = [w.asnumpy() for w in self.weights]
            given = [
                tuple(map(jnp.asarray, each))
                for each in (self.xs, self.program.others, ws, self.vs, self.us, self.cts)
            ]
            # compiled as it comes: the oracle's speed is of no interest, its compilation's is
            program = jitted.lower(*given).compile({"xla_backend_optimization_level": 0})
            found = program(*given)
        return {mode: [np.asarray(each) for each in arrays] for mode, arrays in found.items()}

    # -- finite differences ----------------------------------------------------------------------

    def quotient(
        self, function: Callable[[Sequence[np.ndarray]], list[np.ndarray]], step: float
    ) -> list[np.ndarray]:
        """∂f/∂x v by the central difference of fourth order."""
        total: list[np.ndarray] = []
        for distance, factor in ((-2, 1 / 12), (-1, -2 / 3), (1, 2 / 3), (2, -1 / 12)):
            moved = [x + distance * step * v for x, v in zip(self.xs, self.vs, strict=True)]
            terms = [factor * np.asarray(y, np.float64) / step for y in function(moved)]
            total = terms if not total else [a + b for a, b in zip(total, terms, strict=True)]
        return total

    def outputs(self, xs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The outputs as arrays."""
        return [t.asnumpy() for t in _tensors(self.call(xs))]

    def gradient(self, xs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The eager gradient of ⟨c, f⟩ with respect to inputs and weights."""
        f = lambda *xs: self.function(*xs, *self.others)
        sens = _like(self.call(self.xs), [*map(Tensor, self.cts)])
        operation = GradOperation(get_all=True, get_by_list=bool(self.weights), sens_param=True)
        found = operation(f, ParameterTuple(self.weights))(*map(Tensor, xs), sens)
        return [t.asnumpy() for t in _tensors(found)]
