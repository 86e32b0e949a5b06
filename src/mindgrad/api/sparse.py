"""Sparse Jacobians and Hessians, for ``sparse=True``.

    J_f(x), ∇²f(x) as SciPy matrices; only the entries that can be nonzero are computed

The first call with given argument types finds the sparsity pattern and builds the computation of the
compressed derivative: the entries that can be nonzero (``sparse.decompression``). Later calls run this
computation and fill in the values of the matrix. If the pattern depends on integer arguments, such as
indices, it is found again when their values change.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np

from mindgrad.api.argnums import Request
from mindgrad.api.callables import arity, describe, differentiates, is_compiled, name_derivative
from mindgrad.api.vjp_call import Call, Inputs, Run, further
from mindgrad.core.base.location import warn_user
from mindgrad.core.base.scipy_modules import SciPyModule
from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.ir.graph import Constant, Graph
from mindgrad.core.ir.scope import GraphScope, innermost
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.ir.values_only import has_values_only
from mindgrad.core.sparse.decompression import Structure, compressed
from mindgrad.core.sparse.sparsity import Known, known_values
from mindgrad.core.trace.numbers import as_data, as_python
from mindgrad.core.trace.record import transformed
from mindgrad.frontend.mode import is_graph_mode
from mindgrad.frontend.programs.compiled import Compiled

__all__ = ["sparse_function"]

#: Maximum number of sparsity patterns that are cached for one function. There is one pattern for each
#: combination of values of its integer arguments, and the oldest pattern is removed first.
_KEPT = 16


def sparse_function(request: Request, second: bool) -> Callable[..., Any]:
    """Return a function that computes a sparse Jacobian, or with ``second`` a Hessian."""
    derivative = _Sparse(request, second)

    def run(*args: Any, **kwargs: Any) -> Any:
        return derivative(args, kwargs)

    name_derivative(run, request.owner, request.fn, request.chosen)
    return differentiates(run, request.fn, order=2 if second else 1)


def _name(request: Request) -> str:
    return f"{request.owner}_of_{getattr(request.fn, '__name__', type(request.fn).__name__)}"


class _Form:
    """The structure of the result of a call: its matrices and their nesting.

    Attributes:
        structure: sparsity structure of the matrices.
        tree: the nesting of the differentiated output.
        are_tensors: for each leaf of the output, whether it is a tensor. Only tensors have a matrix.
    """

    __slots__ = ("are_tensors", "structure", "tree")

    def __init__(self, structure: Structure, leaves: Sequence[Any], tree: Any) -> None:
        self.structure = structure
        self.tree = tree
        self.are_tensors = [isinstance(x, Tensor) for x in leaves]


class _Seen:
    """A snapshot of an integer array, given as a Tensor or a NumPy array."""

    __slots__ = ("_array", "_held")

    def __init__(self, given: Any) -> None:
        self._held = given._array if isinstance(given, Tensor) else given
        self._array = np.array(_numbers(given))

    def is_still(self, value: Any) -> bool:
        """Return whether ``value`` has the elements of the snapshot."""
        array = value._array if isinstance(value, Tensor) else value
        if array is self._held and not isinstance(array, np.ndarray):
            return True  # a device array is immutable, so no copy on the host is needed
        if not np.array_equal(self._array, _numbers(value)):
            return False
        self._held = array
        return True


def _numbers(given: Any) -> Any:
    return given.host_array() if isinstance(given, Tensor) else given


class _Rule:
    """The rule for ``record.transformed`` that emits the compressed derivative.

    It also finds the sparsity pattern. Its first result is the index of the pattern in ``structures``.

    Attributes:
        given: dict that maps indices of graph inputs to their values, if these depend only on the integer
            arguments of the current call.
        constants: dict that maps indices of graph inputs to their values, if these depend on no argument.
        integers: the integer arguments of the current call.
        snapshot: copies of the integer arguments if the pattern depends on them, else ``None``.
        structures: list of the matrix structures that the rule has found.
    """

    def __init__(self, second: bool, compiled: bool) -> None:
        self.given: dict[int, Any] = {}
        self.constants: dict[int, Any] = {}
        self.snapshot: list[Any] | None = None
        self.structures: list[Structure] = []
        self.integers: list[Any] = []
        self._second = second
        self._compiled = compiled

    def fits(self, integers: list[Any]) -> bool:
        """Return whether the pattern is valid for a call with these integers."""
        seen = self.snapshot
        return seen is None or (len(seen) == len(integers) and all(map(_Seen.is_still, seen, integers)))

    def __call__(self, builder: Any, xs: Sequence[Any], ys: Sequence[Any], _: Sequence[Any]) -> list[Any]:
        values, constants = (
            {builder.inputs[place]: array for place, array in held.items()}
            for held in (self.given, self.constants)
        )
        known, sparse = Known(values, constants), SciPyModule("sparse")
        data, structure = compressed(sparse, builder, xs, ys, known, self._second, self._compiled)
        if known.is_asked:
            self.snapshot = [_Seen(each) for each in self.integers]
        self.structures.append(structure)
        return [Constant(np.asarray(len(self.structures) - 1)), *data]


class _Sparse:
    """The sparse derivative of one function, with a cache of its patterns."""

    def __init__(self, request: Request, second: bool) -> None:
        self._request = request
        self._second = second
        self._rules: list[_Rule] = []
        self._programs: list[tuple[_Rule, Compiled]] = []
        self._lock = threading.RLock()
        self._has_warned = False

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        request = self._request
        if not has_values_only():
            raise RuntimeError(
                f"For '{request.owner}', sparse=True returns a SciPy matrix, which cannot be created inside "
                "a compiled function or another derivative. Create it outside, or leave out sparse=True."
            )
        args, kwargs = as_data(args, kwargs, request.chosen, lambda: arity(request.fn).names)  # type: ignore[assignment]
        with self._lock:
            if is_graph_mode() or is_compiled(request.fn):
                data, form, others = self._compiled(args, kwargs)
            else:
                data, form, others = self._eager(args, kwargs)
        if form.structure.is_dense and not self._has_warned:
            self._has_warned = True
            rows, columns = _size(form.structure)
            warn_user(
                f"For '{request.owner}' of {describe(request.fn)}, sparse=True has no effect: the {rows} x "
                f"{columns} matrix is computed like a dense matrix, because too many of its entries may be "
                f"nonzero ({form.structure.way}). Leave sparse=True out to get a Tensor."
            )
        matrices = self._made(args, kwargs, _matrices(data, form.structure), form)
        if not request.has_aux:
            return matrices
        return matrices, as_python(others if self._second else further((matrices, *others)))

    # -- running ------------------------------------------------------------------------------------

    def _run(self, rule: _Rule, run: Run) -> tuple[int, list[Tensor], _Form, Any]:
        """Return the pattern's index, the nonzero values, the form, and other outputs."""
        outputs, results = transformed(run.recorded, rule, (), run.outputs)
        out = run.result(outputs)
        leaves, tree = flatten(out[0] if self._request.has_aux else out)
        number = len(rule.structures) - 1 if isinstance(run.recorded.scope, GraphScope) else results[0].item()
        form = _Form(rule.structures[number], leaves, tree)
        return number, results[1:], form, tuple(out[1:]) if self._request.has_aux else ()

    def _eager(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, _Form, Any]:
        run = self._request.run(args, kwargs)
        _check(self._request.owner, self._request.fn, run, self._second)
        recorder = run.recorded.scope
        mine = {t._atom for t in run.recorded.inputs}
        constants = {}
        for index, (number, tensor) in enumerate(recorder.leaves):
            if number not in mine and tensor.dtype.kind in ("int", "uint", "bool"):
                constants[index] = np.broadcast_to(recorder.values[number], tensor.shape)
        integers = list(constants.values())
        rule = next((candidate for candidate in self._rules if candidate.fits(integers)), None)
        if rule is None:
            rule = _Rule(self._second, compiled=False)
            self._rules = [rule, *self._rules[: _KEPT - 1]]
        rule.given, rule.integers = constants, integers
        _, data, form, others = self._run(rule, run)
        return data, form, others

    def _compiled(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, _Form, Any]:
        integers = _integers(args, kwargs)
        entry = next((entry for entry in self._programs if entry[0].fits(integers)), None)
        if entry is None:
            rule = _Rule(self._second, compiled=True)
            entry = rule, Compiled(self._first(rule))
            self._programs = [entry, *self._programs[: _KEPT - 1]]
        rule, program = entry
        rule.integers = integers
        return program(*args, **kwargs)

    def _first(self, rule: _Rule) -> Callable[..., Any]:
        # define the variables ``owner`` and ``fn``, from which ``frontend.programs.cache`` reads the name of
        # this function
        request, owner, fn = self._request, self._request.owner, self._request.fn

        def first(*args: Any, **kwargs: Any) -> Any:
            pairs = zip(_integers(args, kwargs), rule.integers, strict=True)
            symbols = {t._atom: tensor.host_array() for t, tensor in pairs}
            outer: Any = innermost()
            run = request.run(args, kwargs)
            _check(owner, fn, run, self._second)
            scope = run.recorded.scope
            # only the equations that depend on the differentiated inputs are new; the outer scope already
            # contains the others
            graph = Graph(outer.builder.inputs, outer.builder.equations, ())
            atoms = {variable: t._atom for variable, t in scope.captures if t._scope is outer}
            places = {atoms.get(variable): k for k, variable in enumerate(scope.builder.inputs)}
            value_groups = known_values(graph, symbols, [atom for atom in atoms.values() if atom is not None])
            rule.given, rule.constants = (
                {places[x]: array for x, array in values.items()} for values in value_groups
            )
            _, data, form, others = self._run(rule, run)
            return data, form, others

        first.__name__ = first.__qualname__ = _name(self._request)
        return first

    # -- results ------------------------------------------------------------------------------------

    def _made(self, args: tuple[Any, ...], kwargs: dict[str, Any], rows: list[list[Any]], form: _Form) -> Any:
        """Arrange the matrices in the structure of the result."""
        request = self._request
        call = Call(request.owner, request.fn, arity(request.fn), args, kwargs, request.chosen)
        inputs = Inputs(request.owner, request.fn, call.args, call.positions)
        matrices = [request.arranged(inputs, row) for row in rows]
        if self._second:
            return request.arranged(inputs, matrices)
        following = iter(matrices)
        return unflatten(form.tree, [next(following) if is_one else () for is_one in form.are_tensors])


def _check(owner: str, fn: Any, run: Run, second: bool) -> None:
    """Raise an error if inputs or outputs of the function have no sparse derivative."""
    for t in (*run.recorded.inputs, *run.outputs):
        if t.dtype.kind != "float":
            raise TypeError(
                f"For '{owner}' with sparse=True, the inputs must have a floating-point dtype, but "
                f"got a Tensor of dtype {t.dtype}: convert it first."
            )
    if second and [t.type.size for t in run.outputs] != [1]:
        shapes = [t.shape for t in run.outputs]
        raise ValueError(
            f"For '{owner}' with sparse=True, {describe(fn)} must return one number, but it returns Tensors "
            f"of shapes {shapes}. Sum them, or take the Jacobian of the gradient of each."
        )


def _integers(args: Any, kwargs: Any) -> list[Tensor]:
    """Return the integer and Boolean Tensors among the arguments."""
    return [
        x
        for x in flatten((args, kwargs))[0]
        if isinstance(x, Tensor) and not x.is_parameter and x.dtype.kind in ("int", "uint", "bool")
    ]


def _size(structure: Structure) -> tuple[int, int]:
    shapes = [[block.shape for block in row] for row in structure.blocks]
    return sum(row[0][0] for row in shapes if row), sum(shape[1] for shape in shapes[0]) if shapes else 0


def _matrices(data: Sequence[Tensor], structure: Structure) -> list[list[Any]]:
    following = iter(data)
    return [[_filled(like, next(following)) for like in row] for row in structure.blocks]


def _filled(like: Any, tensor: Tensor) -> Any:
    """Return a copy of ``like`` with new values and shared indices.

    The copy avoids SciPy's constructor, which takes 50 µs.
    """
    numbers = tensor.host_array()
    if numbers.dtype.kind != "f" or numbers.dtype.itemsize < 4:
        numbers = numbers.astype(np.float32)  # SciPy's sparse matrices do not support float16
    made = copy(like)
    made.data = np.broadcast_to(numbers, like.indices.shape) if numbers.ndim == 0 else numbers
    return made
