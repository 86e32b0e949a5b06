"""``GradOperation``, ``grad``, and ``value_and_grad``: gradient functions.

A gradient function is compiled as a whole in GRAPH_MODE, and runs operator by operator in PYNATIVE_MODE.
Both modes return the same structures and raise the same errors. A gradient function is cached on the function
that it differentiates, so repeated calls ``grad(fn)`` return the cached function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.api.arguments import (
    Weights,
    check_callable,
    check_flag,
    check_positions,
    explains_keywords,
    has_no_derivative,
    of_no_derivative,
)
from mindgrad.api.callables import Arity, arity, differentiates, in_either_mode, name_derivative, remembered
from mindgrad.api.vjp_call import Call, Run, derive
from mindgrad.core.base.location import warn_user
from mindgrad.core.ir.constant_arguments import is_constant
from mindgrad.core.ir.tensor import Tensor
from mindgrad.frontend import replayed_forward

__all__ = ["GradOperation", "by_operation", "get_grad", "grad", "gradient_function", "value_and_grad"]


def gradient_function(
    owner: str,
    fn: Callable[..., Any],
    assemble: Callable[[Any, Sequence[int], list[Any], list[Tensor]], Any],
    *,
    positions: Sequence[int] | None,
    parameters: Sequence[Any] = (),
    sens_param: bool = False,
    has_aux: bool = False,
    strict: bool = True,
    with_result: bool = True,
) -> Callable[..., Any]:
    """Return a gradient function of ``fn``.

    Args:
        owner: name of the public function, such as ``"grad"``, for error messages.
        fn: function to differentiate.
        assemble: function ``assemble(result of fn, positions, gradients by position, gradients by
            Parameter)`` that creates the result of a call. Positions of constant arguments are left out.
        positions: indices of the differentiated positional arguments, or ``None`` for all arguments.
        parameters: the differentiated Parameters, without repetitions.
        sens_param: whether the gradient function takes an extra last argument, the cotangent of the output.
        has_aux: whether only the first of several outputs of ``fn`` is differentiated.
        strict: whether an index in ``positions`` beyond the last argument raises ``IndexError``.
        with_result: whether ``assemble`` uses the result of ``fn``. Otherwise it receives ``None``.
    """
    signature: Arity | None = None

    def run(*args: Any, **kwargs: Any) -> Any:
        nonlocal signature
        if signature is None:
            signature = arity(fn)
        call = Call(owner, fn, signature, args, kwargs, positions, sens_param, strict)
        if getattr(fn, "requires_grad", False) and not call.kwargs:
            replayed_forward.take_back(fn, call.args)
        active = [i for i in call.positions if not (strict and has_no_derivative(call.args[i]))]
        recorded = Run(owner, fn, call.args, call.kwargs, active, parameters, has_aux, not strict)
        value, by_tensor, by_parameter = derive(recorded, call.sens, with_result=with_result)
        inputs = recorded.inputs
        argnums = tuple([slot[0] for slot in inputs.slots])
        if not argnums and call.positions and not parameters:
            _warn_of_constants(owner, call.args, call.positions)
        return assemble(value, argnums, inputs.gradients(by_tensor), by_parameter)

    also = "all inputs" if positions is None else ""
    if parameters:
        also = f"{also} and the Parameters" if also else "the Parameters"
    name_derivative(run, owner, fn, positions, also)
    gradient = in_either_mode(fn, run, positions if strict and positions else ())
    return differentiates(gradient, fn, int(sens_param))


def _warn_of_constants(owner: str, args: Sequence[Any], positions: Sequence[int]) -> None:
    if any(is_constant(args[position]) for position in positions):
        warn_user(
            f"'{owner}' returns the empty tuple (), because the input is a Tensor with const_arg=True, "
            "which is a constant in GRAPH_MODE."
        )
        return
    if owner == "GradOperation":
        kinds = ", ".join(sorted({type(args[position]).__name__ for position in positions}))
        warn_user(
            f"'{owner}' returns the empty tuple (), because it differentiates only Tensors, as in MindSpore, "
            f"but got {kinds}. Use mindgrad.grad, which differentiates floats and containers of Tensors, or "
            "mark the input with mindgrad.mutable."
        )
        return
    given = " and ".join(f"argument {k} is {of_no_derivative(args[k])}" for k in positions)
    warn_user(
        f"'{owner}' returns the empty tuple (), as in MindSpore, because {given}, without derivative. "
        "Pass a float or a Tensor."
    )


class GradOperation:
    """Factory of gradient functions: ``GradOperation(...)(fn, weights)(*inputs)``.

    A gradient function differentiates the sum of all output elements. With ``sens_param``, the outputs are
    multiplied by ``sens`` before the sum. As in MindSpore, only Tensors and :func:`mutable` containers are
    differentiated. Other inputs are constants and are left out of the result. If no input remains, the result
    is ``()``, with a warning. :func:`mindgrad.grad` also differentiates floats and containers.

    The gradient with respect to an unused input is zero. ``requires_grad`` only selects
    ``trainable_params()`` of a Cell: a Parameter with ``requires_grad=False`` that is an input has its true
    gradient.

    ======== ============ =========================================================================
    get_all  get_by_list  returned
    ======== ============ =========================================================================
    False    False        gradient with respect to the first input; ``()`` if it is a constant
    True     False        tuple of gradients, one for each input
    False    True         tuple of gradients, one for each weight; one gradient for a single Parameter
    True     True         ``((gradients of inputs), (gradients of weights))``
    ======== ============ =========================================================================

    Args:
        get_all (bool, optional): whether to differentiate with respect to all inputs instead of the first
            one. Default: ``False``.
        get_by_list (bool, optional): whether to differentiate with respect to ``weights``. Default:
            ``False``.
        sens_param (bool, optional): whether the gradient function takes one more argument ``sens``, as the
            last positional argument or by keyword. ``sens`` is multiplied with the output before the sum. It
            is a Tensor with the shape and dtype of the output, or a tuple of such Tensors for a tuple of
            outputs. Default: ``False``.

    Raises:
        TypeError: If ``get_all``, ``get_by_list``, or ``sens_param`` is not a bool. In a call of the gradient
            function, if the number of arguments is wrong, or an argument is a NumPy array. Also if an output
            of ``fn`` is neither a tensor nor a number, or the dtype or structure of ``sens`` differs from the
            output.
        ValueError: If, in a call of the gradient function, the shape or length of ``sens`` differs from the
            output of ``fn``.

    Gradients have the shapes and dtypes of the inputs. An integer input has an integer gradient, with a
    warning.

    >>> import mindgrad as ms
    >>> x, y = ms.Tensor([2.0]), ms.Tensor([5.0])
    >>> f = lambda x, y: x * x * y
    >>> ms.ops.GradOperation()(f)(x, y)
    Tensor(shape=[1], dtype=Float32, value= [ 2.00000000e+01])
    >>> print(*ms.ops.GradOperation(get_all=True)(f)(x, y))
    [20.] [4.]
    >>> print(ms.ops.GradOperation(sens_param=True)(f)(x, y, ms.Tensor([0.5])))
    [10.]

    See Also:
        :func:`mindgrad.grad`, :func:`mindgrad.value_and_grad`
    """

    def __init__(self, get_all: bool = False, get_by_list: bool = False, sens_param: bool = False) -> None:
        check_flag("GradOperation", "get_all", get_all)
        check_flag("GradOperation", "get_by_list", get_by_list)
        check_flag("GradOperation", "sens_param", sens_param)
        self.get_all = get_all
        self.get_by_list = get_by_list
        self.sens_param = sens_param

    def __repr__(self) -> str:
        return (
            f"GradOperation(get_all={self.get_all}, get_by_list={self.get_by_list}, "
            f"sens_param={self.sens_param})"
        )

    def __call__(self, fn: Callable[..., Any], weights: Any = None) -> Callable[..., Any]:
        """Return the gradient function of ``fn``.

        Args:
            fn (Callable or Cell): function to differentiate.
            weights (ParameterTuple, list, tuple, or Parameter, optional): parameters to differentiate with
                respect to, if ``get_by_list`` is set; ignored otherwise. ``None``: the trainable Parameters
                that the Cell ``fn`` has at the time of the call. A Parameter that ``fn`` does not use has
                gradient zero. ``requires_grad=False`` does not change the gradient of a Parameter. Default:
                ``None``.

        Returns:
            Callable: function of the same arguments as ``fn`` that returns the gradient.

        Raises:
            RuntimeError: If ``fn`` is not callable, or ``weights`` is missing and ``fn`` is not a Cell.
            TypeError: If ``weights`` has an unsupported type.
        """
        check_callable("GradOperation", fn, RuntimeError)
        listed = None
        if self.get_by_list:
            if weights is None:
                return _by_own_weights(self, fn)
            listed = Weights("GradOperation", weights)
        return by_operation("GradOperation", fn, self.get_all, listed, self.sens_param)


def _by_own_weights(operation: GradOperation, fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return a gradient function with respect to the trainable Parameters of a Cell.

    ``fn`` is the Cell or one of its methods. Each call of the gradient function reads ``trainable_params()``
    again, because the Cell may have changed.
    """
    cell = getattr(fn, "__self__", fn)
    trainable = getattr(cell, "trainable_params", None)
    if trainable is None:
        raise RuntimeError(
            "For 'GradOperation', when 'get_by_list' is set to True, the argument 'weights' "
            "should be ParameterTuple type, but got None: "
            "op(net, ParameterTuple(net.trainable_params()))."
        )

    def call(*args: Any, **kwargs: Any) -> Any:
        return operation(fn, tuple(trainable()))(*args, **kwargs)

    name_derivative(call, "GradOperation", cell, None, "the Parameters")
    return differentiates(call, fn, int(operation.sens_param))


def by_operation(
    owner: str,
    fn: Callable[..., Any],
    get_all: bool,
    weights: Weights | None,
    sens_param: bool,
    with_value: bool = False,
) -> Callable[..., Any]:
    """Return the gradient function of :class:`GradOperation`.

    If ``with_value`` is true, the gradient function also returns the result of ``fn``.
    """
    key = (owner, get_all, sens_param, None if weights is None else weights.key)
    return remembered(fn, key, lambda: _by_operation(owner, fn, get_all, weights, sens_param, with_value))


def _by_operation(
    owner: str,
    fn: Callable[..., Any],
    get_all: bool,
    weights: Weights | None,
    sens_param: bool,
    with_value: bool,
) -> Callable[..., Any]:
    def assemble(value: Any, _: Any, by_input: list[Any], by_parameter: list[Tensor]) -> Any:
        gradients: Any = tuple(by_input) if get_all else by_input[0] if by_input else ()
        if weights is not None:
            by_list = weights.arranged(by_parameter)
            gradients = (gradients, by_list) if get_all else by_list
        return (value, gradients) if with_value else gradients

    return gradient_function(
        owner,
        fn,
        assemble,
        positions=None if get_all else (0,) if weights is None else (),
        parameters=() if weights is None else weights.unique,
        sens_param=sens_param,
        strict=False,
        with_result=with_value,
    )


@explains_keywords
def grad(
    fn: Callable[..., Any],
    grad_position: int | tuple[int, ...] | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: bool = False,
) -> Callable[..., Any]:
    """Return a function that computes the gradient of ``fn``.

    If ``fn`` returns several values or a non-scalar tensor, the result is the gradient of the *sum* of all
    elements, as in MindSpore. Use :func:`jacobian` for the full derivative.

    Args:
        fn (Callable or Cell): function to differentiate.
        grad_position (int, tuple of int, or None, optional): positional argument(s) to differentiate with
            respect to. An argument may be a Tensor, a float, or a list, tuple, dict, or dataclass of Tensors
            and floats, nested to any depth. ``None``: differentiate with respect to ``weights`` only.
            Default: ``0``.
        weights (ParameterTuple, list, tuple, or Parameter, optional): Parameters with respect to which ``fn``
            is differentiated. Default: ``None``.
        has_aux (bool, optional): whether to differentiate only the first output of ``fn`` and return its
            other outputs unchanged. Default: ``False``.
        return_ids (bool, optional): whether to return each gradient as a pair ``(position, gradient)`` or
            ``(name, gradient)``, for :func:`get_grad`. Default: ``False``.
        sens_param (bool, optional): whether the gradient function takes one more argument ``sens``, which is
            multiplied with the output before the sum. ``sens`` has the shape and dtype of the output, or is a
            tuple if the output is a tuple. As in MindSpore 1.6, ``grad(fn, grad_position, True)`` also sets
            it. Default: ``False``.

    Returns:
        Callable: function of the same arguments as ``fn`` that returns the gradient. Each gradient has the
        structure of its argument: a float for a float, a dict for a dict. ``None`` in a container stays
        ``None``.

        ====================  =================================================
        requested             returned
        ====================  =================================================
        one position          gradient
        several positions     tuple of gradients
        weights               gradient of one Parameter, or tuple of gradients
        positions, weights    ``(by_position, by_weights)``
        with ``has_aux``      ``(gradients, tuple of the other outputs)``
        ====================  =================================================

        As in MindSpore, an int, bool, string, or ``None`` argument is left out of the result. If no argument
        remains, the result is ``()``, and a warning names the arguments.

    Raises:
        TypeError: If ``fn`` is not callable, or a differentiated argument has an unsupported type.
        ValueError: If a position in ``grad_position`` is negative or repeated, or if neither
            ``grad_position`` nor ``weights`` is given.
        RuntimeError: If ``grad_position`` is an empty tuple.

    Errors in a call of the gradient function:

    - ``IndexError``: a position in ``grad_position`` is beyond the last argument.
    - ``TypeError``: a differentiated container has an int, bool, string, or integer tensor, which have no
      derivative. In a dataclass within :func:`mutable`, such a field is a constant instead.
    - ``TypeError`` and ``ValueError`` of :class:`mindgrad.ops.GradOperation`.

    Within ``fn`` a float argument is a scalar tensor. It computes like a float, but ``isinstance(x, float)``
    is false in PYNATIVE_MODE, and functions of the module ``math`` raise an error.

    >>> import mindgrad as ms
    >>> f = lambda x, y: x * x * y
    >>> print(ms.grad(f)(ms.Tensor([2.0]), ms.Tensor([5.0])))
    [20.]
    >>> print(*ms.grad(f, (0, 1))(ms.Tensor([2.0]), ms.Tensor([5.0])))
    [20.] [4.]
    >>> ms.grad(lambda p: (p["w"] * p["k"]).sum())({"w": ms.Tensor([1.0, 2.0]), "k": 5.0})
    {'w': Tensor(shape=[2], dtype=Float32, value= [ 5.00000000e+00,  5.00000000e+00]), 'k': 3.0}

    See Also:
        :func:`mindgrad.value_and_grad`, :func:`mindgrad.jvp`, :func:`mindgrad.vjp`,
        :func:`mindgrad.jacobian`, :func:`mindgrad.hessian`, :func:`mindgrad.check_grad`
    """
    if isinstance(weights, bool):
        weights, sens_param = None, weights
    return _by_position("grad", fn, grad_position, weights, has_aux, return_ids, sens_param)


@explains_keywords
def value_and_grad(
    fn: Callable[..., Any],
    grad_position: int | tuple[int, ...] | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: bool = False,
) -> Callable[..., Any]:
    """Return a function that computes the result of ``fn`` and its gradient.

    Args:
        fn (Callable or Cell): function to differentiate.
        grad_position (int, tuple of int, or None, optional): positional argument(s) to differentiate with
            respect to, as for :func:`grad`. Default: ``0``.
        weights (ParameterTuple, list, tuple, or Parameter, optional): Parameters with respect to which ``fn``
            is differentiated. Default: ``None``.
        has_aux (bool, optional): whether to differentiate only the first output of ``fn`` and return its
            other outputs unchanged. Default: ``False``.
        return_ids (bool, optional): whether to return each gradient as a pair ``(position, gradient)`` or
            ``(name, gradient)``, for :func:`get_grad`. Default: ``False``.
        sens_param (bool, optional): whether the gradient function takes one more argument ``sens``, which is
            multiplied with the output before the sum. Default: ``False``.

    Returns:
        Callable: function of the same arguments as ``fn`` that returns ``(result, gradients)``. ``gradients``
        has the structure that :func:`grad` returns. With ``has_aux``, ``result`` contains all outputs.

    Raises:
        TypeError: If ``fn`` is not callable, or a differentiated argument has an unsupported type.
        ValueError: If a position in ``grad_position`` is negative or repeated, or if neither
            ``grad_position`` nor ``weights`` is given.
        RuntimeError: If ``grad_position`` is an empty tuple.

    >>> import mindgrad as ms
    >>> value, slope = ms.value_and_grad(lambda x: x * x)(ms.Tensor([3.0]))
    >>> print(value, slope)
    [9.] [6.]

    See Also:
        :func:`mindgrad.grad`, :func:`mindgrad.get_grad`, :func:`mindgrad.vjp`,
        :func:`mindgrad.nn.ForwardValueAndGrad`
    """
    return _by_position("value_and_grad", fn, grad_position, weights, has_aux, return_ids, sens_param)


def _by_position(
    owner: str,
    fn: Callable[..., Any],
    grad_position: Any,
    weights: Any,
    has_aux: bool,
    return_ids: bool,
    sens_param: bool,
) -> Callable[..., Any]:
    check_callable(owner, fn)
    check_flag(owner, "has_aux", has_aux)
    check_flag(owner, "return_ids", return_ids)
    check_flag(owner, "sens_param", sens_param)
    if grad_position is not None:
        check_positions(owner, grad_position)
    elif weights is None:
        raise ValueError(f"For '{owner}', `grad_position` and `weight` can not be None at the same time.")
    listed = None if weights is None else Weights(owner, weights)
    key = (owner, grad_position, None if listed is None else listed.key, has_aux, return_ids, sens_param)
    return remembered(
        fn,
        key,
        lambda: _positional(owner, fn, grad_position, listed, has_aux, return_ids, sens_param),
    )


def _positional(
    owner: str,
    fn: Callable[..., Any],
    grad_position: Any,
    weights: Weights | None,
    has_aux: bool,
    return_ids: bool,
    sens_param: bool,
) -> Callable[..., Any]:
    positions = grad_position if isinstance(grad_position, tuple) else (grad_position,)
    with_value = owner == "value_and_grad"

    def assemble(value: Any, argnums: Sequence[int], by_input: list[Any], by_parameter: list[Tensor]) -> Any:
        gradients: Any = ()
        if grad_position is not None:
            selected = list(zip(argnums, by_input, strict=True)) if return_ids else by_input
            gradients = selected[0] if len(selected) == 1 else tuple(selected)
        if weights is not None:
            by_weight = (weights.with_names if return_ids else weights.arranged)(by_parameter)
            gradients = by_weight if grad_position is None else (gradients, by_weight)
        if with_value:
            return value, gradients
        return (gradients, tuple(value[1:])) if has_aux else gradients

    return gradient_function(
        owner,
        fn,
        assemble,
        positions=() if grad_position is None else positions,
        parameters=() if weights is None else weights.unique,
        sens_param=sens_param,
        has_aux=has_aux,
        with_result=with_value or has_aux,
    )


def get_grad(gradients: Any, identifier: Any) -> Any:
    """Select one gradient from the result of ``grad(..., return_ids=True)``.

    Args:
        gradients (tuple): result of a gradient function that was created with ``return_ids=True``.
        identifier (int or Parameter): position of the differentiated argument, or the differentiated
            Parameter.

    Returns:
        Tensor, float, or container: the gradient with respect to ``identifier``.

    Raises:
        TypeError: If ``identifier`` is neither an int nor a Parameter.
        RuntimeError: If ``gradients`` has no gradient for ``identifier``.

    >>> import mindgrad as ms
    >>> found = ms.grad(lambda x, y: x * y, (0, 1), return_ids=True)(ms.Tensor([2.0]), ms.Tensor([5.0]))
    >>> print(ms.get_grad(found, 1))
    [2.]

    See Also:
        :func:`mindgrad.grad`, :func:`mindgrad.value_and_grad`
    """
    if getattr(identifier, "is_parameter", False):
        key: Any = identifier.name
    elif isinstance(identifier, int) and not isinstance(identifier, bool):
        key = identifier
    else:
        raise TypeError(f"For `get_grad`, the `x` should be an integer or a Parameter, but got {identifier}")
    pairs = _identified(gradients)
    for own, gradient in pairs:
        if type(own) is type(key) and own == key:
            return gradient
    remedy = "identifiers are there with grad(..., return_ids=True)"
    if pairs:
        remedy = f"there are {', '.join(str(own) for own, _ in pairs)}"
    raise RuntimeError(f"Can not find the gradient for position or Parameter {key}: {remedy}.")


def _identified(tree: Any) -> list[tuple[int | str, Any]]:
    """List all pairs ``(identifier, gradient)`` in nested tuples of gradients."""
    if not isinstance(tree, tuple):
        return []
    if len(tree) == 2 and isinstance(tree[0], (int, str)):
        return [tree]
    return [pair for child in tree for pair in _identified(child)]
