"""Jacobians of branches and loops, compiled: all mixtures of transforms, against eager runs and against jax.

Eagerly the control flow is Python's own, so that what is differentiated has no branch or loop in it.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from mindgrad.core.base.tree import flatten
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.frontend.programs.compiled import trace
from tests.tolerances import assert_close
from tests.unit.rewrite_checks import compiled

W = np.array([[0.3, -0.2, 0.5], [0.1, 0.7, -0.4], [0.2, 0.2, 0.1]])
X = Tensor(np.array([1.3, 2.0, 0.4]))
Y = Tensor(np.array([2.3, 1.0, 2.5]))
V = Tensor(np.array([0.3, -1.0, 0.5]))
ROWS = Tensor(np.array([[1.3, 2.0, 0.4], [0.1, 0.2, 0.3], [3.0, 1.0, 0.2]]))
T = Tensor(0.9, ms.float64)
SCALES = Tensor(np.array([0.5, 1.0]))


class Tanh(nn.Cell):
    """A loop that reads a Parameter."""

    def __init__(self):
        super().__init__()
        self.weight = Parameter(Tensor(W), name="weight")

    def construct(self, x):
        while ops.square(x).sum() > 0.5:
            x = ops.tanh(ops.matmul(self.weight, x)) * 0.9
        return x


TANH = Tanh()


def branch(x):
    if x.sum() > 1.0:
        return ops.sin(x) * x[0]
    return x * x * 3


def loop(x):
    n = 0
    while x.sum() > 1.0:
        x = x / 2 + 0.01 * ops.sin(x) * x[1]
        n += 1
    return x * n


def counted(x):
    for _ in range(20):
        x = ops.sin(x) * 1.02 + 0.01 * x[0] + 0.01 * ops.cos(x) * ops.exp(-x)
    return x


def branch_in_loop(x):
    while x.sum() > 1.0:
        x = x * 0.5 if x[0] > 1.0 else x * 0.7 - 0.02 * x * x
    return x * x


def loop_in_branch(x):
    if x.sum() > 1.0:
        while x.sum() > 1.5:
            x = x * 0.6 + 0.01 * ops.cos(x)
    else:
        x = x * x * x
    return x


def parameter(x):
    return TANH(x)


PROGRAMS = [branch, loop, counted, branch_in_loop, loop_in_branch, parameter]


def total(f):
    return lambda x: (f(x) * ops.cos(x)).sum()


def of_two(f):
    return lambda x, y: f(x * y + y)


#: each gives the function that is compiled and its arguments
MIXTURES = {
    "jacfwd": lambda f: (ms.jacfwd(f), X),
    "jacobian": lambda f: (ms.jacobian(lambda x: ops.concat((f(x), x))), X),
    "jacfwd of grad": lambda f: (ms.jacfwd(ms.grad(total(f))), X),
    "jacfwd of jacfwd": lambda f: (ms.jacfwd(ms.jacfwd(f)), X),
    "jacfwd of jacrev": lambda f: (ms.jacfwd(ms.jacrev(f)), X),
    "jacrev of jacfwd": lambda f: (ms.jacrev(ms.jacfwd(f)), X),
    "grad of jacfwd": lambda f: (ms.grad(lambda x: ops.square(ms.jacfwd(f)(x)).sum()), X),
    "vmap of jacfwd": lambda f: (ms.vmap(ms.jacfwd(f)), ROWS),
    "vmap of vmap of jacfwd": lambda f: (
        ms.vmap(ms.vmap(ms.jacfwd(lambda t, x: f(t * x)), (0, None)), (None, 0)), SCALES, ROWS,
    ),
    "jacfwd of vmap": lambda f: (ms.jacfwd(lambda t: ms.vmap(f)(ROWS * t)), T),
    "jvp of vmap": lambda f: (lambda x: ms.jvp(ms.vmap(f), x, ops.sin(x)), ROWS),
    "vmap of jvp": lambda f: (ms.vmap(lambda v: ms.jvp(f, X, v)[1]), ROWS),
    "hessian": lambda f: (ms.hessian(total(f)), X),
    "hessian in two": lambda f: (ms.hessian(lambda x, y: of_two(f)(x, y).sum(), (0, 1)), X, Y),
    "of a number": lambda f: (ms.jacfwd(lambda t: f(t * X)), T),
    "twice of a number": lambda f: (ms.jacfwd(ms.jacfwd(lambda t: f(t * X))), T),
    "of two": lambda f: (ms.jacfwd(of_two(f), (0, 1)), X, Y),
    "of the second": lambda f: (ms.jacfwd(of_two(f), 1), X, Y),
    "several results": lambda f: (ms.jacfwd(lambda x, y: (of_two(f)(x, y), f(x)), (0, 1)), X, Y),
    "has_aux": lambda f: (ms.jacfwd(lambda x: (f(x), f(x) * 2), has_aux=True), X),
    "hvp": lambda f: (lambda x: ms.hvp(total(f))(x, V), X),
    "linearize": lambda f: (lambda x: ms.linearize(f, x)[1](V), X),
}  # fmt: skip


def arrays(result):
    return [x.asnumpy() for x in flatten(result)[0]]


def agree(ours, theirs):
    assert [x.shape for x in ours] == [x.shape for x in theirs]
    for mine, other in zip(ours, theirs, strict=True):
        assert_close(mine, other, kind="program")


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("name", [name for name in MIXTURES if "vmap" not in name])
def test_the_program_that_is_compiled_is_the_derivative(name, program):
    """Evaluated with NumPy: that XLA computes the same is a law of its own."""
    function, *inputs = MIXTURES[name](program)
    expected = arrays(function(*inputs))
    for rewrites in (True, False):
        with compiled(rewrites):
            graph = trace(function, *inputs)
        values = [*inputs, TANH.weight][: len(graph.inputs)]
        agree(evaluate(graph, [x.numpy() for x in values]), expected)


@pytest.mark.parametrize(
    ("name", "program"),
    [(name, f) for name in MIXTURES if "vmap" in name for f in (branch_in_loop, parameter)]
    + [("jacfwd", loop), ("jacfwd of grad", loop_in_branch), ("several results", counted)],
)
def test_compiled_mixtures(name, program):
    function, *inputs = MIXTURES[name](program)
    expected = arrays(function(*inputs))
    agree(arrays(ms.jit(function)(*inputs)), expected)


def test_in_graph_mode():
    expected = ms.jacfwd(branch_in_loop)(X).asnumpy()
    with compiled():
        agree([ms.jacfwd(branch_in_loop)(X).asnumpy()], [expected])
        agree([ms.vmap(ms.jacfwd(branch_in_loop))(ROWS).asnumpy()[0]], [expected])


def test_jacobians_of_compiled_functions_agree_with_jax():
    """A branch in a loop: the Jacobian, both modes, and the Hessian."""

    def body(x):
        return jax.lax.cond(x[0] > 1.0, lambda x: x * 0.5, lambda x: x * 0.7 - 0.02 * x * x, x)

    def theirs(x):
        return jax.lax.while_loop(lambda x: x.sum() > 1.0, body, x) ** 2

    with jax.enable_x64(True):
        x = jnp.asarray(X.numpy())
        slope, curvature = jax.jit(lambda x: (jax.jacfwd(theirs)(x), jax.jacfwd(jax.jacfwd(theirs))(x)))(x)
        slope, curvature = np.asarray(slope), np.asarray(curvature)
    for jacobian in (ms.jacfwd, ms.jacrev, ms.jacobian):
        agree([ms.jit(jacobian(branch_in_loop))(X).asnumpy()], [slope])
    agree([ms.jit(ms.jacfwd(ms.jacfwd(branch_in_loop)))(X).asnumpy()], [curvature])
    # the function itself is compiled, its derivatives are taken eagerly
    agree([ms.jacfwd(ms.jit(branch_in_loop))(X).asnumpy()], [slope])


def test_a_loop_and_its_jacobian_are_one():
    """Forward mode runs the loop once where only its Jacobian is asked for."""
    with compiled():
        assert trace(ms.jacfwd(loop), X).count()["while"] == 1
        assert trace(ms.jacfwd(counted), X).count()["scan"] == 1
        assert trace(lambda x: ms.vjp(counted, x)[0], X).count()["scan"] == 1
