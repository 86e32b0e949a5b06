"""``Cell``, the base class of layers and networks."""

from __future__ import annotations

import inspect
from typing import Any, Self

from mindgrad._base.foreign_names import CELLS, accepted_names, without_construct
from mindgrad.api.entry_points import ENTRY_POINTS, leave
from mindgrad.api.input_signature import declared_sizes
from mindgrad.api.recompute import check_options, run_recomputed
from mindgrad.common.parameter import Parameter, ParameterTuple, _Buffer
from mindgrad.core.base.keywords import check_keywords
from mindgrad.core.base.tree import map_leaves
from mindgrad.core.ir.dtype import DType, as_dtype
from mindgrad.core.ir.scope import open_scopes
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.trace import references
from mindgrad.core.trace.custom import CustomDerivative
from mindgrad.eager.tiers import EagerCalls
from mindgrad.frontend import mutation_policy, replayed_forward, state, user_calls
from mindgrad.frontend.depth import explain_depth
from mindgrad.frontend.effect_log import UNDEFINED
from mindgrad.frontend.mode import is_graph_mode
from mindgrad.frontend.programs.array_arguments import with_tensors
from mindgrad.frontend.programs.compiled import Compiled
from mindgrad.nn.cell_path import name_path_in_errors
from mindgrad.nn.compatibility import Compatible
from mindgrad.nn.hooks import HookHandle
from mindgrad.ops.operands import is_selection
from mindgrad.ops.sharded_function import Sharded, shard

__all__ = ["Cell", "HookHandle"]


#: Attributes whose assignment does not discard compiled code: ``set_train``, for example, assigns
#: ``training``. The compile cache has a separate entry for each combination of their values.
_FLAGS = ("training", "requires_grad")


class Cell(Compatible):
    """Base class of layers and networks, with Parameters and inner Cells.

    A subclass defines ``construct``; its attributes hold Parameters and inner Cells. In GRAPH_MODE a call
    compiles ``construct`` with all inner Cells to one program, once for each combination of argument types.
    In PYNATIVE_MODE the operators run one by one.

    A Cell can define a custom derivative ``bprop(self, *inputs, out, dout)``, which returns a tuple with one
    gradient for each input. This method replaces the derivative of ``construct``. The gradient with respect
    to Parameters that ``construct`` reads is then zero.

    Args:
        auto_prefix (bool, optional): whether the names of Parameters of an inner Cell begin with the name of
            the attribute that holds the inner Cell. Default: ``True``.
        flags (dict, optional): dict that maps attribute names to values, which are set on the Cell. Default:
            ``None``.

    >>> import mindgrad as ms
    >>> class Square(ms.nn.Cell):
    ...     def construct(self, x):
    ...         return x * x
    >>> print(Square()(ms.Tensor([3.0])))
    [9.]

    See Also:
        :class:`mindgrad.Parameter`, :class:`mindgrad.nn.SequentialCell`, :class:`mindgrad.nn.CellList`,
        :func:`mindgrad.functional_call`
    """

    _compiled: Compiled
    _custom: CustomDerivative | None
    _eager: EagerCalls
    _recomputes = False

    #: compute dtype that ``to_float`` has set; ``None`` without ``to_float``
    _to_float: DType | None = None

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        if kwargs and (accepted := accepted_names(cls.__init__)) is not None:
            check_keywords(cls.__name__, kwargs, accepted)
        return super().__new__(cls)

    def __init__(self, auto_prefix: bool = True, flags: dict[str, Any] | None = None) -> None:
        set_raw = object.__setattr__
        set_raw(self, "_params", {})
        set_raw(self, "_cells", {})
        set_raw(self, "_hooks", {})
        set_raw(self, "_made_in", references.compilation())
        self._make_callables()
        self._auto_prefix = auto_prefix
        self.training = False
        self.requires_grad = False
        self.cell_type: str | None = None
        self.add_flags(**(flags or {}))

    def __getattr__(self, name: str) -> Any:
        if "_params" in self.__dict__:
            hint = f". In mindgrad: {CELLS[name]}" if name in CELLS else ""
            raise AttributeError(
                f"'{type(self).__name__}' object has no attribute '{name}'{hint}", name=name, obj=self
            )
        raise AttributeError(
            f"For '{type(self).__name__}', call super().__init__() in '__init__' before '{name}' is used."
        )

    def _make_callables(self) -> None:
        name = type(self).__name__
        compiled = Compiled(self._run, declared_sizes(self.__dict__.get("_declared_inputs"), name))
        object.__setattr__(self, "_compiled", compiled)
        object.__setattr__(self, "_eager", EagerCalls(name, self))
        object.__setattr__(self, "_custom", self._custom_derivative())

    def __getstate__(self) -> dict[str, Any]:
        state.note_all(self)
        return {
            k: v for k, v in self.__dict__.items() if k not in ("_compiled", "_custom", "_eager", "_made_in")
        }

    def __setstate__(self, held: dict[str, Any]) -> None:
        self.__dict__.update(held)
        self._make_callables()

    # -- assignment of attributes and flags ------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        attributes = self.__dict__
        if "_params" not in attributes:
            if isinstance(value, (Parameter, Cell, ParameterTuple)):
                raise AttributeError(
                    f"For '{type(self).__name__}', call super().__init__() in '__init__' before you assign "
                    f"'{name}', which contains Parameters."
                )
            # before super().__init__(), a Cell can have only plain attributes
            object.__setattr__(self, name, value)
            return
        params, cells = attributes["_params"], attributes["_cells"]
        parameter = params.get(name)
        if parameter is not None and isinstance(value, Tensor) and not isinstance(value, Parameter):
            parameter.set_data(value)
            return
        if self._is_fixed():
            mutation_policy.assign_attribute(self, name, value)
            return
        if type(value) is _Buffer:
            self.register_buffer(name, Tensor(value), value.persistent)
            return
        if name in _FLAGS:
            object.__setattr__(self, name, value)
            return
        if name in attributes and _equal(attributes[name], value):
            return
        if parameter is not None and not (
            value is None or isinstance(value, (Parameter, Cell, ParameterTuple))
        ):
            raise TypeError(
                f"For '{type(self).__name__}', '{name}' is a Parameter and would be lost, because an "
                f"object of type {type(value).__name__} is assigned to this attribute. Assign a Tensor to "
                f"change its value, a Parameter to replace it, or None to remove it."
            )
        if name in cells and not (
            value is None or callable(value) or isinstance(value, (Parameter, ParameterTuple))
        ):
            raise TypeError(
                f"For '{type(self).__name__}', '{name}' is a Cell and would be lost, because an "
                f"object of type {type(value).__name__} is assigned to this attribute. Assign a Cell or "
                f"function to replace it, or None to remove it."
            )
        if isinstance(value, Parameter):
            self.insert_param_to_cell(name, value)
        elif isinstance(value, Cell):
            params.pop(name, None)
            cells[name] = value
            if self._auto_prefix:
                value.update_parameters_name(f"{name}.")
        else:
            params.pop(name, None)
            cells.pop(name, None)
        object.__setattr__(self, name, value)

    def _is_fixed(self) -> bool:
        """Return whether a function is being traced that did not create this Cell."""
        if not references.is_compiling():
            return False
        made_in = self.__dict__.get("_made_in")
        return made_in is None or made_in != references.compilation()

    def __delattr__(self, name: str) -> None:
        if self._is_fixed() and name in self.__dict__:
            mutation_policy.assign_attribute(self, name, UNDEFINED)
            return
        self._params.pop(name, None)
        self._cells.pop(name, None)
        object.__delattr__(self, name)

    def add_flags(self, **flags: Any) -> Self:
        """Set attributes, and return the Cell.

        Args:
            **flags (Any): names and new values of attributes of the Cell.
        """
        for name, value in flags.items():
            setattr(self, name, value)
        object.__setattr__(self, "_flags", {**self.get_flags(), **flags})
        return self

    def add_flags_recursive(self, **flags: Any) -> Self:
        """Set attributes of this Cell and all inner Cells, and return the Cell.

        Args:
            **flags (Any): names and new values of attributes of the Cell.
        """
        for _, cell in self.cells_and_names():
            cell.add_flags(**flags)
        return self

    def get_flags(self) -> dict[str, Any]:
        """Return the flags that ``add_flags`` has set."""
        return dict(getattr(self, "_flags", {}))

    # -- calling the Cell ------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        is_outermost = not open_scopes()
        try:
            if is_outermost and is_graph_mode():
                return self._compiled.call(args, kwargs)
            for x in args or kwargs:
                if type(x) is not Tensor:
                    args, kwargs = with_tensors((args, kwargs))
                    break
            return self._eager(self._run, args, kwargs) if is_outermost else self._run(*args, **kwargs)
        except RecursionError as error:
            explain_depth(error)
            leave()
            raise
        except Exception:
            leave()
            raise

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        state.depends_on(self)
        if self.requires_grad and not kwargs:
            with replayed_forward.noted(self, args):
                return self._run_converted(args, kwargs)
        return self._run_converted(args, kwargs)

    def _run_converted(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        dtype = self._to_float
        is_changed = self._hooks or self._recomputes or self._custom is not None
        # fast path: no ``to_float`` and no hooks
        if not is_changed and dtype is state.float_type() is None:
            return user_calls.run(self.construct, *args, **kwargs)
        if dtype is not None:
            args, kwargs = map_leaves(lambda x: _as_float(x, dtype), (args, kwargs))
        if dtype is state.float_type():
            return self._run_body(args, kwargs)
        with state.computing_in(dtype):
            return self._run_body(args, kwargs)

    def _run_body(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._custom is not None and open_scopes():
            if kwargs:
                bound = inspect.signature(self.construct).bind(*args, **kwargs)
                bound.apply_defaults()
                args = bound.args
            return self._custom(*args)
        if self._hooks:
            return self._run_hooked(args, kwargs)
        if self._recomputes:
            return run_recomputed(self.construct, args, kwargs)
        return user_calls.run(self.construct, *args, **kwargs)

    def _custom_derivative(self) -> CustomDerivative | None:
        bprop = getattr(type(self), "bprop", None)
        if bprop is None:
            return None
        parameters = inspect.signature(bprop).parameters
        names = list(parameters)
        takes_all = any(each.kind is each.VAR_POSITIONAL for each in parameters.values())
        if not takes_all and ("out" not in names or "dout" not in names):
            raise TypeError(
                f"The params of function 'bprop' of Primitive or Cell requires the forward inputs as "
                f"well as the 'out' and 'dout', but 'bprop' of {type(self).__name__} has {names}."
            )
        return CustomDerivative(
            lambda *args: user_calls.run(self.construct, *args),
            lambda *args: user_calls.run(self.bprop, *args),  # type: ignore[attr-defined]
            type(self).__name__,
        )

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the output. Each subclass defines this method."""
        raise AttributeError(without_construct(type(self)))

    # -- training mode, gradients, and compute dtype ---------------------------------------------

    def set_train(self, mode: bool = True) -> Self:
        """Set the training mode of this Cell and all inner Cells, and return the Cell.

        Args:
            mode (bool, optional): ``True`` for training, ``False`` for evaluation; value of the attribute
                ``training``. Default: ``True``.
        """
        if mode not in (True, False):
            raise TypeError(f"For 'set_train', the 'mode' must be a bool, but got {mode!r}.")
        mode = bool(mode)
        for _, cell in self.cells_and_names():
            if cell.training is not mode:
                cell.training = mode
        return self

    def set_grad(self, requires_grad: bool = True) -> Self:
        """Set the attribute ``requires_grad``, which does not change gradients.

        Args:
            requires_grad (bool, optional): value of the attribute ``requires_grad``. Default: ``True``.
        """
        if requires_grad not in (True, False):
            raise TypeError(f"For 'set_grad', the 'requires_grad' must be a bool, but got {requires_grad!r}.")
        self.requires_grad = requires_grad
        return self

    def to_float(self, dst_type: Any) -> Self:
        """Compute this Cell and all its inner Cells in another floating-point dtype.

        When the Cell is called, its floating-point inputs and the Parameters that it reads are converted
        first. Parameters keep their dtype for storage, assignment, and differentiation. Results and tensors
        that are plain attributes are not converted. A later call of ``to_float``, of this Cell or of an inner
        Cell, overrides an earlier one.

        Args:
            dst_type (DType): dtype of the computation: float16, float32, or bfloat16.

        Returns:
            Cell: the Cell itself.

        Raises:
            ValueError: If ``dst_type`` is not float16, float32, or bfloat16.

        >>> import mindgrad as ms
        >>> class Scale(ms.nn.Cell):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.factor = ms.Parameter(2.0)
        ...     def construct(self, x):
        ...         return self.factor * x
        >>> Scale().to_float(ms.float16)(ms.Tensor([1.5]))
        Tensor(shape=[1], dtype=Float16, value= [ 3.0000e+00])
        """
        try:
            dtype = as_dtype(dst_type)
        except TypeError:
            dtype = None
        if dtype is None or not dtype.is_float or dtype.itemsize > 4:
            raise ValueError(
                f"For 'to_float', the argument 'dst_type' should be float16, float32 or bfloat16, but got "
                f"{dst_type}."
            )
        for _, cell in self.cells_and_names():
            if cell._to_float is not dtype:
                object.__setattr__(cell, "_to_float", dtype)
        return self

    def cast_inputs(self, inputs: Any, dst_type: Any) -> list[Any]:
        """Convert the floating-point tensors of a tuple or list to another dtype.

        Args:
            inputs (tuple or list): tensors and other values.
            dst_type (DType): floating-point dtype to convert to.

        Returns:
            list: the elements of ``inputs``, with floating-point tensors converted to ``dst_type``.
        """
        wanted = as_dtype(dst_type)
        return [map_leaves(lambda x: _as_float(x, wanted), each) for each in inputs]

    # -- compilation, recomputation, and sharding ------------------------------------------------

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Compile the Cell for given arguments without running it (GRAPH_MODE only).

        Args:
            *args (Any): positional arguments of the Cell. For tensors, only dtype and shape are used, not the
                values.
            **kwargs (Any): keyword arguments of the Cell.
        """
        if is_graph_mode():
            self._compiled.prepare(*args, **kwargs)

    def recompute(
        self,
        *,
        use_reentrant: bool = True,
        output_recompute: bool = False,
        early_stop: bool = True,
        context_fn: Any = None,
        **kwargs: Any,
    ) -> None:
        """Recompute this Cell in reverse mode instead of storing its intermediate values.

        This is gradient checkpointing, see :func:`mindgrad.recompute`.

        Args:
            use_reentrant (bool, optional): accepted for compatibility. Default: ``True``.
            output_recompute (bool, optional): accepted for compatibility. Default: ``False``.
            early_stop (bool, optional): accepted for compatibility. Default: ``True``.
            context_fn (None, optional): must be ``None``. Default: ``None``.
            **kwargs (bool): ``mp_comm_recompute`` and ``parallel_optimizer_comm_recompute``, accepted for
                compatibility.

        Raises:
            TypeError: If a flag such as ``use_reentrant`` is not a bool, or a keyword argument is unknown.
            ValueError: If ``context_fn`` is not ``None``.
        """
        for name in kwargs:
            if name not in ("mp_comm_recompute", "parallel_optimizer_comm_recompute"):
                raise ValueError(f"For 'recompute', unknown argument {name!r}.")
        check_options(use_reentrant, output_recompute, early_stop, context_fn)
        object.__setattr__(self, "_recomputes", True)

    def shard(
        self,
        in_strategy: Any,
        out_strategy: Any = None,
        parameter_plan: Any = None,
        device: Any = None,
        level: int = 0,
    ) -> Sharded:
        """Divide the tensors of the Cell among devices.

        See :func:`mindgrad.parallel.shard`.
        ``device`` and ``level`` have no effect: the context chooses the device, and XLA the partition.
        """
        return shard(self, in_strategy, out_strategy, parameter_plan)

    # -- printed form ----------------------------------------------------------------------------

    def extend_repr(self) -> str:
        """Return the string that the Cell adds to its ``repr``."""
        return ""

    def __dir__(self) -> list[str]:
        state.note_all(self)
        return list(super().__dir__())

    def __repr__(self) -> str:
        state.note_all(self)
        extra = self.extend_repr()
        if not self._cells:
            return f"{type(self).__name__}({extra})"
        lines = [f"{type(self).__name__}("]
        if extra:
            lines.append(f"  {extra}")
        for name, cell in self._cells.items():
            inner = repr(cell).replace("\n", "\n  ")
            lines.append(f"  ({name}): {inner}")
        return "\n".join([*lines, ")"])


name_path_in_errors(Cell)
ENTRY_POINTS.add(Cell.__call__.__code__)


def _equal(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and isinstance(a, (bool, int, float, str)) and a == b)


def _as_float(x: Any, dtype: DType) -> Any:
    """Convert a floating-point tensor to ``dtype``; return other values unchanged."""
    if (isinstance(x, Tensor) or is_selection(x)) and x.dtype.is_float:
        return x.astype(dtype)
    return x
