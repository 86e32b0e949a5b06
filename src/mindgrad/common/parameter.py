"""Parameters: tensors with a name and a value that can be replaced."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterable
from typing import Any

from mindgrad._base.checks import of_type
from mindgrad.common.initializer import initializer
from mindgrad.core.base.keywords import check_keywords
from mindgrad.core.ir.dtype import as_dtype, int32
from mindgrad.core.ir.pending import PendingArray
from mindgrad.core.ir.scope import current_deferral
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.core.ir.types import TensorType
from mindgrad.core.trace import references
from mindgrad.frontend.guards import clock
from mindgrad.frontend.programs.donation import settled

__all__ = ["DEFAULT_NAME", "Parameter", "ParameterTuple"]

#: name of a Parameter that was created without ``name``. A Cell replaces it with the name of its attribute
DEFAULT_NAME = "Parameter"
#: counter for the names ``Parameter$1``, ``Parameter$2``, …
_numbers = itertools.count(1)


_ARGUMENTS = (
    "default_input", "name", "requires_grad", "layerwise_parallel", "parallel_optimizer", "storage_format",
    "device",
)  # fmt: skip


class Parameter(Tensor):
    """A tensor with a name, which a Cell owns and an optimizer updates.

    Args:
        default_input (Tensor, numpy.ndarray, list, or number): initial value. An int becomes int32.
        name (str, optional): name of the Parameter. ``None``: when the Parameter is assigned to an attribute
            of a Cell, it gets the name of the attribute. Default: ``None``.
        requires_grad (bool, optional): whether ``Cell.trainable_params`` includes the Parameter. Gradients
            and optimizers do not read this flag, as in MindSpore. To freeze a Parameter, set the flag to
            ``False``, and pass ``net.trainable_params()`` to the gradient function and to the optimizer.
            Default: ``True``.
        layerwise_parallel (bool, optional): accepted for compatibility. Default: ``False``.
        parallel_optimizer (bool, optional): whether the optimizer state of the Parameter may be divided among
            devices (``set_auto_parallel_context(enable_parallel_optimizer=True)``). Default: ``True``.
        storage_format (str, optional): accepted for compatibility; arrays are in row-major order. Default:
            ``""``.
        device (str, optional): accepted for compatibility; the context chooses the device. Default: ``None``.
        **unknown (Any): no other arguments are accepted. The error lists them.

    Raises:
        TypeError: If ``name`` is not a string, ``requires_grad`` is not a bool, or there is an unknown
            keyword argument.
        ValueError: If ``name`` is empty.

    >>> from mindgrad import Parameter, Tensor
    >>> w = Parameter(Tensor([1.0, 2.0]), name="w")
    >>> w
    Parameter (name=w, shape=(2,), dtype=Float32, requires_grad=True)
    >>> print(w * 2)
    [2. 4.]

    See Also:
        :class:`mindgrad.ParameterTuple`, :class:`mindgrad.Tensor`, :class:`mindgrad.nn.Cell`
    """

    is_parameter = True

    #: whether the Parameter exists until the process ends, so that compiled functions need no reference that
    #: keeps it alive
    is_permanent = False

    #: number of devices, and how the array is divided among them (see ``distributed.partition``). ``None``
    #: before the first call that divides the array
    layout: tuple[int, Any] | None = None

    #: the Parameter from which this one was cloned. The clone is divided among devices in the same way
    origin: Parameter | None = None

    #: attributes that MindSpore's training functions read. Their values mean that this process stores the
    #: whole array, without a cache or a parameter server
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
                "a Parameter was created from a tensor that is being differentiated or compiled; create "
                "Parameters in '__init__' of a Cell, from values."
            )
        self.name = name
        self.requires_grad = requires_grad
        self.layerwise_parallel = layerwise_parallel
        self.parallel_optimizer = parallel_optimizer

    @property
    def name(self) -> str:
        """Name of the Parameter, including its path inside a Cell: ``layer.weight``."""
        return self._name

    @name.setter
    def name(self, name: str | None) -> None:
        if name is None:
            name = DEFAULT_NAME
        of_type(name, str, "Parameter", "name", "a string or None")
        if not name:
            raise ValueError("For 'Parameter', the 'name' must not be empty; omit it or pass a name.")
        self._name = name

    @property
    def requires_grad(self) -> bool:
        """Whether ``Cell.trainable_params`` includes the Parameter."""
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        of_type(value, bool, "Parameter", "requires_grad")
        self._requires_grad = value

    # -- stored value ----------------------------------------------------------------------------

    def store(self, value: Tensor) -> None:
        """Replace the stored value, even during tracing; called by executors."""
        new = value.type
        changed = new is not self.type
        array = value._array
        deferral = current_deferral()
        if deferral is not None and type(array) is PendingArray and array.deferral is deferral:
            deferral.stores(self)  # the assignment may end the deferred call of eager mode
            self._array = array if current_deferral() is deferral else settled(array)
        else:
            self._array = settled(array)
        self._type = new
        if changed:
            clock.tick()

    def retype(self, type: TensorType) -> None:
        """Set shape and dtype; called by executors that store the value themselves."""
        self._type = type
        clock.tick()

    def host_array(self) -> Any:
        current = references.read(self)
        return super().host_array() if current is self else current.host_array()

    def value(self) -> Tensor:
        """Return the current value of the Parameter as an ordinary Tensor."""
        current = references.read(self)
        if current is not self:
            return current
        array = self._array
        return make_tensor(array if type(array) is PendingArray else settled(array), self._type)

    @property
    def data(self) -> Parameter:
        """The Parameter itself, as in MindSpore."""
        return self

    def set_data(self, data: Any, slice_shape: bool = False) -> Parameter:
        """Replace the value, which compiled functions read at their next call.

        Args:
            data (Tensor, numpy.ndarray, list, or number): new value, which is converted to the dtype of the
                Parameter.
            slice_shape (bool, optional): whether the shape of the Parameter may change. Default: ``False``.

        Returns:
            Parameter: the Parameter itself.

        Raises:
            ValueError: If the shape of ``data`` differs from the Parameter and ``slice_shape`` is not set.
            TypeError: If the conversion to the dtype of the Parameter would lose information (float64 to
                float32).
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
        references.write(self, new)
        return self

    def assign_value(self, value: Any) -> Parameter:
        """Replace the value of the Parameter; another name of :meth:`set_data`."""
        return self.set_data(value)

    def set_dtype(self, dtype: Any) -> Parameter:
        """Convert the stored value to another dtype."""
        self.store(Tensor(self.value(), as_dtype(dtype)))
        return self

    def init_data(self, *_: Any, **__: Any) -> Parameter:
        """Return the Parameter itself, for compatibility. Its value is already initialized."""
        return self

    def clone(self, init: Any = "same") -> Parameter:
        """Return a new Parameter with the same attributes.

        Args:
            init (str, Initializer, number, or Tensor, optional): initial value of the clone: ``"same"`` for
                the value of this Parameter, or a value accepted by
                :func:`mindgrad.common.initializer.initializer`. Default: ``"same"``.

        Returns:
            Parameter: clone of this Parameter.
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
        # use Python integers, because the repr of a NumPy integer contains its type
        sizes = tuple(map(int, self.shape))
        return (
            f"Parameter (name={self.name}, shape={sizes}, dtype={self.dtype.name}, "
            f"requires_grad={self.requires_grad})"
        )

    __str__ = __repr__

    def _caption(self) -> str:
        frozen = "" if self.requires_grad else ", not trained"
        shape = " × ".join(map(str, self.shape))
        return " ".join(filter(None, ["Parameter", repr(self.name), shape, f"{self.dtype}{frozen}"]))


class _Buffer(Tensor):
    """A tensor that becomes a buffer of a Cell when it is assigned to an attribute.

    Assigning a Buffer to an attribute has the same effect as ``Cell.register_buffer``.

    Args:
        data (Tensor): initial value.
        persistent (bool, optional): whether the ``state_dict`` of the Cell includes the buffer. Default:
            ``True``.

    Raises:
        TypeError: If ``data`` is not a Tensor.

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
    """Rename several Parameters without a name to ``Parameter$1``, ``Parameter$2``, …."""
    nameless = {id(p): p for p in parameters if isinstance(p, Parameter) and p.name == DEFAULT_NAME}
    if len(nameless) > 1:
        for parameter in nameless.values():
            parameter.name = f"{DEFAULT_NAME}${next(_numbers)}"


class ParameterTuple(tuple):
    """A tuple of Parameters with distinct names.

    If there are several Parameters, the Parameters without a name are renamed to ``Parameter$1``,
    ``Parameter$2``, and so on.

    Args:
        iterable (iterable of Parameter): the Parameters.

    Raises:
        TypeError: If an element is not a Parameter.
        ValueError: If two different Parameters in ``iterable`` have the same name.

    >>> from mindgrad import Parameter, ParameterTuple
    >>> len(ParameterTuple([Parameter(1.0, name="a"), Parameter(2.0, name="b")]))
    2

    See Also:
        :class:`mindgrad.Parameter`, :func:`mindgrad.grad`
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
        """Return clones of all Parameters, named ``prefix.name``.

        Args:
            prefix (str): prefix of the new names.
            init (str, Initializer, number, or Tensor, optional): initial value of each clone, as for
                :meth:`Parameter.clone`. Default: ``"same"``.

        Returns:
            ParameterTuple: clones of the Parameters, in the same order.
        """
        clones = []
        for parameter in self:
            clone = parameter.clone(init)
            clone.name = f"{prefix}.{parameter.name}"
            clone.origin = parameter
            clones.append(clone)
        return ParameterTuple(clones)

    def __reduce__(self) -> tuple[Any, ...]:
        return (ParameterTuple, (tuple(self),))
