"""Compile graphs with XLA, through the public API of JAX.

JAX is imported when the first graph is compiled, never by ``import mindgrad``. The automatic differentiation
of JAX is not used, because derivatives are already part of the graph. Graphs with 64-bit types run in a
scoped ``jax.enable_x64(True)``, which leaves the JAX settings of the user unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import lru_cache, partial
from typing import Any

from mindgrad.core.backend.executable import Executable, GraphProgram, ahead, noting, to_end
from mindgrad.core.backend.jax_import import jax_module
from mindgrad.core.backend.kept_constants import hidden, kept_constants
from mindgrad.core.backend.options import kernel_options, options_of
from mindgrad.core.base.collection import only_young_garbage
from mindgrad.core.base.waiting import interruptible
from mindgrad.core.control.trip_counts import has_long_loops, is_short
from mindgrad.core.ir.cost_model import costs
from mindgrad.core.ir.graph import Constant, Graph, Variable, calls_back, communicates
from mindgrad.core.ir.memo import retained
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.rules import Array, Module
from mindgrad.core.ir.types import TensorType
from mindgrad.core.placement import Layout, Mesh, communication

__all__ = [
    "compile_ahead", "compile_graph", "compile_kernel", "device_count", "is_elsewhere", "lower",
    "lower_ahead", "mesh_devices", "needs_x64", "start_runtime", "to_device", "use_device",
    "use_device_later",
]  # fmt: skip

#: JAX device of all compiled functions; ``None`` for the CPU
_device: Any = None
#: function that sets ``_device`` at the first compilation; ``None`` if ``_device`` is already set
_selection: Callable[[], Any] | None = None
#: JAX devices on which this process has run functions so far
_used: set[Any] = set()


def lower(primitive: Primitive, *operands: Array, **parameters: object) -> Any:
    """Emit ``primitive`` by its XLA rule, for JAX arrays or tracers."""
    jax = jax_module()
    if isinstance(primitive.xla, str):
        function = getattr(jax.lax, primitive.xla, None)
        if function is None:
            raise AttributeError(
                f"the operator '{primitive.name}' declares xla='{primitive.xla}', but `jax.lax` has no such "
                "function. Declare the name of one of its functions, or a function of `jax` and the operands."
            )
        return function(*operands, *parameters.values())
    return primitive.xla(jax, *operands, **parameters)


def _constant(jax: Module, atom: Constant) -> Any:
    if atom.is_splat:
        element = atom.value[()]
        return jax.lax.broadcast(element, atom.shape) if atom.shape else jax.numpy.asarray(element)
    return _repeated(jax, atom, jax.numpy.asarray(atom.smallest()))


def _repeated(jax: Module, atom: Constant, smallest: Array) -> Any:
    if smallest.shape == atom.shape:
        return smallest
    return jax.lax.broadcast_in_dim(smallest, atom.shape, tuple(range(len(atom.shape))))


def _hoisted(graph: Graph) -> list[Constant]:
    """Return the large constants of ``graph``.

    They become operands of the compiled function. All other constants are part of the compiled code.
    """
    return [x for x in _constants(graph) if not x.is_splat and x.smallest().size > costs().inlined_elements]


def _program(graph: Graph, hoisted: Sequence[Constant], *, is_marked: bool = False) -> Callable[..., Any]:
    def run(arguments: Sequence[Array], extra: Sequence[Array]) -> list[Any]:
        jax = jax_module()
        given = {atom: _repeated(jax, atom, each) for atom, each in zip(hoisted, extra, strict=True)}
        return _run(graph, arguments, _Shared(given), is_marked=is_marked)

    return run


class _Shared:
    """Values that the main graph and the inner graphs of a compiled function share.

    Equal inner graphs, such as loop bodies, share one function, so that JAX lowers it only once.

    Attributes:
        hoisted: dict that maps each constant that is an operand of the compiled function to its JAX value.
    """

    __slots__ = ("_functions", "hoisted")

    def __init__(self, hoisted: dict[Constant, Array]) -> None:
        self.hoisted = hoisted
        self._functions: dict[Any, Callable[..., Any]] = {}

    def function(self, graph: Graph) -> Callable[..., Any]:
        """Return ``graph`` as a Python function of JAX arrays or tracers."""
        key = graph.key()
        function = self._functions.get(key)
        if function is None:
            function = self._functions[key] = partial(_nested, graph, self)
        return function


def _run(graph: Graph, arguments: Sequence[Array], shared: _Shared, *, is_marked: bool = False) -> list[Any]:
    """Evaluate ``graph`` on JAX arrays or tracers.

    If ``is_marked`` is true, the last result is an array that depends on all collectives of the graph.
    """
    jax = jax_module()
    values: dict[Any, Any] = dict(zip(graph.inputs, arguments, strict=True))

    def read(atom: Any) -> Any:
        value = values.get(atom)
        if value is None:
            value = shared.hoisted.get(atom)
            value = values[atom] = _constant(jax, atom) if value is None else value
        return value

    order = communication().order(graph) if communicates(graph) else None
    hidden_operands = kept_constants(graph)
    for equation in graph.equations:
        primitive, parameters = equation.primitive, equation.parameters
        operands = [read(atom) for atom in equation.inputs]
        if order is not None:
            operands = order.operands(equation, operands, values)
        if primitive.kind == "control":
            parameters = {k: shared.function(v) if isinstance(v, Graph) else v for k, v in parameters.items()}
        if hidden_operands:
            operands = [
                hidden(jax, x) if (equation, k) in hidden_operands else x for k, x in enumerate(operands)
            ]
        result = lower(primitive, *operands, **parameters)
        if primitive.multiple:
            values.update(zip(equation.outputs, result, strict=True))
        else:
            values[equation.outputs[0]] = result
    results = [read(atom) for atom in graph.outputs]
    return [*results, order.mark(values)] if is_marked and order is not None else results


def _nested(graph: Graph, shared: _Shared, *arguments: Array) -> list[Any]:
    return _run(graph, arguments, shared)


def _constants(graph: Graph) -> dict[Any, None]:
    """Return the constants of ``graph`` and of its inner graphs, as an ordered set."""
    constants = {x: None for x in graph.outputs if type(x) is not Variable}
    for equation in graph.equations:
        constants.update((x, None) for x in equation.inputs if type(x) is not Variable)
        for inner in equation.graphs.values():
            constants.update(_constants(inner))
    return constants


def needs_x64(graph: Graph) -> bool:
    """Return whether a value of ``graph`` has a 64-bit type or type complex128."""

    def wide(type: TensorType) -> bool:
        return type.dtype.itemsize * (1 if type.dtype.kind != "complex" else 0.5) > 4

    atoms = [*graph.inputs, *graph.outputs]
    for equation in graph.equations:
        atoms.extend(equation.inputs)
        atoms.extend(equation.outputs)
        if any(map(needs_x64, equation.graphs.values())):
            return True
    return any(wide(atom.type) for atom in atoms)


#: XLA may omit the rounding of a float32 value to float16 or bfloat16 and back. This option prevents that
_EXACT = {"xla_allow_excess_precision": "False"}


def compile_graph(graph: Graph) -> Callable[[Sequence[Any]], list[Any]]:
    """Compile ``graph`` to a function from a list of arrays to a list of JAX arrays.

    The arguments are NumPy or JAX arrays with the types of the graph's inputs. When a call returns,
    everything that the compiled function prints has been printed.
    """
    if communicates(graph):
        executable = compile_ahead(graph)
        return lambda arrays: executable.run(list(arrays), [], executable.extra)
    hoisted = _hoisted(graph)
    extra = [atom.smallest() for atom in hoisted]
    jitted = jax_module().jit(_program(graph, hoisted))

    def run(arrays: Sequence[Array]) -> list[Any]:
        jax_module()  # raises RuntimeError in a forked process
        return jitted(arrays, extra)

    if calls_back(graph):
        run = to_end(run)
    # JAX settings apply to one thread. Set them inside the function, because `interruptible` may call it in
    # another thread
    scoped = _scoped(run, needs_x64(graph))
    if has_long_loops(graph):
        return partial(interruptible, scoped)
    return scoped if _ends_soon(graph) else noting(scoped)


def compile_ahead(
    graph: Graph,
    donated: Sequence[int] = (),
    is_exact: bool = False,
    placement: Layout | None = None,
    pending_results: int = 0,
) -> Executable:
    """Compile ``graph`` for operands on the device, or load it from the compile cache.

    Args:
        graph: the graph.
        donated: positions of inputs whose memory the compiled function may reuse.
        is_exact: whether float16 and bfloat16 values are rounded and overflow as in eager mode.
        placement: devices and array layouts of a sharded computation; ``None`` for one device.
        pending_results: number of results, counted from the first, that may be pending arrays. If several
            processes run the graph, these results stay on the mesh of devices and can be passed to another
            call without a copy.
    """
    jax = jax_module()
    hoisted = _hoisted(graph)
    mesh = communication().mesh_of(graph, _selected()) if communicates(graph) else None
    # XLA removes computations that affect only empty arrays. If it removed a collective on one rank, all
    # other ranks would wait forever.
    is_marked = mesh is not None and _has_empty_arrays(graph)
    program = _program(graph, hoisted, is_marked=is_marked)
    undonated = [k for k in range(len(graph.inputs)) if k not in donated]
    places = [*undonated, *donated]

    def run(arrays: Sequence[Array], given: Sequence[Array], extra: Sequence[Array]) -> list[Any]:
        operands: list[Any] = [None] * len(places)
        for place, operand in zip(places, [*arrays, *given], strict=True):
            operands[place] = operand
        return program(operands, extra)

    def shapes(places: Sequence[int]) -> list[Any]:
        types = [graph.inputs[k].type for k in places]
        layouts = [None if placement is None else placement.input_sharding(k) for k in places]
        return [
            jax.ShapeDtypeStruct(type_.shape, type_.dtype.numpy, sharding=layout)
            for type_, layout in zip(types, layouts, strict=True)
        ]

    extra = [atom.smallest() for atom in hoisted]
    operands = [
        shapes(undonated), shapes(donated), [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in extra]
    ]  # fmt: skip
    device = _target()
    function: Any = run
    if mesh is not None:
        shapes_of_results = [y.shape for y in graph.outputs] + [(1,)] * is_marked
        function, operands = mesh.mapped(run, operands, shapes_of_results)
    with nullcontext() if placement is None else placement.lowering():
        compiled = ahead(
            function,
            operands,
            needs_x64(graph),
            device,
            None if calls_back(graph) or mesh is not None else GraphProgram(graph, hoisted, donated),
            options_of(graph, device) | (_EXACT if is_exact and graph.has_halves() else {}),
            placement,
        )
    layouts = None if placement is None else placement.laid_out(compiled, undonated, donated)
    constants = (
        list(map(to_device, extra)) if placement is None else placement.constants(compiled, extra, to_device)
    )
    return _executable(compiled, graph, constants, layouts, placement, mesh, pending_results)


def _executable(
    compiled: Callable,
    graph: Graph,
    constants: Sequence[Array],
    layouts: Sequence[object] | None,
    placement: Layout | None,
    mesh: Mesh | None,
    pending_results: int,
) -> Executable:
    """Wrap a compiled function in an :class:`Executable`."""
    may_take_long = has_long_loops(graph)
    if calls_back(graph) or may_take_long:
        pending_results = 0  # each call waits for its results, so no results are pending
    call = compiled if placement is None else placement.noted(compiled, graph)
    if mesh is not None:
        call = mesh.joining(compiled, graph, pending_results)
    if not may_take_long and (mesh or placement or not _ends_soon(graph)):
        call = noting(call)
    executable = Executable(call, constants, calls_back(graph), may_take_long, layouts)
    executable.compiled, executable.takes_parts = compiled, mesh is not None
    return executable


def _ends_soon(graph: Graph) -> bool:
    """Return whether a call of ``graph`` ends before a user would press Ctrl-C."""
    return getattr(_selected(), "platform", "cpu") == "cpu" and not calls_back(graph) and is_short(graph)


def _has_empty_arrays(graph: Graph) -> bool:
    return any(not y.type.size for equation in graph.equations for y in equation.outputs)


def lower_ahead(graph: Graph) -> Any:
    """Lower ``graph`` without compiling it, and return the lowered object of JAX."""
    jax = jax_module()
    shapes = [jax.ShapeDtypeStruct(v.shape, v.type.dtype.numpy) for v in graph.inputs]
    with jax.enable_x64(needs_x64(graph)), only_young_garbage:
        return jax.jit(_program(graph, ())).lower(shapes, ())


def compile_kernel(primitive: Primitive, parameters: tuple[tuple[str, object], ...]) -> Callable[..., Any]:
    """Return one operator as a compiled function of arrays."""
    if primitive.kind == "control":
        parameters = tuple([(k, retained(v) if isinstance(v, Graph) else v) for k, v in parameters])
    return _kernel(primitive, parameters, _selected())


@lru_cache(maxsize=4096)
def _kernel(primitive: Primitive, parameters: tuple[tuple[str, object], ...], device: object) -> Callable:
    shared = _Shared({})
    keywords = {k: shared.function(v) if isinstance(v, Graph) else v for k, v in parameters}
    jitted = jax_module().jit(
        lambda *arrays: lower(primitive, *arrays, **keywords), compiler_options=kernel_options(device) or None
    )
    return _scoped(jitted, True)


def start_runtime() -> None:
    """Start the JAX runtime and its threads, before a computation needs them."""
    jax_module().devices()


def mesh_devices(count: int) -> tuple[Any, ...]:
    """Return ``count`` JAX devices of the same kind as the selected device.

    Raises:
        ValueError: If there are fewer devices.
    """
    devices = _devices()
    if count > len(devices):
        raise ValueError(
            f"a computation is divided among {count} devices, but JAX finds {len(devices)}. On a CPU, set "
            f"XLA_FLAGS=--xla_force_host_platform_device_count={count} before the program starts to create "
            "more devices."
        )
    return tuple(devices[:count])


def _devices() -> list[Any]:
    target = _target()
    return list(jax_module().devices(None if target is None else target.platform))


def device_count() -> int:
    """Return the number of JAX devices of the same kind as the selected device."""
    return len(_devices())


def use_device(device: object) -> None:
    """Set the JAX device of later compilations; ``None`` for the CPU."""
    global _device, _selection
    _device, _selection = device, None


def use_device_later(selection: Callable) -> None:
    """Register ``selection``, a function that sets the device at the next compilation."""
    global _selection
    _selection = selection


def _selected() -> Any:
    """Return the selected JAX device; ``None`` for the CPU."""
    global _selection
    if _selection is not None:
        selection, _selection = _selection, None
        selection()
    return _device


def _target() -> Any:
    """Return the device to pass to JAX; ``None`` for the default device of JAX."""
    jax = jax_module()
    _used.add(_selected())
    if _device is None and jax.default_backend() != "cpu":
        return jax.local_devices(backend="cpu")[0]
    return _device


def _scoped(function: Callable, x64: bool) -> Callable[..., Any]:
    """Wrap ``function`` so that its calls run on the selected device.

    If ``x64`` is true, JAX uses 64-bit types in these calls.
    """
    jax = jax_module()
    device = _target()
    if device is not None:

        def run_there(*arguments: object) -> Any:
            with jax.default_device(device), jax.enable_x64(x64 or jax.config.jax_enable_x64):
                return function(*arguments)

        return run_there
    if not x64:
        return function

    def run_wide(*arguments: object) -> Any:
        with jax.enable_x64(True):
            return function(*arguments)

    return run_wide


def is_elsewhere(array: Any) -> bool:
    """Return whether a JAX array is on a single device, but not the selected device."""
    _used.add(_selected())
    if len(_used) == 1:
        return False
    devices = array.devices()
    return len(devices) == 1 and devices != {_target() or jax_module().local_devices(backend="cpu")[0]}


def to_device(array: Array) -> Any:
    """Put a NumPy or JAX array on the selected device.

    The element type does not change, whatever the JAX settings. On a CPU, an aligned array shares its memory.
    """
    jax = jax_module()
    with jax.enable_x64(True):
        return jax.device_put(array, _target())
