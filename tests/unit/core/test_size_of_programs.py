"""The size of one program: making it takes a number of calls, and memory, in proportion to its size."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tracemalloc
from functools import partial
from typing import Any

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from mindgrad.core.backend import xla
from mindgrad.core.backend.xla import lower_ahead, to_device
from mindgrad.core.base.collection import only_young_garbage
from mindgrad.core.control.cond import cond
from mindgrad.core.ir.memo import forget
from mindgrad.core.passes.pipeline import before_compilation
from mindgrad.frontend.programs import compiled
from mindgrad.frontend.programs.compiled import trace


def calls(function: Any) -> int:
    """How many functions of Python are called by ``function()``."""
    count = 0
    forget()  # derivatives of an equal program

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count


def chain(n: int) -> tuple[Any, list[Any]]:
    def f(x):
        for _ in [None] * n:
            x = ops.sin(x) * 1.01
        return x.sum()

    return f, [Tensor(np.ones(4, np.float32))]


def wide(n: int) -> tuple[Any, list[Any]]:
    def f(x):
        total, y = x, ops.sin(x)
        for k in list(range(n)):
            total = total + ops.sin(y * (1.0 + k / n))
        return total.sum()

    return f, [Tensor(np.ones(4, np.float32))]


def elements(n: int) -> tuple[Any, list[Any]]:
    def f(x):
        total = x[0]
        for i in list(range(1, n)):
            total = total + x[i] * x[i - 1]
        return total

    return f, [Tensor(np.ones(n, np.float32))]


def branches(n: int) -> tuple[Any, list[Any]]:
    def f(x):
        for _ in [None] * n:
            if x.sum() > 0:
                x = ops.sin(x)
            else:
                x = x * 0.5
        return x.sum()

    return f, [Tensor(np.ones(4, np.float32))]


def layers(n: int) -> tuple[Any, list[Any]]:
    def f(x, weights, biases):
        for weight, bias in zip(weights, biases, strict=True):
            x = ops.tanh(ops.matmul(x, weight) + bias)
        return x.sum()

    weights = [Tensor(np.full((3, 3), 0.1 + k / n, np.float32)) for k in range(n)]
    return f, [Tensor(np.ones((2, 3), np.float32)), weights, [Tensor(np.ones(3, np.float32))] * n]


def parameters(n: int) -> tuple[Any, list[Any]]:
    def f(x, arrays):
        total = x.sum()
        for array in arrays:
            total = total + ops.sin(array).sum()
        return total

    return f, [Tensor(np.ones(3, np.float32)), [Tensor(np.full(3, k / n, np.float32)) for k in range(n)]]


def phases(f: Any, arguments: list[Any]) -> dict[str, Any]:
    gradient = ms.grad(f, 0 if len(arguments) == 1 else tuple(range(len(arguments))))
    program = trace(gradient, *arguments)
    phases = {
        "trace": lambda: trace(f, *arguments),
        "gradient": lambda: trace(gradient, *arguments),
        "passes": lambda: before_compilation(program),
        "lowering": lambda: lower_ahead(program),
    }
    if len(arguments) == 1:
        x = arguments[0]
        phases["second gradient"] = lambda: trace(ms.grad(lambda x: ms.grad(f)(x).sum()), x)
        phases["jvp"] = lambda: trace(lambda x: ms.jvp(f, x, x), x)
        phases["vmap"] = lambda: trace(ms.vmap(f), ops.stack([x, x]))
    return phases


@pytest.mark.parametrize("program", [chain, wide, elements, branches, layers, parameters])
def test_twice_the_equations_take_twice_the_calls(program):
    counts = []
    # above 64: smaller constants are compared by value, so that more of them are one; branches have few
    for n in (35, 70) if program is branches else (70, 140):
        made = phases(*program(n))
        for phase in made.values():  # what happens once
            phase()
        counts.append({name: calls(phase) for name, phase in made.items()})
    ratios = {name: counts[1][name] / counts[0][name] for name in made}
    assert max(ratios.values()) <= 2.2, ratios


def test_equal_branches_are_lowered_once(monkeypatch):
    table = Tensor(np.arange(20_000, dtype=np.float32))  # handed to the program, not written into it
    lowered = []
    nested = xla._nested
    monkeypatch.setattr(xla, "_nested", lambda graph, *rest: lowered.append(graph) or nested(graph, *rest))

    def step(x):
        if x[0] > 0:
            x = ops.sin(x) * table
        else:
            x = x - table
        return x

    def f(x, n):
        for _ in [None] * n:
            x = step(x)
        while x[2] > -20.0:  # the same branches within another program
            x = step(x)
        return x

    x = np.full(20_000, -1.0, np.float32)
    counts = []
    for n in (3, 9):
        program = trace(partial(f, n=n), Tensor(x))
        assert sum(equation.primitive is cond for equation in program.equations) == n
        lowered.clear()
        result = np.asarray(xla.compile_graph(program)([x])[0])
        assert result.tolist() == (x - 10 * np.arange(20_000, dtype=np.float32)).tolist()
        counts.append(len(lowered))
    assert 0 < counts[0] == counts[1] < 9


def test_a_net_of_thousands_of_layers_is_made_run_and_differentiated():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    depth = 3000  # far beyond Python's limit of recursion

    def net(n: int) -> nn.SequentialCell:
        return nn.SequentialCell([nn.Dense(1, 1, weight_init="ones", bias_init="zeros") for _ in range(n)])

    few, many = net(100), net(200)
    assert calls(many.trainable_params) <= 2.2 * calls(few.trainable_params)
    assert calls(lambda: list(many.parameters_and_names())) <= 2.2 * calls(
        lambda: list(few.parameters_and_names())
    )
    deep = net(depth)
    x = Tensor(np.full((1, 1), 2.0, np.float32))
    weights = deep.trainable_params()
    assert len(weights) == 2 * depth
    value, gradients = ms.value_and_grad(lambda x: deep(x).sum(), None, weights)(x)
    assert float(value) == 2.0
    assert [float(gradient.sum()) for gradient in gradients[:2]] == [2.0, 1.0]
    assert len(trace(deep, x)) > depth


def test_only_young_garbage_is_collected_while_a_program_is_made(monkeypatch):
    thresholds = []

    def noted(graph):
        thresholds.append(gc.get_threshold())
        return graph

    monkeypatch.setattr(compiled, "before_compilation", noted)
    before = gc.get_threshold()
    trace(lambda x: x * 2.0, Tensor([1.0]))
    assert thresholds[0][:2] == before[:2]
    assert thresholds[0][2] > 1000 * before[2]
    assert gc.get_threshold() == before
    with only_young_garbage, only_young_garbage:
        pass
    assert gc.get_threshold() == before


def test_a_setting_of_the_collector_that_the_user_makes_meanwhile_stays():
    before = gc.get_threshold()
    try:
        with only_young_garbage:
            gc.set_threshold(500, 5, 5)
        assert gc.get_threshold() == (500, 5, 5)
    finally:
        gc.set_threshold(*before)


LOADING = """
import gc
from mindgrad.core.base.collection import no_garbage, only_young_garbage
before = gc.get_threshold()
assert before[0] and gc.isenabled() and not gc.get_freeze_count(), "as they were before the import"
objects = [[] for _ in range(10)]
with only_young_garbage:
    with no_garbage:
        assert gc.get_threshold()[0] == 0
        objects += [[] for _ in range(10_000)]
    assert gc.get_threshold()[0] == before[0]
    assert gc.get_threshold()[2] > before[2]
assert gc.get_threshold() == before
assert not gc.get_freeze_count()
oldest = {id(each) for each in gc.get_objects(generation=2)}
assert all(id(each) in oldest for each in objects)

gc.freeze()
with no_garbage:
    pass
assert gc.get_freeze_count(), "what the user froze stays frozen"
gc.unfreeze()
gc.disable()
young = []
with no_garbage:
    pass
assert not gc.isenabled()
assert any(each is young for each in gc.get_objects(generation=0))
"""


def test_nothing_is_collected_while_modules_are_loaded_and_all_counts_as_old_afterwards():
    # in a process of its own: that of the tests has frozen objects
    done = subprocess.run([sys.executable, "-c", LOADING], capture_output=True, text=True)
    assert not done.returncode, done.stderr


SIZE = 1 << 19  # 2 MB: large arrays begin at one


def test_large_arrays_of_tensors_are_taken_by_the_device_as_they_are():
    array = np.ones(SIZE, np.float32)
    x = Tensor(array)
    on_device = to_device(x.host_array())
    assert on_device.unsafe_buffer_pointer() == x.host_array().__array_interface__["data"][0]
    array[0] = 7.0
    assert float(x[0]) == 1.0
    for other in (Tensor(x), Parameter(x), Parameter(x).clone()):
        assert np.shares_memory(other.host_array(), x.host_array())
    assert not np.shares_memory(Tensor(x, ms.float16).host_array(), x.host_array())
    assert not np.shares_memory(x.asnumpy(), x.host_array())


def test_a_step_in_place_leaves_the_tensor_that_the_parameter_was_made_of():
    ms.set_context(mode=ms.GRAPH_MODE)
    x = Tensor(np.ones(SIZE, np.float32))
    weight = Parameter(x, name="weight")

    @ms.jit
    def step():
        ops.assign(weight, weight + 1.0)
        return weight[0]

    assert [float(step()) for _ in range(3)] == [2.0, 3.0, 4.0]
    assert x.asnumpy().max() == 1.0
    assert weight.asnumpy().min() == 4.0


def test_an_eager_gradient_gives_back_what_it_does_not_need_any_more():
    ms.set_context(mode=ms.PYNATIVE_MODE)

    def f(x):
        return (ops.sin(ops.sin(ops.sin(ops.sin(x)))) * x).sum()

    x = Tensor(np.ones(SIZE, np.float32))
    gradient = ms.grad(f)
    gradient(x)
    tracemalloc.start()
    gradient(x)
    peak = tracemalloc.get_traced_memory()[1] / x.nbytes
    tracemalloc.stop()
    # four values forwards and the product, which is given back first; each of them behind its cosine
    assert peak < 6.5, peak


def test_an_eager_gradient_through_an_assignment_holds_what_the_derivative_needs_only():
    ms.set_context(mode=ms.PYNATIVE_MODE)

    def f(x):
        x[0] = 5.0
        return (x * x).sum()

    gradient = ms.grad(f)
    x = Tensor(np.ones(SIZE, np.float32))
    gradient(x)
    tracemalloc.start()
    result = gradient(x)
    peak = tracemalloc.get_traced_memory()[1] / x.nbytes
    tracemalloc.stop()
    assert peak < 2.2, peak  # two at a time: of the value assigned, its square, the cotangent, the gradient
    assert result[:3].asnumpy().tolist() == [0.0, 2.0, 2.0]
    assert float(x.sum()) == SIZE


def test_a_large_value_that_an_eager_gradient_has_given_back_is_computed_again_where_it_was_kept():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    kept = []

    def f(x):
        y = ops.sin(x)
        kept[:] = [y, y * 2.0]
        return (y * x).sum()

    x = Tensor(np.ones(SIZE, np.float32))

    def outer(a):
        inner = ms.grad(f)(x)
        return (kept[1] * a).sum() + (inner * a).sum()

    expected = 3 * np.sin(1.0) + np.cos(1.0)
    assert abs(float(ms.grad(outer)(Tensor(1.0))) / SIZE - expected) < 1e-5
    assert abs(float(kept[0][0]) - np.sin(1.0)) < 1e-6
    assert abs(float((kept[0] + kept[1])[0]) - 3 * np.sin(1.0)) < 1e-6


FORKED = """
import gc, os
from mindgrad.core.base.collection import only_young_garbage
before = gc.get_threshold()
with only_young_garbage:
    child = os.fork()
    if not child:
        os._exit(gc.get_threshold() != before)
assert os.waitpid(child, 0)[1] == 0
assert gc.get_threshold() == before
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_process_that_is_forked_while_a_program_is_made_collects_all_garbage():
    # in a process of its own: the one that runs the tests has threads of jax, which warns of a fork
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True)
    assert not done.returncode, done.stderr
