"""Wrapper Cells, which add a loss, a gradient, or a training step to a net."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad import ops
from mindgrad._base.checks import of_type
from mindgrad.api.gradient import value_and_grad
from mindgrad.common import dtype
from mindgrad.common.parameter import Parameter, ParameterTuple
from mindgrad.core.ir.scope import open_scopes
from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.cell import Cell
from mindgrad.nn.optim.optimizer import Optimizer
from mindgrad.nn.wrap.grad_reducer import gradient_reducer

__all__ = ["ParameterUpdate", "TrainOneStepCell", "WithEvalCell", "WithGradCell", "WithLossCell"]


class WithLossCell(Cell):
    """A network with its loss: ``loss_fn(backbone(data), label)``.

    Args:
        backbone (Cell): network that computes the output from ``data``.
        loss_fn (Cell or Callable): function that computes the loss from the output of the network and the
            label.

    Inputs:
        data, label (Tensor): inputs of the network and labels: Tensors, or structures of Tensors.

    Outputs:
        The result of ``loss_fn``.

    Raises:
        TypeError: If ``backbone`` is not a Cell, or ``loss_fn`` is not callable.

    >>> import mindgrad as ms
    >>> class Twice(ms.nn.Cell):
    ...     def construct(self, x):
    ...         return 2 * x
    >>> net = ms.nn.WithLossCell(Twice(), lambda y, label: ((y - label) ** 2).mean())
    >>> print(net(ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 4.0])))
    0.5
    """

    def __init__(self, backbone: Any, loss_fn: Callable[..., Any]) -> None:
        super().__init__(auto_prefix=False)
        self._backbone = of_type(backbone, Cell, "WithLossCell", "backbone")
        self._loss_fn = _callable("WithLossCell", "loss_fn", loss_fn)

    def construct(self, data: Any, label: Any) -> Any:
        return self._loss_fn(self._backbone(data), label)

    @property
    def backbone_network(self) -> Cell:
        """The network."""
        return self._backbone


class WithEvalCell(Cell):
    """A network with its loss, for evaluation: it returns ``(loss, output, label)``.

    Args:
        network (Cell): network to train or evaluate.
        loss_fn (Cell or Callable): function that computes the loss from the output of the network and the
            label.
        add_cast_fp32 (bool): whether to convert the output of the network to float32 first.

    Inputs:
        data, label (Tensor): inputs of the network and labels: Tensors, or structures of Tensors.

    Outputs:
        ``(loss, output, label)``.

    Raises:
        TypeError: If ``network`` is not a Cell, or ``loss_fn`` is not callable.

    >>> import mindgrad as ms
    >>> class Twice(ms.nn.Cell):
    ...     def construct(self, x):
    ...         return 2 * x
    >>> net = ms.nn.WithEvalCell(Twice(), lambda y, label: ((y - label) ** 2).mean())
    >>> print(*net(ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 4.0])))
    0.5 [2. 4.] [1. 4.]
    """

    def __init__(self, network: Any, loss_fn: Callable[..., Any], add_cast_fp32: bool = False) -> None:
        super().__init__(auto_prefix=False)
        self._network = of_type(network, Cell, "WithEvalCell", "network")
        self._loss_fn = _callable("WithEvalCell", "loss_fn", loss_fn)
        self.add_cast_fp32 = bool(add_cast_fp32)

    def construct(self, data: Any, label: Any) -> Any:
        output = self._network(data)
        if self.add_cast_fp32:
            output, label = [_as_float32(each) for each in (output, label)]
        return self._loss_fn(output, label), output, label


def _as_float32(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return type(value)(map(_as_float32, value))
    is_float = isinstance(value, Tensor) and value.dtype.is_float
    return ops.cast(value, dtype.float32) if is_float else value


class WithGradCell(Cell):
    """Gradients of the loss of a network with respect to its trainable Parameters.

    Args:
        network (Cell): network to train or evaluate.
        loss_fn (Cell or Callable): loss function of the output and the label. ``None``: ``network`` returns
            the loss.
        sens (number or Tensor): factor of the gradients. ``None``: 1.

    Inputs:
        inputs (Any): inputs of ``network``. If there is a ``loss_fn``, the label follows.

    Outputs:
        Tuple of gradients, in the order of ``network.trainable_params()``.

    Raises:
        TypeError: If ``network`` is not a Cell, or ``loss_fn`` is not callable.

    >>> import mindgrad as ms
    >>> class Scale(ms.nn.Cell):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = ms.Parameter(ms.Tensor([3.0]), name="factor")
    ...     def construct(self, x):
    ...         return self.factor * x
    >>> net = ms.nn.WithGradCell(Scale(), lambda y, label: (y - label).sum())
    >>> print(*net(ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 4.0])))
    [3.]
    """

    def __init__(self, network: Any, loss_fn: Callable[..., Any] | None = None, sens: Any = None) -> None:
        super().__init__(auto_prefix=False)
        self.network = of_type(network, Cell, "WithGradCell", "network")
        self.loss_fn = loss_fn
        self.weights = ParameterTuple(network.trainable_params())
        self.sens = sens
        self.network_with_loss = network if loss_fn is None else WithLossCell(network, loss_fn)

    def construct(self, *inputs: Any) -> Any:
        return loss_and_gradients(self.network_with_loss, self.weights, inputs, self.sens)[1]


def _is_one(sens: Any) -> bool:
    return isinstance(sens, (int, float)) and sens == 1


def loss_and_gradients(network: Any, weights: Any, inputs: Any, sens: Any = None) -> tuple[Any, Any]:
    """Return ``(loss, gradients of sens · loss)``; ``None`` for ``sens`` means 1."""
    if sens is None or _is_one(sens):
        return value_and_grad(network, None, weights)(*inputs)

    def scaled(*args: Any) -> Any:
        loss = network(*args)
        if not isinstance(loss, Tensor):
            raise TypeError(
                f"a net that is trained with a scaled loss must return one Tensor, the loss, but "
                f"{type(network).__name__} returned a {type(loss).__name__}."
            )
        return loss * ops.cast(sens, loss.dtype), loss

    (_, loss), gradients = value_and_grad(scaled, None, weights, has_aux=True)(*inputs)
    return loss, gradients


class TrainOneStepCell(Cell):
    """One training step: the loss, its gradients, and the update of the Parameters.

    In GRAPH_MODE a step is one compiled program, which updates the Parameters and the optimizer state in
    place. Subclasses can define ``construct`` with the attributes below.

    Args:
        network (Cell): network that returns its loss.
        optimizer (Optimizer): optimizer, which updates the Parameters with which it was created. For
            a :class:`ClosureOptimizer`, the step is ``optimizer.step(network, *inputs)``.
        sens (number or Tensor): factor of the loss, applied before the loss is differentiated.
        return_grad (bool): whether to return the gradients together with the loss.

    Inputs:
        inputs (Any): the inputs of ``network``.

    Outputs:
        The loss, without the factor ``sens``. With ``return_grad``, a tuple of the loss and a dict that maps
        names of Parameters to gradients.

    Attributes:
        network (Cell): network to train or evaluate.
        optimizer (Optimizer): the optimizer.
        sens (number or Tensor): factor of the loss.
        weights (ParameterTuple): Parameters that the optimizer updates.
        grad (GradOperation): gradient operation with a cotangent, ``GradOperation(get_by_list=True,
            sens_param=True)``.
        grad_no_sens (GradOperation): gradient operation without a cotangent,
            ``GradOperation(get_by_list=True)``.
        grad_reducer (Cell or Callable): function that is applied to the gradients before the optimizer. In
            the parallel mode ``"data_parallel"`` it is the sum or mean over all processes, otherwise the
            identity.

    Raises:
        TypeError: If ``network`` is not a Cell, ``optimizer`` is not an Optimizer, or ``sens`` is not a
            number.
        ValueError: If ``sens``, ``return_grad``, or a reduction over processes is combined with a
            :class:`ClosureOptimizer`.

    >>> import mindgrad as ms
    >>> class Distance(ms.nn.Cell):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.w = ms.Parameter(ms.Tensor([3.0]), name="w")
    ...     def construct(self, x):
    ...         return ((self.w - x) ** 2).sum()
    >>> net = Distance()
    >>> step = ms.nn.TrainOneStepCell(net, ms.nn.SGD(net.trainable_params(), 0.25))
    >>> print(step(ms.Tensor([1.0])), net.w.value())
    4.0 [2.]
    """

    def __init__(self, network: Any, optimizer: Any, sens: Any = 1.0, return_grad: bool = False) -> None:
        super().__init__(auto_prefix=False)
        owner = type(self).__name__
        self.network = of_type(network, Cell, owner, "network")
        self.network.set_grad()
        if not isinstance(optimizer, Optimizer) and not hasattr(optimizer, "parameters"):
            raise TypeError(
                f"For '{owner}', the 'optimizer' must be an Optimizer, but got {type(optimizer).__name__}."
            )
        if sens is not None and not isinstance(sens, (int, float, Tensor)):
            raise TypeError(f"For '{owner}', the 'sens' must be a number, but got {type(sens).__name__}.")
        self.optimizer = optimizer
        self.weights = optimizer.parameters
        self.grad = ops.GradOperation(get_by_list=True, sens_param=True)
        self.grad_no_sens = ops.GradOperation(get_by_list=True)
        self.sens = sens
        self.return_grad = bool(return_grad)
        reducer = gradient_reducer(self.weights)
        self.reducer_flag = reducer is not None
        self.grad_reducer = ops.identity if reducer is None else reducer
        self._steps_itself = getattr(optimizer, "evaluates_function", False)
        is_changed = return_grad or reducer is not None or not (sens is None or _is_one(sens))
        if self._steps_itself and is_changed:
            raise ValueError(
                f"For '{owner}', {type(optimizer).__name__} evaluates the loss and its gradients itself, so "
                "'sens' must be 1, 'return_grad' must be False, and the training must run in one process."
            )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # such a step consists of several compiled calls, and Python decides on their number
        if self._steps_itself and not open_scopes():
            return self._run(*args, **kwargs)
        return super().__call__(*args, **kwargs)

    def construct(self, *inputs: Any) -> Any:
        if self._steps_itself:
            return self.optimizer.step(self.network, *inputs)
        loss, gradients = loss_and_gradients(self.network, self.weights, inputs, self.sens)
        gradients = self.grad_reducer(gradients)
        self.optimizer(gradients)
        if self.return_grad:
            names = [parameter.name for parameter in self.weights]
            return loss, dict(zip(names, gradients, strict=True))
        return loss


class ParameterUpdate(Cell):
    """A Cell that assigns its input to a Parameter.

    Args:
        param (Parameter): Parameter that is updated.

    Inputs:
        x (Tensor): new value of the Parameter, of the same shape.

    Outputs:
        ``x``.

    Raises:
        TypeError: If ``param`` is not a Parameter.

    >>> import mindgrad as ms
    >>> w = ms.Parameter(ms.Tensor([3.0]), name="w")
    >>> print(ms.nn.ParameterUpdate(w)(ms.Tensor([5.0])), w.value())
    [5.] [5.]
    """

    def __init__(self, param: Any) -> None:
        super().__init__(auto_prefix=False)
        of_type(param, Parameter, "ParameterUpdate", "param")
        self._param = param

    def construct(self, x: Any) -> Any:
        ops.assign(self._param, x)
        return x


def _callable(owner: str, name: str, value: Any) -> Any:
    if not callable(value):
        raise TypeError(
            f"For '{owner}', the '{name}' must be a Cell or function, but got {type(value).__name__}."
        )
    return value


class _VirtualDatasetCell(Cell):
    """A network whose inputs MindSpore divides among processes."""

    def __init__(self, backbone: Cell) -> None:
        super().__init__(auto_prefix=False)
        self._backbone = backbone

    def construct(self, *inputs: Any) -> Any:
        return self._backbone(*inputs)
