"""Building blocks of solvers: loops, checks of arguments, and traced functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.ir.dtype import DType, complex64, complex128, float32, float64
from mindgrad.core.ir.evaluate import inline_here
from mindgrad.core.ir.graph import Graph
from mindgrad.core.ir.memo import retained
from mindgrad.core.ir.scope import apply, as_it_is, innermost, lifted
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.ir.types import TensorType
from mindgrad.core.primitives.arithmetic import select
from mindgrad.core.primitives.structural import broadcast_in_dim, stop_gradient
from mindgrad.core.trace import references
from mindgrad.core.trace.closed_program import trace
from mindgrad.frontend import effect_log, user_calls
from mindgrad.frontend.control.runtime import RUNTIME
from mindgrad.frontend.mode import is_graph_mode

__all__ = ["Function", "Value", "Values", "as_tensors", "check_precision", "chosen", "held", "repeat"]

#: type annotation for Tensors. It is ``Any``, because mypy does not know the arithmetic operators that
#: ``ops`` adds to Tensor
Value = Any
Values = list[Any]
_TYPE_OF_PARTS = {complex64: float32, complex128: float64}


def repeat(test: Callable[..., Any], body: Callable[..., Any], *start: Any) -> tuple[Any, ...]:
    """Run the loop ``while test(*now): now = body(*now)``, and return ``now``.

    In a compiled function, it becomes one ``while`` loop.
    """
    now = tuple(start)
    if not references.is_compiling():
        while test(*now):
            now = body(*now)
        return now

    def iteration() -> None:
        nonlocal now
        now = body(*now)

    def put(values: tuple[Any, ...]) -> None:
        nonlocal now
        now = tuple(values)

    names = [f"part {k} of the iteration" for k in range(len(now))]
    RUNTIME.while_(lambda: test(*now), iteration, lambda: now, put, names)
    return now


def held(x: Value) -> Value:
    """Return ``x`` as a constant, with derivative zero."""
    return apply(stop_gradient, x) if x.is_traced else as_it_is(x)


def chosen(test: Value, a: Value, b: Value) -> Value:
    """Return ``a`` if the scalar ``test`` is true, else ``b``.

    In compiled functions, this is a select operator.
    """
    if not references.is_compiling():
        return a if test else b
    return apply(select, apply(broadcast_in_dim, test, shape=a.shape, dims=()) if a.shape else test, a, b)


def as_tensors(owner: str, label: str, x: Any) -> tuple[Values, Any]:
    """Return the Tensors in the container ``x``, and its structure.

    Raises:
        TypeError: If ``x`` contains something other than a Tensor.
        ValueError: If ``x`` contains no Tensor.
    """
    leaves, structure = flatten(x)
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise TypeError(
                f"For '{owner}', the {label} must be a Tensor, or a tuple, list or dict of Tensors, but got "
                f"{type(leaf).__name__}."
            )
    if not leaves:
        raise ValueError(f"For '{owner}', the {label} contains no Tensor.")
    return [lifted(references.read(leaf)) for leaf in leaves], structure


def check_precision(owner: str, label: str, tensors: Values) -> DType:
    """Return the common dtype of the real and imaginary parts of ``tensors``.

    Raises:
        TypeError: If a tensor is neither floating-point nor complex, or their precisions differ.
    """
    parts = {_TYPE_OF_PARTS.get(x.dtype, x.dtype) for x in tensors}
    if len(parts) > 1 or any(dtype.kind != "float" for dtype in parts):
        names = ", ".join(sorted({str(x.dtype) for x in tensors}))
        raise TypeError(
            f"For '{owner}', the {label} must have floating-point or complex dtypes of the same precision, "
            f"but got {names}. Convert with x.astype(mindgrad.float32) or x.astype(mindgrad.float64)."
        )
    return parts.pop()


class Function:
    """A user-defined function of tensors, traced as a graph.

    Args:
        owner: name of the public function, such as ``"custom_root"``, for error messages.
        label: name of the argument ``fn``, such as ``"f"``, for error messages.
        fn: user-defined function of one argument.
        types, structure: the types of the tensors in the argument, and its container structure.
        expected: the structure and types that the result of ``fn`` must have. ``None``: any result.

    Attributes:
        graph: graph ``(*outside, *tensors) ↦ tensors of the result``. Functions with equal graphs share one
            graph object.
        outside: the captured tensors: Parameters and other tensors that ``fn`` uses but that are not in its
            argument.
        structure: container structure of the result of ``fn``.
    """

    def __init__(
        self,
        owner: str,
        label: str,
        fn: Callable[..., Any],
        types: Sequence[TensorType],
        structure: Any,
        expected: tuple[Any, Sequence[TensorType]] | None = None,
    ) -> None:
        def run(*symbols: Tensor) -> Values:
            with effect_log.isolated():
                result = _run(owner, fn, unflatten(structure, list(symbols)))
                tensors, self.structure = as_tensors(owner, f"result of the '{label}'", result)
                if effect_log.innermost() or innermost().written:  # type: ignore[union-attr]
                    raise RuntimeError(
                        f"For '{owner}', the '{label}' assigns an attribute, a variable or a Parameter, "
                        "which is not supported, because the solver decides how often the function runs. "
                        "Return the value instead."
                    )
            if expected is not None:
                _check_result(owner, label, self.structure, [y.type for y in tensors], *expected)
            return tensors

        program = trace(run, types, values_are_inputs=True)
        closed, captured = program.graph, program.captured
        self.graph = retained(
            Graph([*captured, *closed.inputs[: len(types)]], closed.equations, closed.outputs)
        )
        self.outside = [lifted(references.read(tensor)) for tensor in captured.values()]

    def __call__(self, outside: Sequence[Tensor], xs: Sequence[Tensor]) -> Values:
        """Return the result for the tensors ``xs`` of the argument.

        ``outside`` are the values of the captured tensors.
        """
        return inline_here(self.graph, [*outside, *xs])

    def with_graph(self, graph: Graph) -> Function:
        """Return a Function with another graph of the same captured tensors."""
        copy = object.__new__(Function)
        copy.graph, copy.outside, copy.structure = retained(graph), self.outside, self.structure
        return copy

    @property
    def is_traced(self) -> bool:
        """Whether a captured tensor belongs to a differentiated or compiled function."""
        return any(x.is_traced for x in self.outside)


def _run(owner: str, fn: Callable[..., Any], argument: Any) -> Any:
    try:
        return user_calls.run(fn, argument)
    except Exception as error:
        if not is_graph_mode() and not hasattr(error, "__notes__"):
            error.add_note(f"{owner} traces its functions as if they were compiled, even in PYNATIVE_MODE.")
        raise


def _described(structure: Any, count: int) -> str:
    """Return a description of the structure of ``count`` tensors, for error messages."""
    if not isinstance(structure, tuple):
        return "one Tensor"
    kind = getattr(structure[0], "__name__", "container")
    return f"a {kind} of {count} Tensor{'s' if count != 1 else ''}"


def _check_result(
    owner: str,
    label: str,
    structure: Any,
    types: Sequence[TensorType],
    like: Any,
    expected: Sequence[TensorType],
) -> None:
    if structure != like or len(types) != len(expected):
        raise TypeError(
            f"For '{owner}', the '{label}' must return {_described(like, len(expected))}, as its argument "
            f"is, but it returned {_described(structure, len(types))}."
            f"{'' if isinstance(like, tuple) else ' ops.stack(...) makes one Tensor of a list.'}"
        )
    for k, (type, expected_type) in enumerate(zip(types, expected, strict=True)):
        if type.shape != expected_type.shape:
            raise ValueError(
                f"For '{owner}', the '{label}' must return tensors with the shapes of its argument, but "
                f"tensor {k} has the shape {type.shape} instead of {expected_type.shape}."
            )
        if type.dtype is not expected_type.dtype:
            raise TypeError(
                f"For '{owner}', the '{label}' must return tensors with the dtypes of its argument, but "
                f"tensor {k} is {type.dtype} instead of {expected_type.dtype}."
            )
