"""``print`` under derivatives: as often and in the order in which one run of the function prints, and at no cost."""

import contextlib
import io
from collections import Counter

import pytest

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.graph import Graph
from mindgrad.core.passes.pipeline import before_compilation
from mindgrad.frontend.programs.compiled import trace
from tests.unit.rewrite_checks import compiled

W = Tensor([[1.0, 2.0], [0.5, 1.0]])
X, V = Tensor([1.0, 2.0]), Tensor([0.5, -1.0])


def straight(x, say=print):
    say("x is", x)
    y = ops.tanh(ops.matmul(W, x)).sum() * x.sum()
    say(f"y is {y}, {x!r}")
    say("constant")
    return y


def rowwise(x, say=print):
    say("rows", x)
    y = ops.sin(x) * x
    say("of", y)
    return y.sum()


def branching(x, say=print):
    say("before", x)
    if x.sum() > 1.0:
        say("large", x[0])
        y = ops.sin(x) * 3.0
    else:
        say("small", x[1])
        y = x * x
    say("unrelated", x[0] * 2.0)
    say("after", y)
    return (y * y).sum()


def looping(x, say=print):
    say("start", x)
    n = 0
    while x.sum() > 0.5:
        say("iteration", n, x)
        x = ops.sin(x) * 0.6
        n += 1
    say("n", n)
    for _ in range(20):
        x = ops.sin(x) + 0.001 * x * x + 0.01 * ops.cos(x) * ops.exp(-x)
        if x.sum() > 0.8:
            say("above", x)
    say("end", x)
    return ops.exp(x).sum()


FUNCTIONS = [straight, rowwise, branching, looping]

#: each as a function of the function, which is then one of x
DERIVATIVES = {
    "value": lambda f: f,
    "grad": lambda f: ms.grad(f),
    "value_and_grad": lambda f: ms.value_and_grad(f),
    "grad of grad": lambda f: ms.grad(lambda x: (ms.grad(f)(x) * V).sum()),
    "grad of one column": lambda f: ms.grad(lambda x: ms.grad(f)(x)[1]),
    "three times": lambda f: ms.grad(ms.grad(ms.grad(f))),
    "hessian": lambda f: ms.hessian(f),
    "trace of hessian": lambda f: lambda x: ops.trace(ms.hessian(f)(x)),
    "hvp": lambda f: lambda x: ms.hvp(f)(x, V),
    "vhp": lambda f: lambda x: ms.vhp(f)(x, V),
    "ggnvp": lambda f: lambda x: ms.ggnvp(f)(x, V),
    "jvp": lambda f: lambda x: ms.jvp(f, x, V),
    "jvp of grad": lambda f: lambda x: ms.jvp(ms.grad(f), x, V)[1],
    "jvp of jvp": lambda f: lambda x: ms.jvp(lambda x: ms.jvp(f, x, V)[1], x, V)[1],
    "vjp": lambda f: lambda x: ms.vjp(f, x)[1](Tensor(2.0)),
    "vjp twice": lambda f: lambda x: [ms.vjp(f, x)[1]] and _twice(ms.vjp(f, x)[1]),
    "jacfwd": lambda f: ms.jacfwd(f),
    "jacrev": lambda f: ms.jacrev(f),
    "jacobian": lambda f: ms.jacobian(f),
    "jacfwd of grad": lambda f: ms.jacfwd(ms.grad(f)),
    "laplacian": lambda f: ms.laplacian(f),
    "series": lambda f: lambda x: ms.derivative(lambda t: f(x * t), Tensor(1.0), 3),
    "nn.Jvp": lambda f: lambda x: nn.Jvp(_cell(f))(x, V),
}


def _twice(pull):
    return pull(Tensor(2.0)), pull(Tensor(3.0))


def _cell(f):
    class Net(nn.Cell):
        def construct(self, x):
            return f(x)

    return Net()


def silent(*_):
    pass


def printed(function, *inputs):
    """What a call prints."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        function(*inputs)
    return text.getvalue()


def finished(function, *inputs):
    """The program of a function as it is compiled."""
    return before_compilation(trace(function, *inputs))


def run(function, *inputs):
    evaluate(finished(function, *inputs), [x.numpy() for x in inputs])


def programs_in(graph):
    """The graph and those inside of it."""
    yield graph
    for equation in graph.equations:
        for value in equation.parameters.values():
            if isinstance(value, Graph):
                yield from programs_in(value)


def counts(graph):
    """How often each row occurs, in the graphs inside too."""
    return sum((Counter(each.count()) for each in programs_in(graph)), Counter())


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", DERIVATIVES)
def test_a_print_is_seen_as_often_as_in_a_run(name, function):
    derivative = DERIVATIVES[name](function)
    expected = printed(derivative, X)
    assert expected
    for rewrites in (True, False):
        with compiled(rewrites):
            assert printed(run, derivative, X) == expected


def dense(x, say):
    say(x)
    return ops.tanh(ops.matmul(W, x)).sum() * x.sum()


def apart(x, say):
    say(x)
    return (ops.sin(x) * x).sum()


def forked(x, say):
    if x.sum() > 1.0:
        say(x)
        y = ops.sin(x) * 3.0
    else:
        y = x * x
    return (y * y).sum()


def repeated(x, say):
    while x.sum() > 0.5:
        say(x)
        x = ops.sin(x) * 0.6
    for _ in range(20):
        say(x)
        x = ops.sin(x) + 0.001 * x * x + 0.01 * ops.cos(x) * ops.exp(-x)
    return ops.exp(x).sum()


#: derivatives that have a branch or loop as one equation with the function's own
TOGETHER = ["value", "grad", "value_and_grad", "grad of grad", "jvp", "jvp of jvp", "jacrev", "nn.Jvp"]


@pytest.mark.parametrize(
    ("name", "function"),
    [(name, f) for name in DERIVATIVES for f in (dense, apart)]
    + [(name, f) for name in TOGETHER for f in (forked, repeated)],
)
def test_a_print_costs_nothing_else(name, function):
    """The program is that of the same function without prints, and the prints."""
    quiet, loud = (DERIVATIVES[name](lambda x, say=say: function(x, say)) for say in (silent, print))
    with compiled():
        expected, seen = counts(finished(quiet, X)), counts(finished(loud, X))
    assert seen.pop("show")
    assert seen == expected


def test_each_element_of_a_batch_prints():
    rows = Tensor([[1.0, 2.0], [0.5, 0.25], [3.0, 4.0]])
    text = "".join(f"rows {row}\n" for row in ("[1. 2.]", "[0.5  0.25]", "[3. 4.]"))
    for derivative in (ms.grad, ms.hessian, ms.jacfwd, lambda f: lambda x: ms.jvp(f, x, V)):
        with compiled():
            seen = printed(ms.vmap(derivative(rowwise)), rows)
        assert seen.startswith(text)
        assert seen.count("of") == 3


@pytest.mark.parametrize("derivative", [ms.grad, ms.jacfwd, ms.hessian])
def test_the_compiled_program_prints_in_order(derivative):
    expected = printed(derivative(branching), X)
    with compiled():
        seen = printed(derivative(branching), X)
    words = lambda text: [line.split()[0] for line in text.splitlines()]
    assert words(seen) == words(expected)  # XLA's sine differs from NumPy's in the last digit


def test_two_calls_print_twice():
    both = lambda x: ms.grad(straight)(x) + ms.grad(straight)(x)
    once = printed(ms.grad(straight), X)
    for rewrites in (True, False):
        with compiled(rewrites):
            assert printed(run, both, X) == once * 2


def test_sparse_matrices_and_kept_derivatives_print_once():
    expected = printed(straight, X)
    for derivative in (
        ms.hessian(straight, sparse=True),
        ms.jacobian(lambda x: straight(x) * x, sparse=True),
        lambda x: _twice(ms.vjp(straight, x)[1]),
        lambda x: [push(V) for push in 2 * [ms.linearize(straight, x)[1]]],
    ):
        with compiled():
            assert len(printed(derivative, X).splitlines()) == len(expected.splitlines())


class Cubed(nn.Cell):
    """A derivative of its own, which prints."""

    def construct(self, x):
        return x * x * x

    def bprop(self, x, out, dout):
        print("bprop", x)
        return (3 * x * x * dout,)


@pytest.mark.parametrize("rewrites", [True, False], ids=["rewritten", "plain"])
@pytest.mark.parametrize(
    ("name", "count"), [("value", 0), ("grad", 1), ("jvp", 1), ("jacrev", 1), ("jacfwd", 1), ("hessian", 2)]
)
def test_a_bprop_prints_when_a_derivative_runs_it(name, count, rewrites):
    """In both modes: a second derivative runs it for the gradient, and for the value in the gradient."""
    net = Cubed()
    derivative = DERIVATIVES[name](lambda x: (net(x) * x).sum())
    assert printed(derivative, X).count("bprop") == count
    with compiled(rewrites):
        assert printed(run, derivative, X).count("bprop") == count


def test_the_derivative_of_a_solution_does_not_print():
    """It evaluates the equation again; eagerly too, where the loop of the solver was recorded."""
    half = Tensor(0.5)

    def solution(p):
        def follow(x):
            print("x", x)
            return ops.cos(x) * p

        return ms.fixed_point(follow, half)

    def decayed(y):
        def slope(y, t):
            print("t", t)
            return -y

        return ms.odeint(slope, y, Tensor([0.0, 0.5])).sum()

    for f, x in ((solution, Tensor(0.7)), (decayed, X)):
        expected = printed(f, x)
        assert printed(ms.grad(f), x) == expected
        assert printed(lambda x, f=f: ms.jvp(f, x, x), x) == expected


def mean_of_squares(x):
    loss = (x * x).mean()
    print("loss", loss)
    return loss


def rounded_quotients(x):
    steps = ops.floor(x / 3.0)
    print("steps", steps, (x / 7.0).astype(ms.int32))
    return ((x / 3.0) ** 2).sum() + steps.sum()


def branch_of_quotients(x):
    if x.sum() > 0.0:
        y = x / 3.0
        print("large", ops.floor(y), x.mean())
    else:
        y = x / 5.0
    return (y * y).mean()


def loop_of_quotients(x):
    while x.sum() > 0.5:
        print("sum", ops.floor(x / 3.0), ops.round(x / 7.0).sum())
        x = x / 4.0
    for _ in range(12):
        print("item", ops.floor(x / 3.0))
        x = x * x + 1.0 / 3.0
    return (x / 3.0).sum()


def checked_mean(x):
    return ms.check_finite((x * x).mean())


@pytest.mark.xla
@pytest.mark.parametrize("derivative", [lambda f: f, ms.grad, ms.hessian], ids=["value", "grad", "hessian"])
@pytest.mark.parametrize(
    "function", [mean_of_squares, rounded_quotients, branch_of_quotients, loop_of_quotients, checked_mean]
)
def test_print_of_a_quotient_by_a_constant_is_compiled(function, derivative):
    expected, results = printed(derivative(function), X), []
    assert printed(lambda x: results.append(ms.jit(derivative(function))(x)), X) == expected
    assert abs(results[0] - derivative(function)(X)).max() < 1e-5
