"""Programs with branches and loops, each as a graph of control rows and as the Python that it stands for.

The Python runs on jax's arrays, and jax differentiates it: its loops are ordinary ones, whose iterations are
known when it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mindgrad.core.control.cond import cond
from mindgrad.core.control.scan import scan
from mindgrad.core.control.while_ import while_
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.dtype import bool_, float64, int32
from mindgrad.core.ir.graph import Constant, Graph
from mindgrad.core.ir.primitive import REGISTRY
from mindgrad.core.ir.types import TensorType, tensor_type

__all__ = ["PROGRAMS", "ControlProgram", "graph", "known"]

_S = tensor_type(float64, ())
_V = tensor_type(float64, (3,))
_M = tensor_type(float64, (3, 3))
_I = tensor_type(int32, ())
_B = tensor_type(bool_, ())

_sin, _cos, _tanh, _sqrt, _exp = (REGISTRY[name] for name in ("sin", "cos", "tanh", "sqrt", "exp"))


class ControlProgram(NamedTuple):
    """A program and what it stands for.

    Attributes:
        name: what it is.
        graph: the program.
        python: the same in Python, on the same operands.
        active: the operands that are differentiated.
        cases: sets of operands.
        slots: whether it has a loop that saves carries, whose number of slots matters.
    """

    name: str
    graph: Graph
    python: Callable[..., Sequence[Any]]
    active: tuple[int, ...]
    cases: list[list[np.ndarray]]
    slots: bool = False


def graph(function: Callable[..., Sequence[Any]], *types: TensorType) -> Graph:
    """The graph that ``function`` emits on inputs of these types."""
    builder = Builder()
    with building(builder):
        return builder.close(function(*[builder.input(each) for each in types]))


def known(x: Any) -> Any:
    """The value of ``x``, without what jax follows through it."""
    while isinstance(x, jax.core.Tracer):
        x = jax.lax.stop_gradient(x)
        x = x.primal if hasattr(x, "primal") else x
    return np.asarray(x)


def _number(value: int) -> Constant:
    return Constant(np.int32(value))


def _dot(w: Any, x: Any) -> Any:
    return REGISTRY["dot"](w, x, contract=((1,), (0,)), batch=((), ()))


def _spread(x: Any) -> Any:
    return REGISTRY["broadcast_in_dim"](x, shape=(3,), dims=())


def _total(x: Any) -> Any:
    return REGISTRY["reduce_sum"](x, axes=(0,))


_RANDOM = np.random.default_rng(20)


def _s() -> np.ndarray:
    return np.asarray(_RANDOM.uniform(0.3, 1.2))


def _v() -> np.ndarray:
    return _RANDOM.uniform(0.3, 1.2, 3)


def _m() -> np.ndarray:
    return _RANDOM.uniform(-0.6, 0.6, (3, 3))


def _i(value: int) -> np.ndarray:
    return np.asarray(value, np.int32)


PROGRAMS: list[ControlProgram] = []


def _add(
    name: str,
    function: Callable[..., Sequence[Any]],
    types: Sequence[TensorType],
    python: Callable[..., Sequence[Any]],
    cases: list[list[np.ndarray]],
    slots: bool = False,
) -> None:
    active = tuple([k for k, each in enumerate(types) if each.dtype is float64])
    PROGRAMS.append(ControlProgram(name, graph(function, *types), python, active, cases, slots))


# -- branches ------------------------------------------------------------------------------------

_TRUE = graph(lambda x, y: [_sin(x) * y, y], _V, _V)
_FALSE = graph(lambda x, y: [_exp(x) * x, x * y], _V, _V)


def _branches(p: Any, x: Any, y: Any) -> Any:
    one = cond(p, x * 2.0, y, true=_TRUE, false=_FALSE)
    other = cond(p, y, one[1], true=_FALSE, false=_TRUE)
    return [_sin(one[0]), other[0] * other[1]]


def _python_true(x: Any, y: Any) -> Any:
    return jnp.sin(x) * y, y


def _python_false(x: Any, y: Any) -> Any:
    return jnp.exp(x) * x, x * y


def _python_branches(p: Any, x: Any, y: Any) -> Any:
    first, second = (_python_true, _python_false) if p else (_python_false, _python_true)
    one = first(x * 2.0, y)
    other = second(y, one[1])
    return jnp.sin(one[0]), other[0] * other[1]


_add(
    "two branches, one after the other",
    _branches,
    [_B, _V, _V],
    _python_branches,
    [[np.asarray(True), _v(), _v()], [np.asarray(False), _v(), _v()]],
)

# a branch that is a constant, an input itself, and does not use an operand; the same operand twice
_CONSTANT = graph(lambda x, y, z: [Constant(np.float64(2.5)), x], _S, _S, _S)
_OTHER = graph(lambda x, y, z: [x * y * y, y], _S, _S, _S)


def _data(x: Any, y: Any) -> Any:
    return cond(x > y, x, y, x, true=_CONSTANT, false=_OTHER)


_add(
    "a predicate of data, constant and unused values",
    _data,
    [_S, _S],
    lambda x, y: (x * 0 + 2.5, x) if known(x) > known(y) else (x * y * y, y),
    [[np.asarray(1.5), np.asarray(0.5)], [np.asarray(0.5), np.asarray(1.25)]],
)

# sqrt and log where they are singular, in the branch that is not taken
_ROOT = graph(lambda x: [_sqrt(x) * REGISTRY["log"](x)], _S)
_NO_ROOT = graph(lambda x: [x * x], _S)

_add(
    "a singular function in the branch that is not taken",
    lambda x: cond(x > Constant(np.float64(0.5)), x, true=_ROOT, false=_NO_ROOT),
    [_S],
    lambda x: (jnp.sqrt(x) * jnp.log(x),) if known(x) > 0.5 else (x * x,),
    [[np.asarray(0.9)], [np.asarray(0.0)], [np.asarray(-1.0)]],
)

# -- while ---------------------------------------------------------------------------------------

_COUNTS = graph(lambda n, w, k, x: [k < n], _I, _V, _I, _V)
_ITERATION = graph(
    lambda n, w, k, x: [k + _number(1), (_sin(x) * 0.9 + _cos(x * x) * 0.3) * w], _I, _V, _I, _V
)


def _python_counted(n: Any, w: Any, x: Any) -> Any:
    for _ in range(int(n)):
        x = (jnp.sin(x) * 0.9 + jnp.cos(x * x) * 0.3) * w
    return (jnp.sin(x) * w,)


_add(
    "a while with a counter",
    lambda n, w, x: [_sin(while_(n, w, _number(0), x, condition=_COUNTS, body=_ITERATION, consts=2)[1]) * w],
    [_I, _V, _V],
    _python_counted,
    [[_i(n), _v(), _v()] for n in (0, 1, 2, 5, 9)],
    slots=True,
)

# several parts: one does not move, one gets its tangent in the second iteration, one is reset to a constant
_DATA = graph(lambda w, a, b, c, d: [_total(a) < Constant(np.float64(6.0))], _M, _V, _V, _S, _V)
_PARTS = graph(
    lambda w, a, b, c, d: [a * 1.1 + b * _spread(c), _tanh(_dot(w, d)), c * 1.0, a * _spread(c)],
    _M,
    _V,
    _V,
    _S,
    _V,
)


def _several(w: Any, a: Any, c: Any, d: Any) -> Any:
    zero = Constant(np.float64(0.0), _V)
    return [x * x for x in while_(w, a, zero, c, d, condition=_DATA, body=_PARTS, consts=1)]


def _python_several(w: Any, a: Any, c: Any, d: Any) -> Any:
    b = jnp.zeros(3)
    while known(a).sum() < 6.0:
        a, b, d = a * 1.1 + b * c, jnp.tanh(w @ d), a * c
    return a * a, b * b, c * c, d * d


_add(
    "a while on data, with several parts",
    _several,
    [_M, _V, _S, _V],
    _python_several,
    [[_m(), _v(), _s(), _v()], [_m(), _v() + 2.0, _s(), _v()]],
    slots=True,
)

# Newton's iteration: no constants; the body is singular where the loop has ended
_FAR = graph(lambda x, y: [REGISTRY["abs"](x * x - y) > Constant(np.float64(1e-9))], _S, _S)
_NEWTON = graph(lambda x, y: [(x + y / x) * 0.5, y * 1.0], _S, _S)


def _python_newton(y: Any) -> Any:
    x = y * 0.75 + 0.5
    while abs(known(x) ** 2 - known(y)) > 1e-9:
        x = (x + y / x) * 0.5
    return (x,)


_add(
    "Newton's iteration, without constants",
    lambda y: [while_(y * 0.75 + 0.5, y, condition=_FAR, body=_NEWTON, consts=0)[0]],
    [_S],
    _python_newton,
    [[_s()], [np.asarray(2.0)], [np.asarray(1.0)]],
    slots=True,
)

# a while in a while, whose iterations depend on the outer one
_INNER = graph(lambda w, n, j, x: [j < n], _V, _I, _I, _V)
_INNER_ITERATION = graph(lambda w, n, j, x: [j + _number(1), _sin(x * w)], _V, _I, _I, _V)


def _outer_iteration(n: Any, w: Any, k: Any, x: Any) -> Any:
    y = while_(w, k, _number(0), x, condition=_INNER, body=_INNER_ITERATION, consts=2)[1]
    return [k + _number(1), y * x + w * 0.25]


_OUTER_ITERATION = graph(_outer_iteration, _I, _V, _I, _V)


def _python_nested(n: Any, w: Any, x: Any) -> Any:
    for k in range(int(n)):
        y = x
        for _ in range(k):
            y = jnp.sin(y * w)
        x = y * x + w * 0.25
    return (x,)


_add(
    "a while in a while",
    lambda n, w, x: [while_(n, w, _number(0), x, condition=_COUNTS, body=_OUTER_ITERATION, consts=2)[1]],
    [_I, _V, _V],
    _python_nested,
    [[_i(n), _v(), _v()] for n in (0, 1, 4)],
    slots=True,
)

# a while in one branch
_LONG = graph(
    lambda n, w, x: [while_(n, w, _number(0), x, condition=_COUNTS, body=_ITERATION, consts=2)[1]], _I, _V, _V
)
_SHORT = graph(lambda n, w, x: [x * w * x], _I, _V, _V)


def _python_in_branch(p: Any, n: Any, w: Any, x: Any) -> Any:
    if not p:
        return (x * w * x,)
    for _ in range(int(n)):
        x = (jnp.sin(x) * 0.9 + jnp.cos(x * x) * 0.3) * w
    return (x,)


_add(
    "a while in a branch",
    lambda p, n, w, x: cond(p, n, w, x, true=_LONG, false=_SHORT),
    [_B, _I, _V, _V],
    _python_in_branch,
    [[np.asarray(p), _i(3), _v(), _v()] for p in (True, False)],
    slots=True,
)

# -- scan ----------------------------------------------------------------------------------------


def _cell(w: Any, b: Any, k: Any, h: Any, c: Any, x: Any, j: Any) -> Any:
    z = _tanh(_dot(w, h) + x * b)
    u = REGISTRY["sigmoid"](x * c)
    return [k + j, (1.0 - u) * z + u * h, c * 0.9 + _sin(h), z * c, h, k]


_CELL = graph(_cell, _M, _V, _I, _V, _V, _V, _I)
_LENGTH = 4


def _steps(reverse: bool) -> Callable[..., Any]:
    def run(w: Any, b: Any, h: Any, c: Any, x: Any, j: Any) -> Any:
        _, h, c, z, hs, ks = scan(
            w, b, _number(0), h, c, x, j, body=_CELL, length=_LENGTH, consts=2, carries=3, reverse=reverse
        )
        return [_sin(h), c, _sin(z), hs * hs, ks]

    return run


def _python_steps(reverse: bool) -> Callable[..., Any]:
    def run(w: Any, b: Any, h: Any, c: Any, x: Any, j: Any) -> Any:
        k, kept = 0, []
        for t in reversed(range(_LENGTH)) if reverse else range(_LENGTH):
            z = jnp.tanh(w @ h + x[t] * b)
            u = jax.nn.sigmoid(x[t] * c)
            kept.append((z * c, h, k))
            k, h, c = k + j[t], (1 - u) * z + u * h, c * 0.9 + jnp.sin(h)
        z, hs, ks = ([step[i] for step in (reversed(kept) if reverse else kept)] for i in range(3))
        return jnp.sin(h), c, jnp.sin(jnp.stack(z)), jnp.stack(hs) ** 2, jnp.asarray(ks, jnp.int32)

    return run


for _reverse in (False, True):
    _add(
        f"a scan of a gated cell{', backwards' * _reverse}",
        _steps(_reverse),
        [_M, _V, _V, _V, tensor_type(float64, (_LENGTH, 3)), tensor_type(int32, (_LENGTH,))],
        _python_steps(_reverse),
        [[_m(), _v(), _v(), _v(), _RANDOM.uniform(-1, 1, (_LENGTH, 3)), np.arange(_LENGTH, dtype=np.int32)]],
    )


def _empty_cell(x: Any, s: Any) -> Any:
    return [x * s, _sin(x) + s]


for _length in (0, 1):
    _add(
        f"a scan of {_length} iterations",
        lambda x, s, _length=_length: list(
            scan(x * 2.0, s, body=graph(_empty_cell, _S, _S), length=_length, consts=0, carries=1)
        ),
        [_S, tensor_type(float64, (_length,))],
        lambda x, s, _length=_length: (
            (2.0 * x * s[0], jnp.sin(2.0 * x)[None] + s) if _length else (2.0 * x, s)
        ),
        [[_s(), _RANDOM.uniform(0.5, 1.0, _length)]],
    )

# no carry at all: a map; and a carry that nothing scanned reaches
_add(
    "a scan without a carry",
    lambda w, s: list(
        scan(w, s, body=graph(lambda w, s: [_sin(s * w), w], _S, _S), length=3, consts=1, carries=0)
    ),
    [_S, _V],
    lambda w, s: (jnp.sin(s * w), jnp.stack([w] * 3)),
    [[_s(), _v()]],
)

# a branch in a while in a scan
_HALF = graph(lambda w, x: [x * 0.5 + w], _V, _V)
_TWIST = graph(lambda w, x: [_sin(x) * w], _V, _V)


def _twisting_iteration(n: Any, w: Any, k: Any, x: Any) -> Any:
    (y,) = cond(_total(x) > Constant(np.float64(1.5)), w, x, true=_HALF, false=_TWIST)
    return [k + _number(1), y]


_TWISTING = graph(_twisting_iteration, _I, _V, _I, _V)


def _deep_cell(w: Any, x: Any, n: Any, s: Any) -> Any:
    y = while_(n, w, _number(0), x * s, condition=_COUNTS, body=_TWISTING, consts=2)[1]
    return [y, y * w]


_DEEP = graph(_deep_cell, _V, _V, _I, _V)


def _python_deep(w: Any, x: Any, n: Any, s: Any) -> Any:
    ys = []
    for t in range(3):
        x = x * s[t]
        for _ in range(int(n[t])):
            x = x * 0.5 + w if known(x).sum() > 1.5 else jnp.sin(x) * w
        ys.append(x * w)
    return x, jnp.stack(ys)


_add(
    "a branch in a while in a scan",
    lambda w, x, n, s: list(scan(w, x, n, s, body=_DEEP, length=3, consts=1, carries=1)),
    [_V, _V, tensor_type(int32, (3,)), tensor_type(float64, (3, 3))],
    _python_deep,
    [[_v(), _v(), np.asarray([2, 0, 3], np.int32), _RANDOM.uniform(0.6, 1.6, (3, 3))]],
    slots=True,
)

# a scan in a while
_WALK = graph(lambda w, x, s: [_tanh(x * w + _spread(s)), x * x], _V, _V, _S)
_SHORT_S = tensor_type(float64, (2,))


def _scanning_iteration(n: Any, w: Any, s: Any, k: Any, x: Any) -> Any:
    y, squares = scan(w, x, s, body=_WALK, length=2, consts=1, carries=1)
    return [k + _number(1), y + REGISTRY["reduce_sum"](squares, axes=(0,)) * 0.1]


_SCANNING = graph(_scanning_iteration, _I, _V, _SHORT_S, _I, _V)
_SCAN_COUNTS = graph(lambda n, w, s, k, x: [k < n], _I, _V, _SHORT_S, _I, _V)


def _python_scanning(n: Any, w: Any, s: Any, x: Any) -> Any:
    for _ in range(int(n)):
        y = jnp.tanh(x * w + s[0])
        x = jnp.tanh(y * w + s[1]) + (x * x + y * y) * 0.1
    return (x,)


_add(
    "a scan in a while",
    lambda n, w, s, x: [while_(n, w, s, _number(0), x, condition=_SCAN_COUNTS, body=_SCANNING, consts=3)[1]],
    [_I, _V, _SHORT_S, _V],
    _python_scanning,
    [[_i(n), _v(), _RANDOM.uniform(0, 1, 2), _v()] for n in (0, 3)],
    slots=True,
)
