"""What XLA's compiler is told: by what a program reduces, without compiling anything twice."""

from contextlib import nullcontext
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.core.backend import disk, options
from mindgrad.frontend.programs.compiled import trace
from tests.tolerances import assert_close

pytestmark = pytest.mark.xla

NAME = "xla_cpu_experimental_ynn_fusion_type"


def told(function, *shapes, device=None):
    return options.options_of(trace(function, *[Tensor(np.ones(s, np.float32)) for s in shapes]), device)


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda x: (x * x).sum(-1), (300, 300, 3)),  # distances
        (lambda x: (x * x).sum(1), (300, 300, 3)),
        (lambda x: (x * x).max(axis=0), (8, 300, 400)) if jax.__version_info__ < (0, 11) else (lambda x: x.sum(-1), (300, 300, 3)),
    ],
)  # fmt: skip
def test_programs_with_sums_of_few_are_compiled_without_the_kernels_for_sums(function, shape):
    assert list(told(function, shape)) == [NAME]
    assert "REDUCE" not in told(function, shape)[NAME]


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda x: ops.softmax(x, -1), (2000, 500)),
        (lambda x: (x * x).sum(0), (1000, 1000)),
        (lambda x: ops.tanh(x), (1000, 1000)),
        (lambda x: x.sum(-1), (10, 3)),  # too small to matter
        (lambda x: x.sum(-1), (0, 3)),
    ],
)
def test_other_programs_are_compiled_as_ever(function, shape):
    assert told(function, shape) == {}


@pytest.mark.skipif(jax.__version_info__ >= (0, 11), reason="jaxlib 0.11 repaired these kernels")
def test_results_of_more_than_64_kib_side_by_side_are_summed_without_the_kernels():
    for dtype, width in ((np.float32, 16384), (np.float64, 8192)):
        for more in (0, 1):
            program = trace(lambda x: (x * x).sum(0), Tensor(np.ones((200, width + more), dtype)))
            assert bool(options.options_of(program, None)) == bool(more)


def test_options_of_gpu_has_products_without_triton():
    gpu, tpu, cpu = (SimpleNamespace(platform=name) for name in ("gpu", "tpu", "cpu"))
    function, shape = lambda x: x.sum(-1), (300, 300, 3)
    assert told(function, shape, device=gpu) == {"xla_gpu_enable_triton_gemm": "False"}
    assert told(function, shape, device=tpu) == {}
    assert list(told(function, shape, device=cpu)) == [NAME]


def test_options_of_gpu_are_known_to_this_jaxlib(forgotten):
    compiled = options.compiled_with(jax.jit(lambda x: x + 1).lower(1.0), options._GPU)
    assert compiled(1.0) == 2
    assert not options._unknown


def test_kernel_options_drop_what_the_compiler_does_not_know(forgotten, monkeypatch):
    monkeypatch.setattr(options, "_GPU", {"xla_gpu_no_such_option": "1"})
    device = type("Device", (), {"platform": "gpu"})()
    monkeypatch.setattr(jax, "default_device", lambda device: nullcontext())
    options.kernel_options.cache_clear()
    try:
        assert options.kernel_options(device) == {}
        assert options.kernel_options(None) == {}
    finally:
        options.kernel_options.cache_clear()


def test_what_a_loop_does_counts_as_often_as_it_does_it():
    def function(x):
        total = x.sum(0)  # pays with the kernels for sums
        n = total.sum()
        while n > 0:
            total = total + (x * x).reshape(1000, 100, 3).sum(-1).sum()  # does not
            n = n - 1
        return total

    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        assert told(lambda x: x.sum(0) + x.reshape(1000, 100, 3)[:100].sum(-1).sum(), (1000, 300)) == {}
        assert told(function, (1000, 300))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


class Lowered:
    """What jax gives, of a compiler that knows no option but one."""

    def __init__(self):
        self.tried = []

    def compile(self, compiler_options=None):
        self.tried.append(dict(compiler_options or {}))
        for name in compiler_options or {}:
            if name != "known":
                raise RuntimeError(f"INVALID_ARGUMENT: No such compile option: '{name}'")
        return "compiled"


@pytest.fixture
def forgotten(monkeypatch):
    monkeypatch.setattr(options, "_unknown", set())


def test_an_unknown_option_is_tried_once(forgotten):
    lowered = Lowered()
    assert options.compiled_with(lowered, {"known": "1", "new": "2"}) == "compiled"
    assert lowered.tried == [{"known": "1", "new": "2"}, {"known": "1"}]
    assert options.compiled_with(lowered, {"known": "1", "new": "2"}) == "compiled"
    assert lowered.tried[2:] == [{"known": "1"}]


def test_another_error_is_the_users(forgotten):
    class Broken(Lowered):
        def compile(self, compiler_options=None):
            raise RuntimeError("RESOURCE_EXHAUSTED: out of memory")

    with pytest.raises(RuntimeError, match="RESOURCE_EXHAUSTED"):
        options.compiled_with(Broken(), {"known": "1"})


def test_the_compiler_at_hand_takes_the_options_and_computes_the_same(forgotten):
    x = np.random.default_rng(0).standard_normal((300, 300, 3)).astype(np.float32)
    lowered = jax.jit(lambda x: (x * x).sum(-1)).lower(jnp.asarray(x))
    given = told(lambda x: x.sum(-1), (300, 300, 3))
    found = options.compiled_with(lowered, {**given, "xla_cpu_no_such_option": "1"})(jnp.asarray(x))
    assert options._unknown == {"xla_cpu_no_such_option"}
    assert_close(found, (x * x).sum(-1))


def test_options_are_part_of_the_name_on_the_disk():
    device = jax.devices("cpu")[0]
    names = {disk._key(x, [device], options) for x in ("61", b"a") for options in ({}, {NAME: ""})}
    assert len(names) == 4


def test_infinities_and_nan_stay():
    """No option is one that gives up IEEE arithmetic."""
    x = Tensor(np.array([[np.inf, 1, -np.inf], [np.nan, 0, 1]] * 3000, np.float32))
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        assert told(lambda x: x.sum(-1), x.shape)
        total, largest = ms.jit(lambda x: (x.sum(-1), x.max(axis=-1)))(x)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert np.isnan(total.asnumpy()).all()
    assert np.isposinf(largest.asnumpy()[0])
    assert np.isnan(largest.asnumpy()[1])
