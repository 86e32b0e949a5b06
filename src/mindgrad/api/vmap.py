"""``vmap``: vectorize a function of one batch element over a whole batch.

    vmap(f)(x)[b] = f(x[b])

The function and its control flow are traced once, on symbols with the shape of one element.
``transforms.batch`` converts the traced graph to a graph of the whole batch, without a loop over the batch.
That graph runs eagerly, is recorded for a derivative, or becomes part of the function that is compiled.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from mindgrad.api.arguments import bind_keywords, check_callable, check_count, check_inputs, explains_keywords
from mindgrad.api.callables import (
    arity,
    describe,
    differentiates,
    in_either_mode,
    name_derivative,
    remembered,
)
from mindgrad.core.api.axes import check_axes, frozen, leaf_axes, mapped, size_of, thawed
from mindgrad.core.api.vmap import batched
from mindgrad.core.base.refusal import CompileError
from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.ir.evaluate import inline_here
from mindgrad.core.ir.graph import Graph
from mindgrad.core.ir.memo import retained
from mindgrad.core.ir.rewriting import is_rewriting
from mindgrad.core.ir.scope import (
    GraphScope,
    apply,
    as_it_is,
    innermost,
    lifted,
    open_scopes,
    outermost_program,
)
from mindgrad.core.ir.tensor import Number, Tensor
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.passes.derivative_fusion import fuse_derivatives
from mindgrad.core.primitives.random import random_bits
from mindgrad.core.primitives.static_slices import concatenate
from mindgrad.core.primitives.structural import convert, reshape
from mindgrad.core.trace import references
from mindgrad.core.trace.closed_program import trace
from mindgrad.frontend import effect_log, state, user_calls
from mindgrad.frontend.mode import is_graph_mode
from mindgrad.frontend.programs.donation import window

__all__ = ["vmap"]


@explains_keywords
def vmap(fn: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0) -> Callable[..., Any]:
    """Vectorize ``fn`` over a batch.

    The vectorized function satisfies ``vmap(fn)(xs)[b] = fn(xs[b])``. Each operator runs once on the whole
    batch. ``vmap`` works in both modes and composes with itself, ``grad``, ``jvp``, ``vjp``, ``hessian``,
    ``jit``, and control flow. For example, ``vmap(grad(loss), (None, 0, 0))(w, x, y)`` computes per-sample
    gradients. A ``while`` loop runs until its last element has finished, and a branch whose condition depends
    on the batch element computes both results and selects one for each element.

    Args:
        fn (Callable, Cell, or CellList): function to vectorize. It is traced in both modes: a Python ``if``
            or ``while`` on a tensor is compiled, and an element of the batch cannot be converted to a Python
            number. A CellList of equal Cells is an ensemble: Cell b computes batch element b with its own
            Parameters. Python attributes are read from the first Cell.
        in_axes (int, tuple, list, or None, optional): batch axis of each argument. An int is the batch axis
            of all arguments. A tuple or list has an int or ``None`` for each positional argument, or a nested
            tuple, list, or dict for a container. ``None`` means that all batch elements share the argument.
            Negative axes count from the end. Only an ensemble accepts ``in_axes=None``. Default: ``0``.
        out_axes (int, tuple, list, or None, optional): index of the batch axis in each result of ``fn``. An
            int applies to all results. A tuple or list has the structure of the result. ``None``: the result
            does not depend on the batch element and is returned without a batch axis. Default: ``0``.

    Returns:
        Callable: function of the same arguments as ``fn``. Batched arguments and results have one more axis
        than in ``fn``. A keyword argument that names a positional parameter is batched like that parameter.
        All batch elements share the other keyword arguments. Python numbers that ``fn`` returns are returned
        unchanged.

    Raises:
        TypeError: If ``fn`` is not callable.
        RuntimeError: If, in a call, an entry of ``in_axes`` or ``out_axes`` is invalid or out of bounds, all
            entries of ``in_axes`` are ``None``, or the number of entries does not match the arguments or
            results. Also if batch sizes differ, or a result with ``None`` in ``out_axes`` depends on the
            batch element. Also if ``fn`` assigns to a variable outside ``fn``, or the Cells of an ensemble
            differ in class or in the types of their Parameters.

    All elements share the Parameters that ``fn`` reads. Assigning a Parameter, an attribute, or an outer
    variable raises an error, because each element would assign a different value. Each element draws
    different random numbers, from a generator that is seeded by one draw of the global generator. These
    numbers are reproducible after ``set_seed``, but differ from the random numbers of a loop over the
    elements.

    >>> import mindgrad as ms
    >>> from mindgrad import ops
    >>> x, y = ms.Tensor([[1.0, 2.0], [3.0, 4.0]]), ms.Tensor([10.0, 100.0])
    >>> dot = lambda x, y: (x * y).sum()
    >>> print(ms.vmap(dot)(x, x), ms.vmap(dot, in_axes=(0, None))(x, y))
    [ 5. 25.] [210. 430.]
    >>> print(ms.vmap(ms.vmap(lambda a, b: a * b, (None, 0)), (0, None))(y, y))  # all products
    [[  100.  1000.]
     [ 1000. 10000.]]
    >>> print(ms.vmap(ms.grad(dot), (None, 0))(y, x))  # the gradient of each sample
    [[1. 2.]
     [3. 4.]]

    See Also:
        :func:`mindgrad.grad`, :func:`mindgrad.jit`, :func:`mindgrad.jacobian`,
        :func:`mindgrad.functional_call`
    """
    check_callable("vmap", fn)
    check_axes("in_axes", in_axes)
    check_axes("out_axes", out_axes)
    if not mapped(in_axes) and not _is_ensemble(fn):
        raise RuntimeError(
            "For 'vmap', at least one element of 'in_axes' must not be None: without a mapped argument there "
            "are no elements to map over."
        )
    axes = frozen(in_axes), frozen(out_axes)
    return remembered(fn, ("vmap", *axes), lambda: _made(fn, *axes))


def _is_ensemble(fn: Any) -> bool:
    return getattr(fn, "is_list_of_cells", False)


def _made(fn: Any, in_axes: Any, out_axes: Any) -> Callable[..., Any]:
    ensemble = _is_ensemble(fn)
    if ensemble and not len(fn):
        raise RuntimeError("For 'vmap', the CellList is empty.")
    representative = fn[0] if ensemble else fn

    def run(*args: Any, **kwargs: Any) -> Any:
        listed: Sequence[Any] = args
        signature = arity(representative)
        if kwargs:
            listed, kwargs = bind_keywords(signature, args, kwargs)
        if not kwargs or len(listed) > signature.most:
            check_count(representative, signature, len(listed))
        check_inputs("vmap", listed)
        leaves, structure = flatten(tuple(listed))
        members = _members(fn) if ensemble else []
        axes = _axes_of_arguments(thawed(in_axes), listed, signature.names)
        size, places = size_of(leaves, axes, len(fn) if ensemble else None)
        element = fn[0] if ensemble else fn
        return _mapped(element, leaves, structure, kwargs, places, size, thawed(out_axes), members)

    name_derivative(run, "vmap", fn)
    return differentiates(in_either_mode(representative, run), representative, order=0)


def _members(cells: Any) -> list[list[Any]]:
    """Group the corresponding Parameters of all Cells of an ensemble.

    The result has one group for each Parameter of the first Cell. Parameters that all Cells share have no
    group.

    Raises:
        RuntimeError: If the Cells differ in their classes or in the types of their Parameters.
    """
    state.depends_on(cells)
    listed = [list(cell.get_parameters()) for cell in cells]
    kinds = []
    for cell, parameters in zip(cells, listed, strict=True):
        state.depends_on(cell)
        kinds.append(([type(each) for _, each in cell.cells_and_names()], [p.type for p in parameters]))
    for index, cell in enumerate(cells):
        if kinds[index] != kinds[0]:
            raise RuntimeError(
                f"For 'vmap', the Cells of a CellList must have the same class, and Parameters with the "
                f"same shapes and dtypes, but Cell {index} ({type(cell).__name__}) differs from Cell 0 "
                f"({type(cells[0]).__name__})."
            )
    groups = [list(group) for group in zip(*listed, strict=True)]
    return [group for group in groups if any(p is not group[0] for p in group)]


def _axes_of_arguments(
    in_axes: Any, args: Sequence[Any], names: Sequence[str]
) -> list[tuple[str, int | None]]:
    axes = in_axes
    if isinstance(axes, (tuple, list)):
        if len(axes) != len(args):
            raise RuntimeError(
                f"For 'vmap', the length of 'in_axes' must be the number of arguments, but it has "
                f"{len(axes)} elements, {in_axes!r}, and the number of arguments is {len(args)}."
            )
    else:
        axes = [axes] * len(args)
    labeled = []
    for index, (axis, x) in enumerate(zip(axes, args, strict=True)):
        name = names[index] if index < len(names) else ""
        labeled += leaf_axes("in_axes", axis, x, f"argument {index}" + f" '{name}'" * bool(name))
    return labeled


# -- the function of one batch element --------------------------------------------------------------


def _mapped(
    fn: Callable[..., Any],
    leaves: Sequence[Any],
    structure: Any,
    kwargs: dict[str, Any],
    places: Sequence[int | None],
    size: int,
    out_axes: Any,
    members: Sequence[Sequence[Any]],
) -> Any:
    """Apply ``fn`` to each of ``size`` batch elements.

    ``places`` contains the batch axis of each leaf, or ``None``. For an ensemble, ``members`` are the groups
    of corresponding Parameters, and ``fn`` is the first Cell.
    """
    element = _Element(fn, leaves, structure, kwargs, places, members)
    graph, operands, axes = element.program(size)
    results = element.results
    labeled = leaf_axes("out_axes", out_axes, unflatten(element.structure, results), "the result")
    chosen = [axis for y, axis in zip(results, labeled, strict=True) if isinstance(y, Tensor)]
    chosen += [("the Parameter", place) for _, place in element.assigned]
    program = batched(fuse_derivatives(graph) if is_rewriting() else graph, operands, axes, size, chosen)
    if outermost_program() is None:
        # Keep this graph alive, so that the next call with an equal graph reuses it and the eager engine
        # detects the repeated call.
        program = retained(program)
    following = iter(inline_here(program, operands))
    values = [next(following) if isinstance(y, Tensor) else y for y in results]
    for (parameter, _), value in zip(element.assigned, following, strict=True):
        references.write(parameter, value)
    return unflatten(element.structure, values)


class _Element:
    """The traced graph of ``fn`` for one batch element.

    Attributes:
        results, structure: flattened results of ``fn``, and their nesting.
        assigned: pairs (Parameter, batch axis) of the arguments that ``fn`` modifies by item assignment. The
            graph returns their new values after the results.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        leaves: Sequence[Any],
        structure: Any,
        kwargs: dict[str, Any],
        places: Sequence[int | None],
        members: Sequence[Sequence[Any]],
    ) -> None:
        self._fn, self._leaves, self._structure, self._kwargs = fn, leaves, structure, kwargs
        self._places, self._members = places, members
        self.results: list[Any] = []
        self.structure: Any = None
        self.assigned: list[tuple[Any, int]] = []
        mapped_leaves = [(x, place) for x, place in zip(leaves, places, strict=True) if place is not None]
        self._axes = [place for _, place in mapped_leaves] + [0] * len(members)
        self._batched = [references.read(x) for x, _ in mapped_leaves] + [_joined(group) for group in members]
        types = [tensor_type(x.dtype, x.shape[:k] + x.shape[k + 1 :]) for x, k in mapped_leaves]
        types += [group[0].type for group in members]
        # each batch element has its own state of every random generator, so that the elements draw different
        # numbers
        self._generators = list(state.generators)
        # In eager mode, captured tensors are inputs of the graph, because their values may differ in the next
        # call. During compilation, they are constants of the graph
        self._program = trace(
            self._run,
            [*types, *[generator.type for generator in self._generators]],
            values_are_inputs=outermost_program() is None,
        )

    def _run(self, *symbols: Tensor) -> list[Any]:
        scope: Any = innermost()
        with _unassigned(self._fn):
            following = iter(symbols)
            arguments: list[Any] = []
            parameters: list[
                tuple[Any, int, Tensor, Any]
            ] = []  # Parameters whose elements the function may assign
            for x, dimension in zip(self._leaves, self._places, strict=True):
                if dimension is None:
                    arguments.append(as_it_is(lifted(references.read(x))) if isinstance(x, Tensor) else x)
                    continue
                arguments.append(as_it_is(next(following)))
                if x.is_parameter:
                    parameters.append((x, dimension, arguments[-1], arguments[-1]._atom))
            for parameter in [*[group[0] for group in self._members], *self._generators]:
                scope.bindings[id(parameter)] = next(following)
            args = unflatten(self._structure, arguments)
            arguments.clear()
            returned, self.structure = flatten(_traced(self._fn, args, self._kwargs))
            del args
            self.results = [_result(x) if isinstance(x, Tensor) else x for x in returned]
            del returned  # release the arguments and the tensors of the traced function
            changed = [(x, dimension, now) for x, dimension, now, was in parameters if now._atom is not was]
            parameters.clear()
            self.assigned = [(x, dimension) for x, dimension, _ in changed]
            _check_written(self._fn, scope, self._generators)
            return [*self.results, *[now for *_, now in changed]]

    def program(self, size: int) -> tuple[Graph, list[Tensor], list[int | None]]:
        """Return the graph of one batch element, the batched operands, and their axes.

        The axis is ``None`` if all ``size`` batch elements share the operand.
        """
        graph = self._program.graph
        tensors, axes = dict(self._program.captured), dict[Any, int]()
        count = len(self._batched)
        used = {atom for equation in graph.equations for atom in equation.inputs} | set(graph.outputs)
        for symbol, tensor, axis in zip(graph.inputs, self._batched, self._axes, strict=False):
            tensors[symbol], axes[symbol] = tensor, axis
        for symbol, generator in zip(graph.inputs[count:], self._generators, strict=False):
            if symbol not in used:  # ``fn`` draws no numbers from this random generator
                continue
            is_drawn = id(generator) in self._program.written
            tensors[symbol] = _split(generator, size) if is_drawn else references.read(generator)
            if is_drawn:
                axes[symbol] = 0
        inputs = [variable for variable in graph.inputs if variable in used]
        operands = [lifted(references.read(tensors[variable])) for variable in inputs]
        return Graph(inputs, graph.equations, graph.outputs), operands, [axes.get(v) for v in inputs]


def _result(x: Tensor) -> Tensor:
    """Convert a result of ``fn`` to a tensor of the scope that is being traced.

    A Number gets the dtype of ``Tensor(number)``.
    """
    now = as_it_is(lifted(references.read(x)))
    return apply(convert, now, dtype=Tensor(x.sample()).dtype) if type(x) is Number else now


def _traced(fn: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    try:
        return user_calls.run(fn, *args, **kwargs)
    except CompileError as error:
        if not is_graph_mode() and not hasattr(error, "__notes__"):
            error.add_note("vmap traces its function as if it were compiled, even in PYNATIVE_MODE.")
        raise


def _joined(parameters: Sequence[Any]) -> Tensor:
    """Stack the values of Parameters of one type along a new first axis."""
    values = [lifted(references.read(p)) for p in parameters]
    return apply(concatenate, *[apply(reshape, x, shape=(1, *x.shape)) for x in values], axis=0)


def _split(generator: Any, size: int) -> Tensor:
    """Create states of a random generator for ``size`` batch elements.

    A state consists of two seeds and a counter of calls, which starts at zero. The seeds are random bits from
    one draw of ``generator``.
    """
    with nullcontext() if open_scopes() else window:
        now = lifted(references.read(generator))
        seeds, after = apply(random_bits, now, shape=(size, 2), seeds=(0, 0))
        others, _ = apply(random_bits, now, shape=(size, 2), seeds=(0, 1))
        references.write(generator, after)
    calls = Tensor([[0, 0]] * size, now.dtype)
    return apply(concatenate, seeds, others, calls, axis=1)


# -- assignments outside of the function ---------------------------------------------------------------


def _check_written(fn: Any, scope: GraphScope, generators: Sequence[Any]) -> None:
    known = set(map(id, generators))
    for key, parameter in scope.written.items():
        if key not in known:
            raise RuntimeError(
                f"For 'vmap', the Parameter '{parameter.name}' is assigned in {describe(fn)}: each batch "
                "element would assign a different value. Return the value, and assign it outside vmap. A "
                "layer that updates statistics in training, such as BatchNorm, must be called outside "
                "vmap or with set_train(False)."
            )


@contextmanager
def _unassigned(fn: Any) -> Iterator[None]:
    """Raise ``RuntimeError`` if the ``with`` block assigns to state outside ``fn``."""
    program: Any = outermost_program()
    before = set(program.restored)
    with effect_log.isolated():
        yield
        level = effect_log.innermost()
        labels = [p.label for p, was, surely in level.values() if surely or p.value() is not was]
    if labels:
        raise RuntimeError(
            f"For 'vmap', {describe(fn)} assigns {labels[0]}. The function is traced once for all batch "
            "elements, and each of them would assign a different value. Return the value instead."
        )
    if _rebound_outside(program, before):
        raise RuntimeError(
            f"For 'vmap', {describe(fn)} assigns elements, x[...] = ..., of a tensor that was created "
            "outside. Each batch element would change this tensor. Copy the tensor inside the function, "
            "or return the new elements."
        )


def _rebound_outside(program: GraphScope, before: set[int]) -> bool:
    """Return whether item assignment ``x[0] = 1`` changed a tensor from outside.

    In contrast to local tensors, such a tensor still exists after the call of ``fn``.
    """
    is_rebound = False
    for key in set(program.restored) - before:
        tensor, was, line = program.restored.pop(key)
        still = weakref.ref(tensor)
        del tensor  # release a tensor that was local to the function
        alive = still()
        if alive is not None:
            program.restored[key] = (alive, was, line)
            is_rebound = True
    return is_rebound
