"""The protocols between the core and the layers above, with toy implementations."""

import threading

import numpy
import pytest

from mindgrad.core import Tensor, grad, jit, placement, vjp
from mindgrad.core import numpy as np
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.recorder import Recorder
from mindgrad.core.ir.scope import apply, defer_to
from mindgrad.core.ir.tensor import assign
from mindgrad.core.trace import executor, frontend, record, references
from tests.tolerances import assert_close

X = numpy.array([1.0, 2.0])


# -- State ---------------------------------------------------------------------------------------------


class Counter(Tensor):
    """A reference: a tensor whose stored value may change."""

    __slots__ = ()
    is_parameter = True

    def value(self):
        return references.read(self)

    def store(self, value):
        assign(self, value)


def counting(x, counter):
    references.write(counter, np.add(references.read(counter), 1.0))
    return np.sum(np.multiply(x, references.read(counter)))


def test_reference_is_written_by_an_ordinary_call():
    counter = Counter(numpy.array(2.0))
    assert float(counting(X, counter).asnumpy()) == 9.0
    assert float(counter.asnumpy()) == 3.0


def test_reference_is_written_once_by_a_gradient():
    counter = Counter(numpy.array(2.0))
    gradient = grad(lambda x: counting(x, counter))(X)
    assert gradient.tolist() == [3.0, 3.0]
    assert float(counter.asnumpy()) == 3.0


def test_jit_reads_and_writes_a_reference_at_each_call():
    counter = Counter(numpy.array(2.0))
    compiled = jit(lambda x: counting(x, counter))
    assert [float(compiled(X).asnumpy()) for _ in range(3)] == [9.0, 12.0, 15.0]
    assert float(counter.asnumpy()) == 5.0
    counter.store(Tensor(numpy.array(10.0)))
    assert float(compiled(X).asnumpy()) == 33.0


def test_jit_of_a_gradient_writes_a_reference():
    counter = Counter(numpy.array(2.0))
    gradient = jit(grad(lambda x: counting(x, counter)))
    assert [gradient(X).tolist() for _ in range(2)] == [[3.0, 3.0], [4.0, 4.0]]


# -- Frontend ------------------------------------------------------------------------------------------


class Logging(frontend.Frontend):
    """A frontend that doubles the results of functions, and counts its calls."""

    def __init__(self):
        self.calls = 0

    def call(self, function, /, *args, **kwargs):
        self.calls += 1
        return np.multiply(2.0, function(*args, **kwargs))


@pytest.fixture
def logging():
    toy = Logging()
    before = frontend.register(toy)
    yield toy
    assert frontend.register(before) is toy


def test_frontend_replaces_the_calls_of_differentiated_functions(logging):
    assert grad(lambda x: x * x)(3.0) == 12.0
    assert logging.calls == 1


def test_frontend_replaces_the_calls_of_traced_functions(logging):
    double = jit(lambda x: x + 1.0)
    assert [double(1.0), double(2.0)] == [4.0, 6.0]
    assert logging.calls == 1  # the second call uses the graph of the first


def test_frontend_stores_assigned_tensors_after_a_derivative(monkeypatch):
    class Place:
        def __init__(self):
            self.leaves = []

        def store(self, leaves):
            self.leaves = list(leaves)

    place = Place()

    class Following(frontend.Frontend):
        def assigned_in(self, scope):
            return [place]

    def function(x):
        place.leaves = [x * x]
        return x * 3.0

    before = frontend.register(Following())
    try:
        jit(grad(function))(2.0)
    finally:
        frontend.register(before)
    assert not place.leaves[0].is_traced


# -- Placement -----------------------------------------------------------------------------------------


class OneProcess:
    """A package of collectives that has joined a job."""

    def has_joined(self):
        return True

    def must_join(self):
        return False


def test_registered_communication_answers_for_the_core(monkeypatch):
    monkeypatch.setattr(placement, "_communication", None)
    assert not placement.has_joined()
    placement.register_communication(OneProcess())
    assert placement.has_joined()
    assert not placement.must_join()
    assert isinstance(placement.communication(), OneProcess)


def test_collectives_without_a_package_that_runs_them_raise(monkeypatch):
    monkeypatch.setattr(placement, "_communication", None)
    with pytest.raises(RuntimeError, match="no package that runs them"):
        placement.communication()


# -- Executor ------------------------------------------------------------------------------------------


class Tracing:
    """An executor that notes the graphs that it runs."""

    def __init__(self):
        self.runs = []

    def compiled(self, graph):
        def run(arrays):
            self.runs.append([equation.primitive.name for equation in graph.equations])
            return evaluate(graph, arrays)

        return run


def test_registered_executor_runs_the_graphs_of_jit():
    toy = Tracing()
    before = executor.register(toy)
    try:
        gradient = jit(grad(lambda x: np.sum(np.sin(x))))
        results = [gradient(X), gradient(2 * X)]
    finally:
        executor.register(before)
    assert toy.runs[0] == toy.runs[1]
    assert "cos" in toy.runs[0]
    assert_close([x.asnumpy() for x in results], numpy.cos([X, 2 * X]), "program")


def test_numpy_and_default_executor_agree():
    before = executor.register(executor.NumPyExecutor())
    try:
        expected = jit(grad(lambda x: np.sum(np.tanh(x) ** 3)))(X)
    finally:
        executor.register(before)
    found = jit(grad(lambda x: np.sum(np.tanh(x) ** 3)))(X)
    assert_close(found.asnumpy(), expected.asnumpy(), "program")


class Noting:
    """A deferral that runs every operator immediately, and notes its name."""

    def __init__(self):
        self.names, self.recordings, self.inputs = [], [], {}

    def record(self, primitive, tensors, parameters):
        self.names.append(primitive.name)
        defer_to(None)
        try:
            return apply(primitive, *tensors, **parameters)
        finally:
            defer_to(self)

    def new_scope(self):
        return Recorder()

    def opens(self, scope, tensors):
        self.inputs[scope] = [scope.input(t) for t in tensors]
        return self.inputs[scope]

    def closes(self, scope):
        pass

    def returns(self, scope, recorded):
        self.recordings.append(recorded)

    def finishes(self, scope, *args, **kwargs):
        return record.finish(scope, self.inputs[scope], *args, **kwargs)

    def lifted(self, tensor):
        return tensor

    def requested(self, pending):
        raise AssertionError("this deferral has no pending arrays")


def test_deferral_receives_the_operators_of_its_thread():
    toy = Noting()
    others = []

    def elsewhere():
        others.append(float(np.sin(1.0)))

    defer_to(toy)
    try:
        value, pullback = vjp(lambda x: np.sum(np.sin(x)), X)
        gradient = pullback(Tensor(numpy.array(1.0)))[0]
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    finally:
        defer_to(None)
    assert toy.names[:2] == ["sin", "reduce_sum"]
    assert toy.names.count("sin") == 1
    assert len(toy.recordings) == 1
    assert_close(gradient.asnumpy(), numpy.cos(X), "program")
    assert_close(float(value), numpy.sin(X).sum(), "program")
    assert len(others) == 1
