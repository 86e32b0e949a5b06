"""In-place methods of Tensor, whose names end in ``_``.

A method rebinds the tensor object to its result, as ``x[0] = 1`` does. Derivatives therefore see each value
where it is used. Tensors do not share memory: a reshaped or sliced copy that was made earlier does not
change.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ml_dtypes import finfo, iinfo

from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.trace import references
from mindgrad.frontend.aliases import rebind
from mindgrad.ops import (
    activation,
    affine,
    arithmetic,
    clipping,
    creation,
    flow,
    indexing,
    math,
    matrix_bands,
    overloads,
    random,
    rectifiers,
    rounding,
    scattering,
    special,
    tensor_members,
)
from mindgrad.ops.operands import broadcast_to, cast, operand
from mindgrad.ops.registry import public
from mindgrad.ops.rng_bits import drawing_from, exponentials, floating, require, seeds_of

__all__ = ["IN_PLACE", "in_place", "replaced", "stop_gradient_"]


def _copied(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    return broadcast_to(operand(src, "Copy"), self.shape)


def _filled(self: Tensor, value: Any) -> Tensor:
    return creation.full_like(self, operand(value, "Fill"))


def _zero(self: Tensor) -> Tensor:
    return creation.zeros_like(self)


def _added(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    return arithmetic.add(self, other if alpha == 1 else arithmetic.mul(alpha, other))


def _subtracted(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    return arithmetic.sub(self, other if alpha == 1 else arithmetic.mul(alpha, other))


def _drawn_normal(self: Tensor, mean: Any = 0, std: Any = 1, *, generator: Any = None) -> Tensor:
    with drawing_from(generator, "normal_"):
        noise = random.randn(self.shape, dtype=self.dtype)
    require("normal_", "std", operand(std, "normal_"), lambda v: v >= 0, "at least 0")
    return cast(arithmetic.add(arithmetic.mul(noise, std), mean), self.dtype)


def _drawn_uniform(self: Tensor, from_: Any = 0, to: Any = 1, *, generator: Any = None) -> Tensor:
    width = arithmetic.sub(operand(to, "uniform_"), from_)
    require("uniform_", "to − from_", width, lambda v: v >= 0, "at least 0")
    with drawing_from(generator, "uniform_"):
        noise = random.rand(self.shape, dtype=self.dtype)
    return cast(arithmetic.add(arithmetic.mul(noise, width), from_), self.dtype)


def _drawn_exponential(self: Tensor, lambd: float = 1.0, *, generator: Any = None) -> Tensor:
    require("exponential_", "lambd", operand(lambd, "exponential_"), lambda v: v > 0, "above 0")
    with drawing_from(generator, "exponential_"):
        dtype = floating("exponential_", self.dtype)
        noise = exponentials("exponential_", self.shape, dtype, seeds_of("exponential_", None))
    return cast(arithmetic.div(noise, lambd), self.dtype)


def _drawn_bernoulli(self: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    with drawing_from(generator, "bernoulli_"):
        return random.bernoulli(self, p)


def _drawn_integers(
    self: Tensor, *bounds: int, from_: int = 0, to: int | None = None, generator: Any = None
) -> Tensor:
    match bounds, to:
        case (bound,), None:
            to = bound
        case (bound,), _:
            from_ = bound
        case (_, _), None:
            from_, to = bounds
        case _ if bounds:
            raise TypeError(f"random_() takes at most two bounds, but got {len(bounds) + (to is not None)}.")
    if to is None:  # no bound: draw from all integers up to the largest that the dtype represents exactly
        is_float = self.dtype.is_float
        to = 2 ** (1 + finfo(self.dtype.numpy).nmant) if is_float else iinfo(self.dtype.numpy).max
    with drawing_from(generator, "random_"):
        return cast(random.randint(from_, to, self.shape), self.dtype)


_RESULTS: dict[str, tuple[Callable[..., Any], str]] = {
    "abs_": (rounding.abs, "|x|"),
    "add_": (_added, "x + alpha · other"),
    "addmm_": (affine.addmm, "β · x + α · a · b: :meth:`addmm`"),
    "bernoulli_": (
        _drawn_bernoulli,
        "ones with probability ``p``, else zeros: ``bernoulli_(p=0.5, *, generator=None)``",
    ),
    "ceil_": (rounding.ceil, "x rounded up"),
    "clamp_": (clipping.clamp, "clipped values: :func:`mindgrad.ops.clamp`"),
    "copy_": (_copied, "the values of another tensor, broadcast"),
    "cos_": (math.cos, "cos x"),
    "div_": (arithmetic.div, "x / other"),
    "erfinv_": (special.erfinv, "erf⁻¹ x"),
    "exp_": (math.exp, "exp x"),
    "exponential_": (
        _drawn_exponential,
        "exponentially distributed numbers: ``exponential_(lambd=1, *, generator=None)``",
    ),
    "fill_": (_filled, "a constant"),
    "fill_diagonal_": (
        matrix_bands.fill_diagonal,
        "the result of :meth:`fill_diagonal`",
    ),
    "floor_": (rounding.floor, "x rounded down"),
    "floor_divide_": (arithmetic.floor_divide, "x / other rounded down"),
    "index_add_": (tensor_members.index_add, "the result of :meth:`index_add`"),
    "index_fill_": (
        scattering.index_fill,
        "the result of :meth:`index_fill`",
    ),
    "log_": (math.log, "log x"),
    "masked_fill_": (indexing.masked_fill, "the result of :meth:`masked_fill`"),
    "masked_scatter_": (
        scattering.masked_scatter,
        "the result of :meth:`masked_scatter`",
    ),
    "mul_": (arithmetic.mul, "x · other"),
    "neg_": (arithmetic.neg, "−x"),
    "normal_": (_drawn_normal, "normal numbers: ``normal_(mean=0, std=1, *, generator=None)``"),
    "pow_": (arithmetic.pow, "its power with the exponent ``other``"),
    "random_": (
        _drawn_integers,
        "integers from ``from_`` to below ``to``: ``random_(from_=0, to=None, *, generator=None)``",
    ),
    "reciprocal_": (math.reciprocal, "1 / x"),
    "relu_": (rectifiers.relu, "max(x, 0)"),
    "remainder_": (arithmetic.remainder, "x − y · floor(x / y)"),
    "round_": (rounding.round, "x rounded"),
    "scatter_": (scattering.scatter, "the result of :meth:`scatter`"),
    "scatter_add_": (overloads.scatter_add, "the result of :meth:`scatter_add`"),
    "sigmoid_": (activation.sigmoid, "1 / (1 + exp(−x))"),
    "sign_": (rounding.sign, "the sign of x"),
    "sin_": (math.sin, "sin x"),
    "sqrt_": (math.sqrt, "√x"),
    "square_": (math.square, "x²"),
    "sub_": (_subtracted, "x − alpha · other"),
    "tanh_": (math.tanh, "tanh x"),
    "uniform_": (_drawn_uniform, "uniform numbers: ``uniform_(from_=0, to=1, *, generator=None)``"),
    "zero_": (_zero, "zero everywhere"),
}


def replaced(x: Tensor, name: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Tensor:
    """Rebind ``x`` to ``function(x, *args, **kwargs)``, and return ``x``.

    Args:
        x: a tensor or Parameter.
        name: name of the method or function for error messages.
        function: function that returns a tensor with the shape of ``x`` and a dtype that ``x`` can store.

    Raises:
        ValueError: If the result has a different shape.
        TypeError: If the dtype of ``x`` cannot represent the result.

    >>> from mindgrad import Tensor, ops
    >>> from mindgrad.ops.in_place import replaced
    >>> x = Tensor([-1.0, 2.0])
    >>> replaced(x, "relu", ops.relu) is x, x.asnumpy()
    (True, array([0., 2.], dtype=float32))
    """
    old = x.value() if x.is_parameter else x.__copy__()  # type: ignore[attr-defined]
    new = function(old, *args, **kwargs)
    instead = f"Write x = x.{name[:-1]}(...)" if name.endswith("_") else "Omit inplace=True"
    if new.shape != x.shape:
        raise ValueError(
            f"For '{name}', the result must have the shape {x.shape} of the tensor, but its shape is "
            f"{new.shape}. {instead}."
        )
    if new.dtype.rank > x.dtype.rank:
        raise TypeError(
            f"For '{name}', the result is of type {new.dtype}, which a tensor of type {x.dtype} cannot hold. "
            f"{instead}."
        )
    new = cast(new, x.dtype)
    if x.is_parameter:
        references.write(x, new)
    else:
        rebind(x, new)
    return x


#: name -> "element of x | arguments | element after the call", for the examples in generated docstrings
_EXAMPLES = {
    "abs_": "-1.0 |  | 1.", "add_": "1.0 | 2.0 | 3.", "ceil_": "0.5 |  | 1.", "clamp_": "5.0 | 0.0, 2.0 | 2.",
    "copy_": "1.0 | Tensor([2.0]) | 2.", "cos_": "0.0 |  | 1.", "div_": "4.0 | 2.0 | 2.",
    "elu_": "2.0 | x | 2.", "exp_": "0.0 |  | 1.", "hardtanh_": "5.0 | x | 1.",
    "fill_": "1.0 | 2.0 | 2.", "floor_": "1.5 |  | 1.", "log_": "1.0 |  | 0.", "mul_": "4.0 | 2.0 | 8.",
    "index_add_": "1.0 | 0, Tensor([0]), Tensor([2.0]) | 3.",
    "masked_fill_": "1.0 | Tensor([True]), 2.0 | 2.",
    "neg_": "1.0 |  | -1.", "pow_": "3.0 | 2 | 9.", "reciprocal_": "2.0 |  | 0.5", "round_": "1.75 |  | 2.",
    "relu_": "-1.0 |  | 0.", "scatter_": "1.0 | 0, Tensor([0]), Tensor([2.0]) | 2.",
    "scatter_add_": "1.0 | 0, Tensor([0]), Tensor([2.0]) | 3.", "sigmoid_": "0.0 |  | 0.5",
    "sin_": "0.0 |  | 0.", "sqrt_": "4.0 |  | 2.", "square_": "3.0 |  | 9.", "sub_": "4.0 | 1.0 | 3.",
    "tanh_": "0.0 |  | 0.", "threshold_": "-1.0 | x, 0.0, 7.0 | 7.", "zero_": "4.0 |  | 0.",
}  # fmt: skip


def _example(name: str) -> str:
    if name not in _EXAMPLES:
        return ""
    start, arguments, result = _EXAMPLES[name].split(" | ")
    of_method = f"""
    >>> from mindgrad import Tensor
    >>> x = Tensor([{start}])
    >>> print(x.{name}({arguments}))
    [{result}]
"""
    if not arguments.startswith("x"):
        return of_method
    of_function = of_method.replace(f"x.{name}", f"mint.nn.functional.{name}")
    return of_function.replace("import Tensor", "import Tensor, mint")


def in_place(name: str, function: Callable[..., Any], meaning: str) -> Callable[..., Tensor]:
    """Create an in-place version of ``function``, which updates its first argument."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return replaced(self, name, function, *args, **kwargs)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"""Replace the tensor, in place, with {meaning}.

    The shape and the dtype do not change.

    Args:
        *args, **kwargs (object): further arguments of the function.

    Returns:
        The tensor itself.

    Raises:
        TypeError: If the tensor's dtype cannot represent the result, such as floats in an integer tensor.
        ValueError: If the result has a different shape.
{_example(name)}    """
    return method


def stop_gradient_(input: Tensor) -> Tensor:
    """Make a tensor a constant for all derivatives, in place.

    Args:
        input (Tensor): tensor of any shape and dtype, or a Parameter.

    Returns:
        ``input`` itself. Its value is unchanged.

    Raises:
        TypeError: If ``input`` is not a Tensor.

    >>> import mindgrad as ms
    >>> from mindgrad import ops
    >>> def f(x):
    ...     y = x * x
    ...     ops.stop_gradient_(y)
    ...     return y * x
    >>> print(ms.grad(f)(ms.Tensor([3.0])))
    [9.]
    """
    if not isinstance(input, Tensor):
        raise TypeError(f"For 'stop_gradient_', 'input' must be a Tensor, but got {type(input).__name__}.")
    return replaced(input, "stop_gradient_", flow.stop_gradient)


#: name -> in-place method of Tensor
IN_PLACE: dict[str, Callable[..., Tensor]] = {
    name: in_place(name, function, what) for name, (function, what) in _RESULTS.items()
}
for _name, _method in IN_PLACE.items():
    public(f"Tensor.{_name}")(_method)
