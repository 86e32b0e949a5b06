"""Parameters are tensors that a program owns, reads and writes."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterable
from typing import Any

from mindgrad._base.checks import of_type
from mindgrad._base.foreign_names import check_keywords
from mindgrad._base.text import parameter_repr
from mindgrad.common.initializer import initializer
from mindgrad.execution.donation import settled
from mindgrad.ir.dtype import as_dtype, int32
from mindgrad.ir.pending import PendingArray
from mindgrad.ir.scope import current_deferral
from mindgrad.ir.tensor import Tensor, make_tensor
from mindgrad.ir.types import TensorType
from mindgrad.trace import state
from mindgrad.trace.guards import clock

__all__ = ["DEFAULT_NAME", "Parameter", "ParameterTuple"]

#: the name of a Parameter that was given none; the Cell that gets it names it after the attribute
DEFAULT_NAME = "Parameter"
#: of Parameters without a name that are used together
_numbers = itertools.count(1)


_ARGUMENTS = (
    "default_input", "name", "requires_grad", "layerwise_parallel", "parallel_optimizer", "storage_format",
    "device",
)  # fmt: skip


class Parameter(Tensor):
    """A tensor with a name that a Cell owns and an optimiser changes.

    Args:
        default_input: the initial value: a Tensor, NumPy array, number or list; an int becomes Int32.
        name: its name; a Cell that it is assigned to names a nameless one after the attribute.
        requires_grad: whether ``trainable_params`` lists it. Gradients and optimizers do not read it, as in
            MindSpore: give both ``net.trainable_params()`` to freeze a Parameter.
        layerwise_parallel: accepted for compatibility; one process owns every Parameter.
        parallel_optimizer: whether the state that an optimiser keeps for it may be divided among devices
            (``set_auto_parallel_context(enable_parallel_optimizer=True)``).
        storage_format: accepted for compatibility; arrays lie in the order of rows.
        device: accepted for compatibility; a program's device is that of the context.

    Raises:
        TypeError: ``name`` is no string, or ``requires_grad`` no bool.
        ValueError: ``name`` is empty.

    >>> from mindgrad import Parameter, Tensor
    >>> w = Parameter(Tensor([1.0, 2.0]), name="w")
    >>> w
    Parameter (name=w, shape=(2,), dtype=Float32, requires_grad=True)
    >>> print(w * 2)
    [2. 4.]
    """

    is_parameter = True

    #: whether it lives as long as the process, so that nothing is kept for its sake
    is_permanent = False

    #: the number of devices that its array is divided among, and how (``ir.partition``); ``None``: open
    layout: tuple[int, Any] | None = None

    #: the Parameter that it was cloned from, whose layout it follows
    origin: Parameter | None = None

    #: what trainers ask a Parameter of MindSpore's: it lies whole in its process, not on a server, and no
    #: cache of its rows is in front of it
    cache_enable, cache_shape = False, ()
    init_in_server, is_param_ps, sliced = False, False, False
    comm_fusion, parallel_optimizer_comm_recompute, requires_aggr = 1, False, True

    def __init__(
        self,
        default_input: Any,
        name: str | None = None,
        requires_grad: bool = True,
        layerwise_parallel: bool = False,
        parallel_optimizer: bool = True,
        storage_format: str = "",
        device: str | None = None,
        **unknown: Any,
    ) -> None:
        if unknown:
            check_keywords("Parameter", unknown, _ARGUMENTS)
        if isinstance(default_input, Parameter):
            default_input = default_input.value()
        elif type(default_input) is int:
            default_input = Tensor(default_input, int32)
        super().__init__(default_input)
        if self.is_traced:
            raise TypeError(
                "a Parameter was made from a tensor that is being differentiated or compiled; make "
                "Parameters in '__init__' of a Cell, from values."
            )
        self.name = name
        self.requires_grad = requires_grad
        self.layerwise_parallel = layerwise_parallel
        self.parallel_optimizer = parallel_optimizer

    @property
    def name(self) -> str:
        """The name; inside Cells it starts with the path of attributes: ``layer.weight``."""
        return self._name

    @name.setter
    def name(self, name: str | None) -> None:
        if name is None:
            name = DEFAULT_NAME
        of_type(name, str, "Parameter", "name", "a string or None")
        if not name:
            raise ValueError("For 'Parameter', the 'name' must not be empty; leave it out or give one.")
        self._name = name

    @property
    def requires_grad(self) -> bool:
        """Whether ``trainable_params`` lists the Parameter."""
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise TypeError(
                f"For 'Parameter', 'requires_grad' must be a bool, but got {type(value).__name__}."
            )
        self._requires_grad = value

    # -- value -----------------------------------------------------------------------------------

    def store(self, value: Tensor) -> None:
        """Replace the stored value now, whatever program is being traced (for executors)."""
        new = value.type
        changed = new is not self.type
        array = value._array
        deferral = current_deferral()
        if deferral is not None and type(array) is PendingArray and array.deferral is deferral:
            deferral.stores(self)  # which ends with the deferred call, or ends it now
            self._array = array if current_deferral() is deferral else settled(array)
        else:
            self._array = settled(array)
        self._type = new
        if changed:
            clock.tick()

    def retype(self, type: TensorType) -> None:
        """Say of which type the stored value is (for executors, which store values themselves)."""
        self._type = type
        clock.tick()

    def host_array(self) -> Any:
        current = state.read(self)
        return super().host_array() if current is self else current.host_array()

    def value(self) -> Tensor:
        """The current value as a plain tensor."""
        current = state.read(self)
        if current is not self:
            return current
        array = self._array
        return make_tensor(array if type(array) is PendingArray else settled(array), self._type)

    @property
    def data(self) -> Parameter:
        """The Parameter itself, as in MindSpore."""
        return self

    def set_data(self, data: Any, slice_shape: bool = False) -> Parameter:
        """Replace the value; later programs, compiled ones included, read the new one.

        Args:
            data: the new value; it is converted to the Parameter's element type.
            slice_shape: whether the shape may change.

        Returns:
            The Parameter itself.

        Raises:
            ValueError: the shape differs and ``slice_shape`` is not set.
            TypeError: the element type holds more than the Parameter's (float64 into float32).
        """
        new = data if isinstance(data, Tensor) else Tensor(data)
        if isinstance(new, Parameter):
            new = new.value()
        if new.shape != self.shape and not slice_shape:
            raise ValueError(
                f"For 'set_data' of Parameter '{self.name}', the new value must have the shape "
                f"{self.shape}, but got {new.shape}."
            )
        if new.dtype is not self.dtype:
            if new.dtype.rank > self.dtype.rank or (
                new.dtype.kind == self.dtype.kind and new.dtype.itemsize > self.dtype.itemsize
            ):
                raise TypeError(
                    f"For 'set_data' of Parameter '{self.name}', a value of type {new.dtype} does not "
                    f"fit the Parameter's type {self.dtype}; convert it first: value.astype(...)."
                )
            new = new.astype(self.dtype)  # type: ignore[attr-defined]
        state.write(self, new)
        return self

    def assign_value(self, value: Any) -> Parameter:
        """Replace the value: ``set_data`` under its other name."""
        return self.set_data(value)

    def set_dtype(self, dtype: Any) -> Parameter:
        """Convert the stored value to another element type."""
        self.store(Tensor(self.value(), as_dtype(dtype)))
        return self

    def init_data(self, *_: Any, **__: Any) -> Parameter:
        """The Parameter itself: values are initialised when a Parameter is made."""
        return self

    def clone(self, init: Any = "same") -> Parameter:
        """A new Parameter of the same attributes, and of the value that ``init`` says.

        Args:
            init: ``"same"``, or what :func:`mindgrad.common.initializer.initializer` takes: a name, an
                initialiser, a number or a Tensor.
        """
        is_same = isinstance(init, str) and init == "same"
        value = Tensor(self.value()) if is_same else initializer(init, self.shape, self.dtype)
        return Parameter(value, *self._attributes())

    def _attributes(self) -> tuple[Any, ...]:
        return self.name, self.requires_grad, self.layerwise_parallel, self.parallel_optimizer

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        copied = self.clone()
        memo[id(self)] = copied
        return copied

    def __copy__(self) -> Parameter:
        return copy.deepcopy(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Parameter, (self.asnumpy(), *self._attributes()))

    def __repr__(self) -> str:
        return parameter_repr(self.name, self.shape, self.dtype.name, self.requires_grad)

    __str__ = __repr__

    def _caption(self) -> str:
        frozen = "" if self.requires_grad else ", not trained"
        shape = " × ".join(map(str, self.shape))
        return " ".join(filter(None, ["Parameter", repr(self.name), shape, f"{self.dtype}{frozen}"]))


class _Buffer(Tensor):
    """A tensor that a Cell registers as a buffer when it is assigned to an attribute: ``register_buffer``.

    Args:
        data: a Tensor.
        persistent: whether it belongs to the Cell's ``state_dict``.

    Raises:
        TypeError: ``data`` is no Tensor.

    >>> import mindgrad as ms
    >>> from mindgrad.common.parameter import _Buffer
    >>> net = ms.nn.Cell()
    >>> net.scale = _Buffer(ms.Tensor([2.0]))
    >>> [name for name, _ in net.named_buffers()]
    ['scale']
    """

    __slots__ = ("persistent",)

    def __init__(self, data: Tensor, *, persistent: bool = True) -> None:
        if not isinstance(data, Tensor):
            raise TypeError(f"For 'Buffer', the data must be a Tensor, but got {type(data).__name__}.")
        super().__init__(data)
        self.persistent = persistent


def name_apart(parameters: Iterable[Any]) -> None:
    """Give Parameters without a name the names ``Parameter$1``, ``Parameter$2``, …, if there are several."""
    nameless = {id(p): p for p in parameters if isinstance(p, Parameter) and p.name == DEFAULT_NAME}
    if len(nameless) > 1:
        for parameter in nameless.values():
            parameter.name = f"{DEFAULT_NAME}${next(_numbers)}"


class ParameterTuple(tuple):
    """A tuple of Parameters, each with a name of its own.

    Parameters without a name are named ``Parameter$1``, ``Parameter$2``, … if there are several.

    Raises:
        TypeError: an element is no Parameter.
        ValueError: two different Parameters have one name.

    >>> from mindgrad import Parameter, ParameterTuple
    >>> len(ParameterTuple([Parameter(1.0, name="a"), Parameter(2.0, name="b")]))
    2
    """

    __slots__ = ()

    def __new__(cls, iterable: Iterable[Parameter]) -> ParameterTuple:
        if isinstance(iterable, Parameter):
            raise TypeError("ParameterTuple takes an iterable of Parameters; write ParameterTuple([p]).")
        parameters = tuple(iterable)
        named: dict[str, Parameter] = {}
        name_apart(parameters)
        for parameter in parameters:
            if not isinstance(parameter, Parameter):
                raise TypeError(
                    f"For 'ParameterTuple', the elements must be Parameters, but got "
                    f"{type(parameter).__name__}."
                )
            if named.setdefault(parameter.name, parameter) is not parameter:
                raise ValueError(
                    f"For 'ParameterTuple', the name of {parameter!r} is taken: its name '{parameter.name}' "
                    f"already exists. Give every Parameter a unique name."
                )
        return super().__new__(cls, parameters)

    def clone(self, prefix: str, init: Any = "same") -> ParameterTuple:
        """Clones of all Parameters, named ``prefix.name``."""
        clones = []
        for parameter in self:
            clone = parameter.clone(init)
            clone.name = f"{prefix}.{parameter.name}"
            clone.origin = parameter
            clones.append(clone)
        return ParameterTuple(clones)

    def __reduce__(self) -> tuple[Any, ...]:
        return (ParameterTuple, (tuple(self),))
