"""Convolution against jax's values and derivatives, and against its definition written as loops."""

import itertools

import jax
import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.core.backend.xla import compile_graph, lower_ahead
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.types import type_of
from mindgrad.core.primitives import convolution_kernel
from mindgrad.core.primitives.convolution import conv
from mindgrad.core.transforms.reverse import reverse
from mindgrad.frontend.programs.compiled import trace
from tests.tolerances import assert_close

generator = np.random.default_rng(2)

PLAIN_1D = dict(strides=(1,), padding=((0, 0),), lhs_dilation=(1,), rhs_dilation=(1,), groups=1)
PLAIN_2D = dict(strides=(1, 1), padding=((0, 0),) * 2, lhs_dilation=(1, 1), rhs_dilation=(1, 1), groups=1)


def by_loops(x, w, strides, padding, lhs_dilation, rhs_dilation, groups):
    """The definition, one element after the other (one axis only)."""
    (stride,), ((low, high),), (spread,), (step,) = strides, padding, lhs_dilation, rhs_dilation
    count, channels, length = x.shape
    padded = np.zeros((count, channels, (length - 1) * spread + 1 + low + high))
    padded[:, :, low : low + (length - 1) * spread + 1 : spread] = x
    outputs, per_group, window = w.shape
    size = (padded.shape[2] - (window - 1) * step - 1) // stride + 1
    y = np.zeros((count, outputs, size))
    for n, o, p in itertools.product(range(count), range(outputs), range(size)):
        first = o // (outputs // groups) * per_group
        for c, k in itertools.product(range(per_group), range(window)):
            y[n, o, p] += padded[n, first + c, p * stride + k * step] * w[o, c, k]
    return y


@pytest.mark.parametrize(
    "window",
    [
        PLAIN_1D,
        {**PLAIN_1D, "strides": (2,), "padding": ((2, 1),)},
        {**PLAIN_1D, "lhs_dilation": (3,), "rhs_dilation": (2,), "padding": ((1, 4),)},
        {**PLAIN_1D, "groups": 2, "rhs_dilation": (2,)},
    ],
)
def test_the_definition(window):
    x = generator.normal(size=(2, 4, 6))
    w = generator.normal(size=(6, 4 // window["groups"], 3))
    assert_close(conv.numpy(x, w, **window), by_loops(x, w, **window), kind="program")


def test_gradient_of_gradient_is_jaxs():
    """The gradient of ⟨Jᵀ c, Jᵀ c⟩ of a strided, dilated, grouped convolution, in both executors."""
    window = dict(
        strides=(2, 1), padding=((1, 2), (0, 1)), lhs_dilation=(1, 2), rhs_dilation=(2, 1), groups=2
    )
    x, w = generator.normal(size=(2, 4, 6, 5)), generator.normal(size=(4, 2, 2, 3))

    def reference(x, w):
        return jax.lax.conv_general_dilated(
            x,
            w,
            window["strides"],
            window["padding"],
            lhs_dilation=window["lhs_dilation"],
            rhs_dilation=window["rhs_dilation"],
            feature_group_count=2,
        )

    builder = Builder()
    with building(builder):
        graph = builder.close([conv(*[builder.input(type_of(a)) for a in (x, w)], **window)])
    first = reverse(graph, [0, 1])
    second = reverse(first, [0, 1, 2])
    ct = generator.normal(size=graph.outputs[0].shape)
    arrays = [x, w, ct]
    cts = [generator.normal(size=y.shape) for y in first.outputs]
    with jax.enable_x64(True):

        def pulled(x, w, c):
            value, pull = jax.vjp(reference, x, w)
            return (value, *pull(c))

        wanted = jax.vjp(pulled, *map(jax.numpy.asarray, arrays))[1](tuple(map(jax.numpy.asarray, cts)))
    eager = evaluate(second, [*arrays, *cts])[3:]
    compiled = compile_graph(second)([*arrays, *cts])[3:]
    for a, b, c in zip(eager, compiled, wanted, strict=True):
        assert_close(a, c, kind="program")
        assert_close(np.asarray(b), c, kind="program")
    assert set(second.count()) <= {"conv", "reverse", "reshape", "transpose", "add"}


def test_a_derivative_is_made_of_convolutions():
    builder = Builder()
    with building(builder):
        x = builder.input(type_of(np.ones((2, 3, 8, 8))))
        w = builder.input(type_of(np.ones((4, 3, 3, 3))))
        graph = builder.close([conv(x, w, **PLAIN_2D)])
    assert reverse(graph, [0, 1]).count()["conv"] == 3


@pytest.mark.parametrize(
    ("x", "w", "changed", "error", "message"),
    [
        ((2, 3, 5), (4, 2, 3), {}, ValueError, "3 channels"),
        ((2, 4, 5), (3, 2, 3), {"groups": 2}, ValueError, "multiple of 'groups'"),
        ((2, 3, 5), (4, 3, 3, 3), {}, ValueError, "the same rank"),
        ((2, 3, 5), (4, 3, 3), {"strides": (1, 1)}, ValueError, "'strides' must have 1 entries"),
        ((2, 3, 5), (4, 3, 3), {"rhs_dilation": (0,)}, ValueError, "'rhs_dilation'.*at least 1"),
        ((2, 3, 5), (4, 3, 3), {"padding": ()}, ValueError, "'padding' must have 1 pairs"),
        ((2, 3, 5), (4, 3, 0), {}, ValueError, "must not be empty"),
    ],
)
def test_what_is_wrong_is_said(x, w, changed, error, message):
    builder = Builder()
    with building(builder), pytest.raises(error, match=message):
        conv(
            builder.input(type_of(np.ones(x))),
            builder.input(type_of(np.ones(w))),
            **{**PLAIN_1D, **changed},
        )


def test_operands_of_two_element_types_are_refused():
    builder = Builder()
    with building(builder), pytest.raises(TypeError, match="the same numeric dtype"):
        conv(
            builder.input(type_of(np.ones((1, 1, 3)))),
            builder.input(type_of(np.ones((1, 1, 2), np.float32))),
            **PLAIN_1D,
        )


def test_a_kernel_larger_than_the_input_gives_an_empty_result():
    x, w = np.ones((2, 1, 2)), np.ones((3, 1, 4))
    assert conv.numpy(x, w, **PLAIN_1D).shape == (2, 3, 0)


def test_the_kernel_of_a_transposed_convolution_is_no_larger_than_its_input():
    """XLA exchanges the two where it is, reads the kernel backwards, and does that in plain loops."""

    def value(x, w):
        return ops.square(ops.conv_transpose2d(x, w, stride=2)).sum()

    x, w = Tensor(np.ones((2, 8, 9, 9), np.float32)), Tensor(np.ones((8, 8, 2, 2), np.float32))
    graph = trace(ms.grad(value, (0, 1)), x, w)
    kernels = [equation.inputs[1].shape[:2] for equation in graph.equations if equation.primitive is conv]
    assert sorted(kernels) == [(2, 2), (2, 2), (9, 9)]
    assert lower_ahead(graph).compile().as_text().count("rhs_reversal") == 0


def test_a_residual_block_is_not_computed_again_for_those_behind_it():
    """XLA compiles programs in which each of n blocks computes all before it in a time that grows with n²."""

    def instructions(blocks):
        def value(x, *kernels):
            for kernel in kernels:
                y = ops.conv2d(x, kernel, pad_mode="same")
                x = ops.relu(x + (y - y.mean((0, 2, 3), keep_dims=True)))
            return ops.square(x).sum()

        x = Tensor(np.ones((2, 4, 6, 6), np.float32))
        kernels = [Tensor(np.ones((4, 4, 3, 3), np.float32))] * blocks
        graph = trace(
            lambda x, *kernels: ms.grad(value, tuple(range(1, blocks + 1)))(x, *kernels), x, *kernels
        )
        return lower_ahead(graph).compile().as_text().count(" = ")

    few, some, many = map(instructions, (2, 4, 6))
    assert many - some <= 1.1 * (some - few)


def test_a_convolution_of_each_channel_by_itself_is_pointwise():
    """XLA's kernels for CPUs run it channel by channel; it has none but in the gradient of the kernel."""
    x, w = Tensor(np.ones((2, 8, 9, 9), np.float32)), Tensor(np.ones((8, 1, 3, 3), np.float32))
    network = lambda x, w: ops.square(ops.conv2d(x, w, stride=2, pad_mode="same", groups=8)).sum()
    graph = trace(ms.grad(network), x, w)
    assert sum(equation.primitive is conv for equation in graph.equations) == 2
    assert lower_ahead(graph).as_text().count("stablehlo.convolution") == 0


def test_the_gradient_of_a_convolution_in_strides_meets_no_zeros():
    """With the zeros between the windows written out, this takes 37 GB."""
    image, kernel = generator.normal(size=(1, 3, 224, 224)), generator.normal(size=(256, 3, 16, 16))
    x, w = [ms.Tensor(array, ms.float32) for array in (image, kernel)]
    slope = ms.grad(lambda x: ops.conv2d(x, w, stride=16).sum())(x).asnumpy()
    assert_close(slope[0], np.tile(kernel.sum(0), (1, 14, 14)), kind="long program")


@pytest.mark.parametrize("elements", [1, 100, 1 << 25])
def test_windows_are_written_out_in_blocks(elements, monkeypatch):
    host = convolution_kernel.HOST._replace(window_elements=elements)
    monkeypatch.setattr(convolution_kernel, "HOST", host)
    window = dict(
        strides=(2, 3), padding=((2, -1), (4, 3)), lhs_dilation=(3, 2), rhs_dilation=(2, 3), groups=2
    )
    x, w = generator.normal(size=(2, 4, 5, 6)), generator.normal(size=(6, 2, 3, 2))
    wanted = jax.lax.conv_general_dilated(
        x, w, window["strides"], window["padding"], window["lhs_dilation"], window["rhs_dilation"],
        feature_group_count=2,
    )  # fmt: skip
    assert_close(conv.numpy(x, w, **window), wanted, kind="contraction")
