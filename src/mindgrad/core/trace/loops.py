"""Branches and loops: ``cond``, ``while_loop``, ``fori_loop``, and ``scan``.

Each function traces its function arguments to graphs (``trace.closed_program``) and applies one primitive of
``core.control``, both in eager mode and inside ``jit``. All are differentiable to any order.

Operands and carries are containers of tensors, arrays, and numbers. A number is passed to the traced
functions as a scalar that, like a Python number, does not change the element type of a tensor with which it
is combined.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.core.base.tree import flatten, paths, unflatten
from mindgrad.core.control.cond import cond as cond_primitive
from mindgrad.core.control.scan import scan as scan_primitive
from mindgrad.core.control.while_ import while_
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.dtype import bool_, promote, promote_scalar
from mindgrad.core.ir.graph import Graph, Variable
from mindgrad.core.ir.memo import retained
from mindgrad.core.ir.scope import apply, as_it_is, innermost, lifted, outermost_program
from mindgrad.core.ir.tensor import Number, Tensor, make_number
from mindgrad.core.ir.types import TensorType
from mindgrad.core.primitives.arithmetic import add
from mindgrad.core.primitives.comparisons import less
from mindgrad.core.primitives.structural import convert
from mindgrad.core.trace import frontend, references
from mindgrad.core.trace.closed_program import ClosedProgram, trace
from mindgrad.core.trace.numbers import as_python
from mindgrad.core.trace.operands import cast, operand

__all__ = ["cond", "fori_loop", "scan", "while_loop"]


def cond(
    pred: object, true_fun: Callable[..., object], false_fun: Callable[..., object], *operands: object
) -> Any:
    """Apply ``true_fun`` if ``pred`` is true, and ``false_fun`` otherwise.

    Args:
        pred: scalar tensor or number; nonzero means true.
        true_fun, false_fun: functions of the operands. Both must return containers of the same nesting and
            types.
        *operands: containers of tensors and numbers.

    Returns:
        The result of the selected function.

    Raises:
        TypeError: If the results of the functions differ in nesting or types, or ``pred`` is not a scalar.

    >>> from mindgrad.core import cond, grad
    >>> grad(lambda x: cond(x > 1, lambda x: x * x, lambda x: -x, x))(3.0)
    6.0
    """
    _check_functions("cond", true_fun=true_fun, false_fun=false_fun)
    test = cast(operand(pred, "cond"), bool_)
    if test.shape:
        raise TypeError(f"For 'cond', the predicate must be a scalar, but has shape {test.shape}.")
    arguments = _Tree("cond", operands)
    sides = [_Traced("cond", f, arguments) for f in (true_fun, false_fun)]
    types = _common_types(*sides)
    graphs, captured = _joined([side.converted(types) for side in sides], sides)
    results = apply(cond_primitive, test, *captured, *arguments.tensors, true=graphs[0], false=graphs[1])
    are_numbers = [all(pair) for pair in zip(*[side.are_numbers for side in sides], strict=True)]
    return _rebuilt(sides[0].structure, results, are_numbers, sides[0].absent)


def while_loop(cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: object) -> Any:
    """Run ``carry = body_fun(carry)`` while ``cond_fun(carry)`` is true.

    Reverse mode stores the carries of some iterations and recomputes all other carries from them
    (``control.checkpoints``).

    Args:
        cond_fun: function of the carry that returns a scalar.
        body_fun: function of the carry that returns the next carry. The nesting and types must not change.
        init_val: the first carry: a container of tensors and numbers.

    Returns:
        The last carry.

    Raises:
        TypeError: If ``body_fun`` changes the nesting or types of the carry, or the condition is not a
            scalar.

    >>> from mindgrad.core import grad, while_loop
    >>> grad(lambda x: while_loop(lambda y: y < 100, lambda y: y * y, x))(3.0)  # ((x²)²)² = x⁸
    17496.0
    """
    _check_functions("while_loop", cond_fun=cond_fun, body_fun=body_fun)
    return _while_loop("while_loop", cond_fun, body_fun, init_val)


def _while_loop(
    owner: str, cond_fun: Callable[..., object], body_fun: Callable[..., object], init_val: object
) -> Any:
    carry = _Tree(owner, init_val)
    body = _body_of(carry, lambda: _Traced(owner, body_fun, carry, unpack=False))
    test = _Traced(owner, lambda c: _scalar_test(cond_fun(c)), carry, unpack=False)
    (condition, step), captured = _joined(
        [test.converted([v.type for v in test.program.graph.outputs]), body.converted(carry.types)],
        [test, body],
    )
    operands = [*captured, *carry.tensors]
    results = apply(while_, *operands, condition=condition, body=step, consts=len(captured))
    return _rebuilt(carry.structure, results, carry.are_numbers)


def fori_loop(lower: object, upper: object, body_fun: Callable[[Any, Any], Any], init_val: object) -> Any:
    """Run ``carry = body_fun(i, carry)`` for i from ``lower`` to ``upper`` − 1.

    Args:
        lower, upper: ints, or integer tensors. ``upper`` is excluded.
        body_fun: function of the index and the carry that returns the next carry.
        init_val: the first carry: a container of tensors and numbers.

    Returns:
        The last carry.

    Raises:
        TypeError: If ``body_fun`` changes the nesting or types of the carry.

    >>> from mindgrad.core import fori_loop
    >>> fori_loop(0, 4, lambda i, total: total + i, 0)
    6
    """
    _check_functions("fori_loop", body_fun=body_fun)
    first, last = operand(lower, "fori_loop"), operand(upper, "fori_loop")
    if first.shape or last.shape or first.dtype.is_inexact or last.dtype.is_inexact:
        raise TypeError(
            f"For 'fori_loop', lower and upper must be ints or scalar integer tensors, but have types "
            f"{first.type} and {last.type}."
        )
    last = make_number(cast(last, first.dtype)) if type(first) is Number else cast(last, first.dtype)
    increment = cast(operand(1, "fori_loop"), first.dtype)

    def following(carry: tuple[Tensor, object]) -> tuple[Any, Any]:
        index, value = carry
        after = apply(add, index, increment)
        return (make_number(after) if type(index) is Number else after), body_fun(index, value)

    carry = _while_loop("fori_loop", lambda carry: apply(less, carry[0], last), following, (first, init_val))
    return carry[1]


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: object,
    xs: object = None,
    length: int | None = None,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """Run ``carry, y = f(carry, x)`` for each slice x, and stack the values y.

    Args:
        f: function of the carry and a slice. It returns the next carry, whose nesting and types must not
            change, and a container y of tensors and numbers.
        init: the first carry: a container of tensors and numbers.
        xs: container of tensors. Iteration i receives their slices ``x[i]``. If ``xs`` is ``None``, ``f``
            receives ``None`` instead of a slice. Default: ``None``.
        length: number of iterations. Default: ``None``, the size of axis 0 of ``xs``.
        reverse: whether to run from the last slice to the first. Default: ``False``.

    Returns:
        tuple: the last carry, and the values y of all iterations, stacked along a new axis 0.

    Raises:
        TypeError: If ``f`` does not return a pair, or changes the nesting or types of the carry.
        ValueError: If the sizes of axis 0 or ``length`` differ, or neither ``xs`` nor ``length`` is given.

    >>> from mindgrad.core import scan, numpy as np
    >>> last, sums = scan(lambda total, x: (total + x, total + x), 0.0, np.array([1.0, 2.0, 3.0]))
    >>> print(last, sums)
    6.0 [1. 3. 6.]
    """
    _check_functions("scan", f=f)
    carry, scanned = _Tree("scan", init), _Tree("scan", xs, keeps_none=True)
    count = _length(scanned, length)

    def pair(state: object, x: object) -> tuple[Any, Any]:
        result = f(state, x)
        if not isinstance(result, tuple) or len(result) != 2:
            raise TypeError(f"For 'scan', f must return a pair (carry, y), but returned {_kind(result)}.")
        return result

    def traced() -> _Traced:
        slices = _Tree("scan", (init, xs), keeps_none=True)
        slices.types = [*carry.types, *[t.with_shape(t.shape[1:]) for t in scanned.types]]
        slices.are_numbers = [*carry.are_numbers, *[False] * len(scanned.types)]
        return _Traced("scan", pair, slices)

    body = _body_of(carry, traced, is_pair=True)
    parts = len(carry.types)
    types = [*carry.types, *[v.type for v in body.program.graph.outputs[parts:]]]
    (graph,), captured = _joined([body.converted(types)], [body])
    results = apply(
        scan_primitive, *captured, *carry.tensors, *scanned.tensors,
        body=graph, length=count, consts=len(captured), carries=parts, reverse=bool(reverse),
    )  # fmt: skip
    are_numbers = [*carry.are_numbers, *[False] * (len(results) - parts)]
    return _rebuilt(body.structure, results, are_numbers, body.absent)  # type: ignore[no-any-return]


def _length(scanned: _Tree, length: int | None) -> int:
    sizes = {t.shape[:1] for t in scanned.types} | (set() if length is None else {(length,)})
    count = next(iter(sizes), ())
    if len(sizes) != 1 or not count or not hasattr(count[0], "__index__"):
        raise ValueError(
            "For 'scan', the tensors in xs must have the same size along axis 0, which length must equal. "
            "Without xs, length is required. The shapes in xs are "
            f"{[t.shape for t in scanned.types]}, and length is {length}."
        )
    return int(count[0])


def _check_functions(owner: str, **functions: object) -> None:
    for name, function in functions.items():
        if not callable(function):
            raise TypeError(f"For '{owner}', {name} must be a function, but got {_kind(function)}.")


def _kind(value: object) -> str:
    if isinstance(value, Tensor):
        return f"a tensor of type {value.type}"
    return f"{value!r} of type {type(value).__name__}"


def _scalar_test(result: object) -> Tensor:
    test = cast(operand(result, "while_loop"), bool_)
    if test.shape:
        raise TypeError(f"For 'while_loop', the condition must be a scalar, but has shape {test.shape}.")
    return test


class _Tree:
    """A container of operands, converted to tensors.

    Attributes:
        structure: the nesting of the container.
        tensors, types: the tensor of each leaf, and its type.
        are_numbers: whether each leaf is a number instead of a tensor.
    """

    def __init__(self, owner: str, tree: object, keeps_none: bool = False) -> None:
        self.leaves, self.structure = flatten(tree)
        present = [x for x in self.leaves if x is not None or not keeps_none]
        self.tensors = [lifted(operand(x, owner)) for x in present]
        self.types = [t.type for t in self.tensors]
        self.are_numbers = [type(t) is Number for t in self.tensors]

    def filled(self, symbols: Sequence[Tensor]) -> Any:
        """Return the container with ``symbols`` instead of its leaves."""
        following = zip(symbols, self.are_numbers, strict=True)
        values: list[Any] = []
        for leaf in self.leaves:
            if leaf is None and len(self.types) < len(self.leaves):
                values.append(None)
                continue
            symbol, is_number = next(following)
            values.append(make_number(symbol) if is_number else symbol)
        return unflatten(self.structure, values)

    def follow(self, types: Sequence[TensorType], are_numbers: Sequence[bool]) -> bool:
        """Convert numbers for which a loop body returns scalar tensors to scalar tensors.

        ``types`` and ``are_numbers`` describe the carry that the body returns. Returns whether a number was
        converted.
        """
        changed = False
        for k, (type_, is_number) in enumerate(zip(types, are_numbers, strict=False)):
            number = self.tensors[k]
            if isinstance(number, Number) and not is_number and not type_.shape:
                dtype = promote_scalar(type_.dtype, number.sample())
                self.tensors[k], self.are_numbers[k] = cast(as_it_is(number), dtype), False
                self.types[k], changed = type_.with_dtype(dtype), True
        return changed


class _Traced:
    """A function of the leaves of a :class:`_Tree`, traced to a graph.

    Attributes:
        program: the traced function.
        structure: the nesting of its result.
        are_numbers: for each output of the graph, whether it is a number.
        absent: for each leaf of the result, whether it is ``None``, for which the graph has no output.
    """

    def __init__(
        self, owner: str, function: Callable[..., object], operands: _Tree, unpack: bool = True
    ) -> None:
        self.owner = owner
        self.are_numbers: list[bool] = []
        self.absent: list[bool] = []
        self.structure: Any = None

        def run(*symbols: Tensor) -> list[Tensor]:
            arguments = operands.filled(symbols)
            call = function if unpack else lambda *c: function(c[0])
            result = frontend.active.call(call, *(arguments if unpack else (arguments,)))
            leaves, self.structure = flatten(result)
            tensors = [None if x is None else operand(x, owner) for x in leaves]
            self.are_numbers = [type(t) is Number for t in tensors if t is not None]
            self.absent = [t is None for t in tensors]
            scope: Any = innermost()
            if scope.written:
                raise RuntimeError(
                    f"For '{owner}', the function must not assign a reference. Return the new value instead."
                )
            return [t for t in tensors if t is not None]

        with frontend.active.isolated():
            self.program: ClosedProgram = trace(
                run, operands.types, values_are_inputs=outermost_program() is None
            )

    def converted(self, types: Sequence[TensorType]) -> Graph:
        """Return the graph with its outputs converted to the dtypes of ``types``."""
        graph = self.program.graph
        if [y.type for y in graph.outputs] == list(types):
            return graph
        builder = Builder()
        with building(builder):
            outputs = builder.inline(graph, builder.inputs_like(graph.inputs))
            return builder.close(
                [y if y.type is t else convert(y, dtype=t.dtype) for y, t in zip(outputs, types, strict=True)]
            )


def _body_of(carry: _Tree, traced: Callable[[], _Traced], is_pair: bool = False) -> _Traced:
    """Trace the body of a loop, and check that it returns a carry like ``carry``.

    If the body returns a scalar tensor for a number in the carry, the initial number is converted to a
    tensor, and the body is traced again. With ``is_pair``, the body returns a pair whose first element is the
    next carry.

    Raises:
        TypeError: If the nesting or a type of the carry differs.
    """
    while True:
        body = traced()
        structure = body.structure[-1][0] if is_pair else body.structure
        if structure != carry.structure or any(body.absent[: len(carry.types)]):
            expected, returned = (_paths(body.owner, each) for each in (carry.structure, structure))
            raise TypeError(
                f"For '{body.owner}', the function must return a carry of the same structure, with leaves "
                f"{expected}, but returned {_with_none(returned, body.absent)}."
            )
        after = [y.type for y in body.program.graph.outputs[: len(carry.types)]]
        if not carry.follow(after, body.are_numbers):
            break
    for before, now, is_number, path in zip(
        carry.types, after, body.are_numbers, _paths(body.owner, carry.structure), strict=False
    ):
        is_same = now is before or (is_number and promote(now.dtype, before.dtype) is before.dtype)
        if not is_same or now.shape != before.shape:
            raise TypeError(
                f"For '{body.owner}', {path} has type {before} before an iteration, and {now} after it, but "
                f"must keep its type. {_conversion(before, now)}"
            )
    return body


def _paths(owner: str, structure: tuple[Any, ...]) -> list[str]:
    listed = paths(structure, "carry")
    if owner == "fori_loop":
        return ["index", *[path.replace("carry[1]", "carry", 1) for path in listed[1:]]]
    return listed


def _with_none(names: Sequence[str], absent: Sequence[bool]) -> list[str]:
    return [name + " = None" * is_none for name, is_none in zip(names, absent, strict=False)]


def _conversion(first: TensorType, second: TensorType) -> str:
    """Return a sentence that says how to make two types equal."""
    if first.shape == second.shape:
        return f"Convert one of them, for example with x.astype('{str(second.dtype).lower()}')."
    return (
        f"The shapes {first.shape} and {second.shape} differ: return a value of the same shape, for example "
        "by a sum, reshape, or broadcast_to."
    )


def _common_types(first: _Traced, second: _Traced) -> list[TensorType]:
    """Return the types to which the results of both branches are converted.

    If one result is a Python number and the other result is a tensor, the number is converted to the dtype of
    the tensor.
    """
    if first.structure != second.structure or first.absent != second.absent:
        leaves_of = [_with_none(paths(side.structure, "result"), side.absent) for side in (first, second)]
        raise TypeError(
            f"For 'cond', the results of the functions must have the same structure, but true_fun returned "
            f"the leaves {leaves_of[0]}, and false_fun {leaves_of[1]}."
        )
    types = []
    leaves = zip(paths(first.structure, "result"), first.absent, strict=True)
    listed = [path for path, is_absent in leaves if not is_absent]
    pairs = zip(first.program.graph.outputs, second.program.graph.outputs, strict=True)
    for k, (a, b) in enumerate(pairs):
        numbers = first.are_numbers[k], second.are_numbers[k]
        if a.type is b.type or (numbers[1] and not a.shape and not numbers[0]):
            types.append(a.type)
        elif numbers[0] and not b.shape and not numbers[1]:
            types.append(b.type)
        elif all(numbers):
            types.append(a.type.with_dtype(promote(a.dtype, b.dtype)))
        else:
            raise TypeError(
                f"For 'cond', {listed[k]} has type {a.type} in true_fun, and {b.type} in false_fun, but must "
                f"have one type. {_conversion(a.type, b.type)}"
            )
    return types


def _joined(graphs: Sequence[Graph], sides: Sequence[_Traced]) -> tuple[list[Graph], list[Tensor]]:
    """Return ``graphs`` with common inputs, and the tensors that any of them captures.

    The inputs of each returned graph are all captured tensors, followed by the arguments of the graph.
    """
    tensors: dict[int, Tensor] = {}
    for side in sides:
        tensors.update((id(t), t) for t in side.program.captured.values())
    joined = []
    for graph, side in zip(graphs, sides, strict=True):
        captured = list(side.program.captured.values())
        count = len(graph.inputs) - len(captured)
        own = {id(t): v for t, v in zip(captured, graph.inputs[count:], strict=True)}
        inputs = [own[key] if key in own else Variable(t.type) for key, t in tensors.items()]
        whole = Graph([*inputs, *graph.inputs[:count]], graph.equations, graph.outputs)
        joined.append(retained(whole) if outermost_program() is None else whole)
    return joined, [lifted(references.read(t)) for t in tensors.values()]


def _rebuilt(
    structure: object,
    results: Sequence[Tensor],
    are_numbers: Sequence[bool],
    absent: Sequence[bool] | None = None,
) -> Any:
    """Return the container of ``results``, in which numbers are Python numbers."""
    values = [make_number(t) if is_number else t for t, is_number in zip(results, are_numbers, strict=True)]
    following = iter(values)
    filled = values if absent is None else [None if is_absent else next(following) for is_absent in absent]
    return as_python(unflatten(structure, filled))
