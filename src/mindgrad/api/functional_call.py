"""``functional_call``: call a Cell with given values of its Parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from mindgrad.core.base.nearest import nearest
from mindgrad.core.ir.recorder import Recorder
from mindgrad.core.ir.scope import innermost, opened
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.trace import references
from mindgrad.frontend.mode import is_graph_mode
from mindgrad.frontend.programs.compiled import Compiled
from mindgrad.frontend.programs.object_cache import remembered

__all__ = ["bound", "functional_call"]


def functional_call(
    net: Any, params: Mapping[str, Any], args: Any = (), kwargs: Mapping[str, Any] | None = None
) -> Any:
    """Call a Cell with given values instead of its Parameters, which do not change.

    The values are ordinary arguments: they can be differentiated, batched with ``vmap``, or computed by
    another network.

    Args:
        net (Cell): network to call.
        params (dict): dict that maps names of Parameters to values (Tensor). The names are those in
            ``net.parameters_and_names()``. Parameters without an entry keep their values.
        args (Any, optional): tuple of the positional arguments of ``net``, or the argument itself if ``net``
            has only one. Default: ``()``.
        kwargs (dict, optional): keyword arguments of ``net``. Default: ``None``.

    Returns:
        Any: the result of ``net``. Assignments of ``net`` to a Parameter in ``params``, such as a running
        mean, are discarded; assignments to other Parameters are kept.

    Raises:
        TypeError: If ``net`` is not a Cell, ``params`` is not a dict, or a value in ``params`` is not a
            Tensor.
        ValueError: If a key of ``params`` is not the name of a Parameter of ``net``, or the shape of a value
            differs from the Parameter.

    >>> import mindgrad as ms
    >>> from mindgrad import Tensor, nn
    >>> net = nn.Dense(2, 1, weight_init="zeros", has_bias=False)
    >>> x = Tensor([[1.0, 2.0]])
    >>> def loss(weight):
    ...     return ms.functional_call(net, {"weight": weight}, x).sum()
    >>> weight = Tensor([[3.0, 4.0]])
    >>> print(loss(weight), ms.grad(loss)(weight), net(x))
    11.0 [[1. 2.]] [[0.]]

    See Also:
        :func:`mindgrad.tree_map`, :func:`mindgrad.vmap`, :func:`mindgrad.grad`
    """
    if not hasattr(net, "parameters_and_names"):
        raise TypeError(f"For 'functional_call', 'net' must be a Cell, but got {type(net).__name__}.")
    if not isinstance(params, Mapping):
        raise TypeError(
            f"For 'functional_call', 'params' must be a dict of names and Tensors, but got "
            f"{type(params).__name__}."
        )
    args = tuple(args) if isinstance(args, (tuple, list)) else (args,)
    named = dict(params)
    if innermost() is None and is_graph_mode():
        compiled: Compiled = remembered(net, ("functional_call",), lambda: Compiled(_Call(net)))
        return compiled.call((named, args, dict(kwargs or {})), {})
    return _Call(net)(named, args, dict(kwargs or {}))


class _Call:
    """The function ``(params, args, kwargs) -> net(*args, **kwargs)`` of one Cell."""

    def __init__(self, net: Any) -> None:
        self.net = net

    def __call__(self, params: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        pairs = self._pairs(params)
        if innermost() is not None:
            with bound(pairs):
                return self.net(*args, **kwargs)
        # this recorder only replaces Parameters. It records no operators, because no tensor belongs to it
        scope = Recorder()
        with opened(scope):
            with bound(pairs):
                result = self.net(*args, **kwargs)
            written = [(p, scope.bindings[id(p)]) for p in scope.written.values()]
        for parameter, value in written:
            references.write(parameter, value)
        return result

    def _pairs(self, params: dict[str, Any]) -> list[tuple[Any, Tensor]]:
        """Check ``params``, and return pairs (Parameter of the Cell, its given value)."""
        names: dict[str, Any] = {}
        for path, parameter in self.net.parameters_and_names():
            names.setdefault(parameter.name, parameter)
            names[path] = parameter
        pairs = []
        for name, value in params.items():
            parameter = names.get(name)
            if parameter is None:
                raise ValueError(
                    f"For 'functional_call', {type(self.net).__name__} has no Parameter {name!r}"
                    f"{nearest(name, list(names)) or '; it has ' + ', '.join(names)}."
                )
            if not isinstance(value, Tensor):
                raise TypeError(
                    f"For 'functional_call', the value of {name!r} must be a Tensor, but got "
                    f"{type(value).__name__}."
                )
            value = references.read(value)
            if value.shape != parameter.shape:
                raise ValueError(
                    f"For 'functional_call', the value of {name!r} must have the shape {parameter.shape} of "
                    f"the Parameter, but its shape is {value.shape}."
                )
            pairs.append((parameter, value))
        return pairs


@contextmanager
def bound(pairs: list[tuple[Any, Tensor]]) -> Iterator[None]:
    """Replace the values of Parameters in a ``with`` block."""
    scope: Any = innermost()
    # read from a plain copy, because the scope may record reads of its bindings
    bindings = dict(scope.bindings)
    before = [(id(p), bindings.get(id(p)), scope.written.get(id(p))) for p, _ in pairs]
    scope.bindings.update([(id(p), value) for p, value in pairs])
    try:
        yield
    finally:
        for key, binding, written in before:
            for table, value in ((scope.bindings, binding), (scope.written, written)):
                if value is None:
                    table.pop(key, None)
                else:
                    table[key] = value
