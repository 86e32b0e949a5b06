"""Base class of optimizers: Parameters, learning rates, and weight decay."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindgrad import ops
from mindgrad._base.checks import of_type
from mindgrad._base.shared_docs import SharedSections
from mindgrad.common import dtype
from mindgrad.common.parameter import Parameter, ParameterTuple
from mindgrad.core.base.html import captioned
from mindgrad.core.ir.scope import as_it_is, identity
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.trace import references
from mindgrad.nn.cell import Cell
from mindgrad.nn.container import CellList
from mindgrad.nn.hyperparameters import non_negative, positive
from mindgrad.nn.learning_rate_schedule import LearningRateSchedule
from mindgrad.nn.optim.groups import members
from mindgrad.nn.optim.rates import ConstantRate, ListedRate, checked_rate, held_rate

__all__ = ["Optimizer", "opt_init_args_register", "rate_at", "wide_dtype"]

#: sections that the docstrings of all optimizers have in common
documented = SharedSections("""
    Args:
        params (list of Parameter or list of dict): Parameters to train, or parameter groups as dicts, see
            :class:`Optimizer`.
        learning_rate (float, Tensor, iterable, or LearningRateSchedule): learning rate η, see
            :class:`Optimizer`.
        beta1 (float): decay rate β₁ of the running average m, between 0 and 1.
        beta2 (float): decay rate β₂ of the running average v, between 0 and 1.
        eps (float): ε, a small positive number that prevents division by zero.
        epsilon (float): ε, a small positive number that prevents division by zero.
        use_locking (bool): accepted for compatibility; an update is never interrupted.
        weight_decay (float or Cell): weight decay, see :class:`Optimizer`.
        loss_scale (float): loss scale; the gradients are divided by it.

    Inputs:
        gradients (tuple of Tensor): gradients, one for each Parameter and of the same shape as the Parameter.

    Outputs:
        ``True``.

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If an argument is out of range.
        KeyError: If a parameter group has an unknown key, or does not have ``params``.
        RuntimeError: If the same Parameter is listed twice.
""")


def opt_init_args_register(fn: Callable[..., None]) -> Callable[..., None]:
    """Return the ``__init__`` of an optimizer unchanged, for compatibility.

    MindSpore records its arguments for the module ``boost``.

    Args:
        fn (Callable): ``__init__`` method of an optimizer.

    Returns:
        Callable: ``fn``.

    >>> import mindgrad as ms
    >>> from mindgrad.nn.optim.optimizer import opt_init_args_register
    >>> class Descent(ms.nn.SGD):
    ...     @opt_init_args_register
    ...     def __init__(self, params):
    ...         super().__init__(params, learning_rate=0.5)
    """
    return fn


class Optimizer(Cell):
    """Base class of optimizers, which update Parameters with their gradients.

    A call ``optimizer(gradients)`` is one step. In GRAPH_MODE it is one compiled program. Inside a compiled
    function it becomes part of that function, which updates the Parameters in place.

    Args:
        learning_rate (float, Tensor, iterable, or LearningRateSchedule): a number or 0-D Tensor, a
            :class:`LearningRateSchedule`, or one rate for each step (a list, another iterable, or a 1-D
            Tensor). The last rate of a list is also used for all later steps.
        parameters (list of Parameter or list of dict): Parameters in the order of updates, or parameter
            groups: dicts with the key ``params`` and, optionally, ``lr``, ``weight_decay``, and
            ``grad_centralization`` (whether to subtract from a gradient its mean over all axes except the
            first). A dict ``{"order_params": parameters}`` sets the order of updates.
        weight_decay (float or Cell): factor λ of weight decay; λ times the Parameter is added to its
            gradient. A number, or a Cell that computes it from ``global_step``. Without groups it applies to
            the Parameters whose names contain neither ``beta`` nor ``gamma``.
        loss_scale (float): loss scale: the factor of the loss. Gradients are divided by it.

    Inputs:
        gradients (tuple or list of Tensor): gradients, one for each Parameter and of the same shape as the
            Parameter.

    Outputs:
        ``True``.

    Attributes:
        parameters (ParameterTuple): trained Parameters, in the order of updates.
        learning_rate (Parameter, Cell, or tuple): learning rate as a Parameter, or the Cell that computes it;
            a tuple of both kinds if parameter groups have different learning rates.
            ``optimizer.learning_rate.set_data(...)`` changes a constant rate.
        global_step (Parameter): number of previous calls of the optimizer, an integer tensor of shape (1,).

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If an argument is out of range.
        KeyError: If a parameter group has an unknown key, or does not have ``params``.
        RuntimeError: If the same Parameter is listed twice.

    A subclass defines ``construct(self, gradients)``:

    >>> import mindgrad as ms
    >>> class SignDescent(ms.nn.Optimizer):
    ...     def construct(self, gradients):
    ...         lr = self.get_lr()
    ...         for parameter, gradient in zip(self.parameters, self.decay_weight(gradients)):
    ...             ms.ops.assign_sub(parameter, lr * ms.ops.sign(gradient))
    ...         return True
    >>> w = ms.Parameter(ms.Tensor([1.0, 2.0]), name="w")
    >>> optimizer = SignDescent(0.5, [w])
    >>> optimizer((ms.Tensor([3.0, -4.0]),))
    True
    >>> print(w.value(), optimizer.global_step.value())
    [0.5 2.5] [1]
    """

    #: whether a step calls the network itself, through ``step`` of a ``ClosureOptimizer``
    evaluates_function = False

    def __init__(
        self, learning_rate: Any, parameters: Any, weight_decay: Any = 0.0, loss_scale: float = 1.0
    ) -> None:
        super().__init__(auto_prefix=False)
        owner = self.cls_name
        entries, self.is_group = members(owner, parameters)
        self.loss_scale = positive(owner, "loss_scale", loss_scale)
        self.need_scale = self.loss_scale != 1.0
        self.reciprocal_scale = Tensor(1.0 / self.loss_scale, dtype.float32)
        self.parameters = self._parameters = ParameterTuple([member.parameter for member in entries])
        self.param_length = len(entries)
        self._hold_rates(learning_rate, entries)
        self._hold_decays(weight_decay, entries)
        self.grad_centralization_flags = tuple([member.is_centralized for member in entries])
        self.global_step = Parameter(Tensor(np.zeros(1, np.int32)), name="global_step", requires_grad=False)
        # attributes of MindSpore's optimizers, read by subclasses in other libraries
        self.global_step_increase_tensor = Tensor(1, dtype.int32)
        self.assignadd = ops.assign_add
        self.map_, self.map_reverse = ops.Map(), ops.Map(None, True)
        self.hyper_map, self.hyper_map_reverse = ops.HyperMap(), ops.HyperMap(None, True)
        self.optim_filter = (True,) * self.param_length

    def _hold_rates(self, learning_rate: Any, entries: list[Any]) -> None:
        owner = self.cls_name
        default = checked_rate(owner, learning_rate)
        self.is_group_lr = any(member.rate is not None for member in entries)
        if not self.is_group_lr:
            self.learning_rate = held_rate(default, "learning_rate")
            self.dynamic_lr = isinstance(self.learning_rate, LearningRateSchedule)
            return
        by_group: dict[int, Any] = {}
        for member in entries:
            if member.group not in by_group:
                rate = default if member.rate is None else checked_rate(owner, member.rate)
                by_group[member.group] = rate
        lengths = {rate.size for rate in by_group.values() if isinstance(rate, np.ndarray)}
        if len(lengths) > 1:
            raise ValueError(
                f"For '{owner}', lists of learning rates must have the same length in all groups, but got "
                f"{', '.join(map(str, sorted(lengths)))}."
            )
        held_rates = {
            group: held_rate(rate, f"learning_rate_group_{group}") for group, rate in by_group.items()
        }
        self.dynamic_lr = any(isinstance(each, LearningRateSchedule) for each in held_rates.values())
        if self.dynamic_lr:
            held_rates = {
                k: ConstantRate(r) if isinstance(r, Parameter) else r for k, r in held_rates.items()
            }
        rates = [held_rates[member.group] for member in entries]
        self.learning_rate = CellList(rates, auto_prefix=False) if self.dynamic_lr else ParameterTuple(rates)

    def _hold_decays(self, weight_decay: Any, entries: list[Any]) -> None:
        default = self._checked_decay(weight_decay)
        if self.is_group:
            decays = [default if m.decay is None else self._checked_decay(m.decay) for m in entries]
            self.weight_decay: Any = tuple(decays)
            self.decay_flags = tuple([isinstance(decay, Cell) or decay > 0 for decay in decays])
            cells = [decay for decay in decays if isinstance(decay, Cell)]
        else:
            self.weight_decay = default
            self.decay_flags = tuple([_is_decayed(m.parameter.name) for m in entries])
            cells = [default] if isinstance(default, Cell) else []
        self.dynamic_weight_decay = bool(cells)
        if cells:
            self.decay_cells = CellList(cells, auto_prefix=False)
        decays = list(self.weight_decay) if self.is_group else [default]
        self.exec_weight_decay = any(isinstance(decay, Cell) or decay > 0 for decay in decays)

    def _checked_decay(self, decay: Any) -> Any:
        return decay if isinstance(decay, Cell) else non_negative(self.cls_name, "weight_decay", decay)

    @property
    def cls_name(self) -> str:
        """Name of the class in error messages."""
        return type(self).__name__

    def update_parameters_name(self, prefix: str = "", recurse: bool = True) -> None:
        """Add a prefix to the names of the state, but not of the trained Parameters.

        Args:
            prefix (str, optional): string to put before the names of the optimizer state. Default: ``""``.
            recurse (bool, optional): accepted for compatibility. Default: ``True``.
        """
        trained = {id(parameter) for parameter in self.parameters}
        for parameter in self.get_parameters(recurse):
            if id(parameter) not in trained:
                parameter.name = prefix + parameter.name

    # -- printed form ----------------------------------------------------------------------------

    def extend_repr(self) -> str:
        """Return the number of Parameters, the learning rate, and changed settings."""
        if "global_step" not in self._params:  # ``Optimizer.__init__`` has not been called yet
            return ""
        count = len(self.parameters)
        parts = [f"{count} Parameter{'s' * (count != 1)}", f"learning_rate={_shown(self.learning_rate)}"]
        for name, parameter in inspect.signature(type(self).__init__).parameters.items():
            value = self.__dict__.get(name, self._params.get(name))
            if name in ("self", "params", "parameters", "learning_rate") or value is None:
                continue
            if _shown(value) != _shown(parameter.default):
                parts.append(f"{name}={_shown(value)}")
        return ", ".join(parts)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.extend_repr()})"

    def _repr_html_(self) -> str:
        return captioned(repr(self))

    # -- one optimization step -------------------------------------------------------------------

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        before = as_it_is(references.read(self.global_step))
        result = super()._run(*args, **kwargs)
        # ``construct`` of a subclass may already have incremented ``global_step``
        if identity(references.read(self.global_step)) == identity(before):
            ops.assign_add(self.global_step, 1)
        return result

    def construct(self, *hyper_params: Any) -> Any:
        """Take one step. Each optimizer defines this method.

        Raises:
            NotImplementedError: If the subclass does not define ``construct``.
        """
        raise NotImplementedError(
            f"For '{self.cls_name}', define construct(self, gradients), which changes self.parameters."
        )

    def _state(self, prefix: str, init: Any = "zeros") -> ParameterTuple:
        """Create one Parameter of state for each trained one, named ``prefix.name``."""
        moments = self.parameters.clone(prefix, init)
        for parameter in moments:
            parameter.requires_grad = False
        return moments

    def _wide_state(self, prefix: str, parameters: Sequence[Parameter]) -> ParameterTuple:
        """Create state like some Parameters, in float32 for float16 and bfloat16."""
        moments = ParameterTuple(parameters).clone(prefix, "zeros")
        for moment in moments:
            moment.requires_grad = False
            moment.set_dtype(wide_dtype(moment))
        return moments

    def _scalar_state(self, name: str, value: float) -> Any:
        return Parameter(Tensor(np.full(1, value, np.float32)), name=name, requires_grad=False)

    def _prepared(self, gradients: Any, decayed: bool = True) -> Sequence[Any]:
        """Prepare gradients: weight decay, centralization, and the loss scale."""
        gradients = self.flatten_gradients(gradients)
        if decayed:
            gradients = self.decay_weight(gradients)
        gradients = self.scale_grad(self.gradients_centralization(gradients))
        return [ops.cast(g, p.dtype) for g, p in zip(gradients, self.parameters, strict=True)]

    def _rows(self, gradients: Any, *states: Sequence[Any], decayed: bool = True) -> list[tuple[Any, ...]]:
        """Return, for each Parameter, a tuple of the operands of its update.

        The tuple has the Parameter, its prepared gradient, its learning rate, and its part of each state.
        """
        prepared = self._prepared(gradients, decayed)
        return list(zip(self.parameters, prepared, self._rates(), *states, strict=True))

    def _rates(self) -> Sequence[Any]:
        """Return the learning rate of this step for each Parameter."""
        rates = self.get_lr()
        return rates if isinstance(rates, tuple) else (rates,) * self.param_length

    # -- methods for subclasses ------------------------------------------------------------------

    def flatten_gradients(self, gradients: Any) -> tuple[Any, ...]:
        """Check gradients and return them as a tuple.

        Args:
            gradients (tuple or list of Tensor): gradients, one for each Parameter and of the same shape as
                the Parameter.

        Returns:
            tuple of Tensor: the checked gradients.

        Raises:
            TypeError: If ``gradients`` is not a tuple or list of Tensors.
            ValueError: If the gradients differ from the Parameters in number or in a shape.
        """
        if isinstance(gradients, Tensor) and self.param_length == 1:
            gradients = (gradients,)
        if not isinstance(gradients, (tuple, list)):
            raise TypeError(
                f"For '{self.cls_name}', the gradients must be a tuple of Tensors, but got "
                f"{type(gradients).__name__}."
            )
        if len(gradients) != self.param_length:
            raise ValueError(
                f"For '{self.cls_name}', there must be one gradient for each Parameter, but got "
                f"{len(gradients)} for {self.param_length}."
            )
        for gradient, parameter in zip(gradients, self.parameters, strict=True):
            if not isinstance(gradient, Tensor):
                raise TypeError(
                    f"For '{self.cls_name}', the gradient of Parameter '{parameter.name}' must be a Tensor, "
                    f"but got {type(gradient).__name__}."
                )
            if gradient.shape != parameter.shape:
                raise ValueError(
                    f"For '{self.cls_name}', the gradient of Parameter '{parameter.name}' must have the "
                    f"shape {parameter.shape} of the Parameter, but got {gradient.shape}."
                )
        return tuple(gradients)

    def decay_weight(self, gradients: Sequence[Any]) -> Sequence[Any]:
        """Return gradient + weight_decay · loss_scale · Parameter, if decay applies.

        The gradients are gradients of the scaled loss, so the decay is scaled, too. ``scale_grad`` divides
        the sum of gradient and decay by the loss scale.
        """
        if not self.exec_weight_decay:
            return gradients
        decays = [decay * self.loss_scale for decay in self._decays()]
        return tuple([
            gradient + ops.cast(parameter * decay, gradient.dtype) if applies else gradient
            for gradient, parameter, decay, applies in zip(
                gradients, self.parameters, decays, self.decay_flags, strict=True
            )
        ])  # fmt: skip

    def _decays(self) -> Sequence[Any]:
        """Return the weight decay of this step for each Parameter."""
        decays = self.get_weight_decay()
        return decays if isinstance(decays, tuple) else (decays,) * self.param_length

    def gradients_centralization(self, gradients: Sequence[Any]) -> Sequence[Any]:
        """Subtract from gradients their mean, in groups with ``grad_centralization``."""
        if not any(self.grad_centralization_flags):
            return gradients
        return tuple([
            gradient - ops.mean(gradient, tuple(range(1, gradient.ndim)), True)
            if applies and gradient.ndim > 1 else gradient
            for gradient, applies in zip(gradients, self.grad_centralization_flags, strict=True)
        ])  # fmt: skip

    def scale_grad(self, gradients: Sequence[Any]) -> Sequence[Any]:
        """Divide gradients by the loss scale."""
        if not self.need_scale:
            return gradients
        return tuple([gradient * (1.0 / self.loss_scale) for gradient in gradients])

    def get_lr(self) -> Any:
        """Return the learning rate of this step, a 0-D Tensor, or a tuple of rates."""
        if not self.is_group_lr:
            return rate_at(self.learning_rate, self.global_step)
        values: dict[int, Any] = {}
        for rate in self.learning_rate:
            if id(rate) not in values:
                values[id(rate)] = rate_at(rate, self.global_step)
        return tuple([values[id(rate)] for rate in self.learning_rate])

    def get_weight_decay(self) -> Any:
        """Return the weight decay of this step, a number or Tensor; a tuple for groups."""
        if self.is_group:
            return tuple([_decay_at(each, self.global_step) for each in self.weight_decay])
        return _decay_at(self.weight_decay, self.global_step)

    def get_lr_parameter(self, param: Any) -> Any:
        """Return the learning rate of a Parameter, as a Parameter or a schedule.

        Args:
            param (Parameter, list, or tuple of Parameter): one or several Parameters that the optimizer
                trains.

        Returns:
            Parameter, LearningRateSchedule, or list of these: the learning rate of each Parameter in
                ``param``.

        Raises:
            TypeError: If ``param`` has an unsupported type.
            ValueError: If the optimizer does not train a Parameter in ``param``.
        """
        if isinstance(param, (list, tuple)):
            return [self.get_lr_parameter(parameter) for parameter in param]
        of_type(param, Parameter, "get_lr_parameter", "param", "a Parameter or a list of them")
        for parameter, rate in zip(self.parameters, self._held_rates(), strict=True):
            if parameter is param:
                return getattr(rate, "learning_rate", rate) if _is_own(rate) else rate
        raise ValueError(f"For 'get_lr_parameter', the optimizer does not train Parameter '{param.name}'.")

    def _held_rates(self) -> Sequence[Any]:
        return tuple(self.learning_rate) if self.is_group_lr else (self.learning_rate,) * self.param_length

    def _is_dynamic_lr_or_weight_decay(self) -> bool:
        return self.dynamic_lr or self.dynamic_weight_decay

    # -- members of MindSpore for parameter servers and data parallelism -------------------------

    @property
    def unique(self) -> bool:
        """Accepted for compatibility; gradients are dense."""
        return True

    @unique.setter
    def unique(self, value: bool) -> None:
        pass

    @property
    def target(self) -> str:
        """Accepted for compatibility; Parameters are updated on the device of the program."""
        return "CPU"

    @target.setter
    def target(self, value: str) -> None:
        pass

    def broadcast_params(self, optim_result: Any) -> Any:
        """Return ``optim_result`` unchanged, because each process has all Parameters."""
        return optim_result


def wide_dtype(parameter: Parameter) -> Any:
    """Return the dtype of a Parameter, or float32 for float16 and bfloat16."""
    return dtype.float32 if parameter.dtype.numpy.itemsize < 4 else parameter.dtype


def rate_at(rate: Any, step: Parameter) -> Tensor:
    """Return the value of a learning rate in a step, a 0-D Tensor."""
    if isinstance(rate, Parameter):
        return rate.value()
    found = rate(step)
    return ops.reshape(found, ()) if isinstance(found, Tensor) else Tensor(found, dtype.float32)


def _is_decayed(name: str) -> bool:
    return "beta" not in name and "gamma" not in name


def _is_own(rate: Any) -> bool:
    return type(rate).__module__ == ConstantRate.__module__


def _decay_at(decay: Any, step: Parameter) -> Any:
    return ops.reshape(decay(step), ()) if isinstance(decay, Cell) else decay


def _shown(value: Any) -> str:
    """Format a hyperparameter briefly."""
    if isinstance(value, Tensor):
        value = value.value() if isinstance(value, Parameter) else value
        return f"{value.item():.6g}" if value.size == 1 else f"one of {value.size} per step"
    if isinstance(value, ListedRate):
        return f"one of {value.learning_rate.size} per step"
    if isinstance(value, Cell):
        return type(value).__name__
    if isinstance(value, (tuple, list)):
        shown = list(dict.fromkeys(map(_shown, value)))
        return shown[0] if len(shown) == 1 else f"({', '.join(shown)})"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
