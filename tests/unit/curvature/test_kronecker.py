"""Kronecker-factored curvature: factors, blocks, solutions, and explanations."""

from itertools import pairwise

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import nn, ops
from mindgrad.curvature import gauss_newton
from mindgrad.curvature.kronecker import ekfac, kfac
from mindgrad.curvature.kronecker_blocks import DiagonalBlock, KroneckerBlock, nearest_product
from tests.tolerances import assert_close
from tests.unit.curvature.structured_networks import NETWORKS, in_float64, mlp, tensor


def blocks_of(matrix, operator):
    ends = np.cumsum([0, *operator.space.sizes])
    return [matrix[a:b, a:b] for a, b in pairwise(ends)]


def exact_blocks(function, weights, *args, **options):
    operator = gauss_newton(function, weights, *args, **options)
    return blocks_of(operator.to_dense(), operator)


def nearest_by_svd(block, p, q):
    """Return the nearest Kronecker product, by the SVD of a rearrangement."""
    rearranged = block.reshape(p, q, p, q).transpose(0, 2, 1, 3).reshape(p * p, q * q)
    u, s, v = np.linalg.svd(rearranged)
    return s[0] * np.kron(u[:, 0].reshape(p, p), v[0].reshape(q, q))


# --- definition ------------------------------------------------------------------------------------


def mlp_by_hand(net, x):
    """Return layer inputs and the cotangents of layer outputs."""
    (w1, b1), (w2, b2) = [[p.asnumpy() for p in (layer.weight, layer.bias)] for layer in (net[0], net[2])]
    h = np.tanh(x @ w1.T + b1)
    y = h @ w2.T + b2
    of_last = np.broadcast_to(np.eye(len(w2))[:, None], (len(w2), len(x), len(w2)))
    return (x, h), [(of_last @ w2) * (1 - h**2), of_last], y


def softmax_hessians(y):
    p = np.exp(y) / np.exp(y).sum(1, keepdims=True)
    return p[:, :, None] * np.eye(y.shape[1]) - p[:, :, None] * p[:, None, :], p


@pytest.mark.parametrize("loss", ["squares", "cross entropy"])
def test_kfac_block_of_a_layer_is_the_product_of_input_and_gradient_covariances(loss):
    net, x = mlp(3, 4, 2), tensor(6, 3)
    inputs, cotangents, y = mlp_by_hand(net, x.asnumpy())
    hessians = np.broadcast_to(np.eye(2), (6, 2, 2))
    options = {}
    if loss == "cross entropy":
        targets = ms.Tensor(np.arange(6) % 2, ms.int32)
        hessians, _ = softmax_hessians(y)
        options = {"loss": nn.CrossEntropyLoss(reduction="sum"), "targets": targets}
    operator = kfac(net, [net[0].weight, net[2].weight], x, dense_size=0, **options)
    for block, a, g in zip(blocks_of(operator.to_dense(), operator), inputs, cotangents, strict=True):
        left = np.einsum("cni,ncd,dnj->ij", g, hessians, g)
        assert_close(block, np.kron(left, a.T @ a) / 6, "law")


def test_empirical_kfac_uses_the_gradients_of_the_loss():
    net, x = mlp(3, 4, 2), tensor(6, 3)
    targets = ms.Tensor(np.arange(6) % 2, ms.int32)
    inputs, cotangents, y = mlp_by_hand(net, x.asnumpy())
    residual = softmax_hessians(y)[1] - np.eye(2)[targets.asnumpy()]
    operator = kfac(
        net, [net[0].weight, net[2].weight], x, loss=nn.CrossEntropyLoss(reduction="sum"), targets=targets,
        kind="empirical", dense_size=0,
    )  # fmt: skip
    for block, a, g in zip(blocks_of(operator.to_dense(), operator), inputs, cotangents, strict=True):
        gradient = np.einsum("cni,nc->ni", g, residual)
        assert_close(block, np.kron(gradient.T @ gradient, a.T @ a) / 6, "law")


def test_monte_carlo_kfac_approaches_the_exact_blocks():
    net, x = mlp(3, 4, 2), tensor(6, 3)
    loss = nn.CrossEntropyLoss(reduction="sum")
    options = {"loss": loss, "targets": ms.Tensor(np.arange(6) % 2, ms.int32)}
    exact = kfac(net, net.trainable_params(), x, **options).to_dense()
    sampled = kfac(net, net.trainable_params(), x, kind="monte_carlo", samples=400, **options)
    assert np.linalg.norm(sampled.to_dense() - exact) < 0.1 * np.linalg.norm(exact)
    again = kfac(net, net.trainable_params(), x, kind="monte_carlo", samples=400, seed=1, **options)
    assert (again.to_dense() != sampled.to_dense()).any()


def test_kfac_of_a_convolution_matches_patches_by_hand():
    net, x = in_float64(nn.Conv2d(2, 3, 2, pad_mode="valid", has_bias=False)), tensor(4, 2, 3, 3)
    image = x.asnumpy()
    patches = np.stack(
        [image[:, :, i : i + 2, j : j + 2].reshape(4, 8) for i in range(2) for j in range(2)], axis=1
    )  # (samples, positions, channels · window)
    weights = np.random.default_rng(0).standard_normal((3, 4))

    def outputs(x):
        return (net(x).reshape(4, 3, 4) * ms.Tensor(weights)).sum((1, 2))

    operator = kfac(outputs, [net.weight], x, dense_size=0)
    right = np.einsum("npi,npj->ij", patches, patches)
    left = 4 * weights @ weights.T
    assert_close(operator.to_dense(), np.kron(left, right) / 16, "law")
    reduced = kfac(outputs, [net.weight], x, dense_size=0, sharing="reduce")
    mean, total = patches.mean(1), weights.sum(1)
    expected = np.kron(4 * np.outer(total, total), mean.T @ mean) / 4
    assert_close(reduced.to_dense(), expected, "law")


def test_kfac_of_a_pde_residual_matches_the_equations_of_the_derivatives():
    """The value z = w x and its derivative z' = w d contract the same weight."""
    w, v, x, d = tensor(4, 2), tensor(4, seed=1), tensor(6, 2), tensor(6, 2, seed=1)

    def residual(w, x, d):
        z, dz = x @ w.T, d @ w.T
        s = ops.tanh(z)
        return (-2 * s * (1 - s * s) * dz * dz) @ v

    def by_jvp(w, x, d):
        def derivative(x):
            return ms.jvp(lambda x: ops.tanh(x @ w.T) @ v, (x,), (d,))[1]

        return ms.jvp(derivative, (x,), (d,))[1]

    directions = [x.asnumpy(), d.asnumpy()]
    z, dz = [a @ w.asnumpy().T for a in directions]
    s = np.tanh(z)
    second, third = -2 * s * (1 - s**2), (1 - s**2) * (6 * s**2 - 2)
    cotangents = [v.asnumpy() * third * dz**2, 2 * v.asnumpy() * second * dz]
    lefts, rights = [(g.T @ g)[None] / 6 for g in cotangents], [(a.T @ a)[None] for a in directions]
    left, right = nearest_product(lefts, rights)
    operator = kfac(residual, w, x, d, dense_size=0)
    assert isinstance(operator.blocks[0], KroneckerBlock)
    assert_close(operator.to_dense(), np.kron(left[0], right[0]), "law")
    rows = sum([np.einsum("np,nq->npq", g, a) for g, a in zip(cotangents, directions, strict=True)]).reshape(
        6, 8
    )
    nearest = kfac(by_jvp, w, x, d, dense_size=0, sharing="nearest")
    assert_close(nearest.to_dense(), nearest_by_svd(rows.T @ rows, 4, 2), "iteration")
    assert_close(ekfac(by_jvp, w, x, d, dense_size=0).trace(), (rows**2).sum(), "law")


def laplacian_by_gradients(net):
    """Return the Laplacian of a network as nested gradients, one direction after the other."""
    gradient = ms.grad(lambda x: net(x).sum())
    return lambda x: sum(ms.grad(lambda x, k=k: gradient(x)[:, k].sum())(x)[:, k] for k in range(x.shape[1]))


@pytest.mark.parametrize("count", [6, 300])
@pytest.mark.parametrize("sizes", [(2, 7, 1), (2, 7, 6, 1), (3, 6, 5, 4, 1)])
def test_kfac_of_a_laplacian_does_not_depend_on_how_it_is_computed(sizes, count):
    """The transform multiplies weights by each other first if there are many rows."""
    net, x = mlp(*sizes), tensor(count, sizes[0])
    matrices = [w for w in net.trainable_params() if w.ndim == 2]
    got = kfac(ms.laplacian(net), matrices, x, dense_size=0, sharing="nearest")
    assert all(isinstance(block, KroneckerBlock) for block in got.blocks), got.explain()
    want = kfac(laplacian_by_gradients(net), matrices, x, dense_size=0, sharing="nearest")
    assert_close(got.to_dense(), want.to_dense(), "iteration")
    exact = exact_blocks(ms.laplacian(net), matrices, x)
    corrected = ekfac(ms.laplacian(net), matrices, x, dense_size=0)
    assert_close(corrected.trace(), sum(map(np.trace, exact)), "law")


@pytest.mark.parametrize("count", [6, 300])
def test_first_weight_of_a_laplacian_meets_points_and_directions(count):
    """Δu[n] = Σ_i v_i tanh″(z[n]_i) Σ_d w_id²: the factors of w are those of z = W x and of W e_d."""
    net, x = mlp(2, 7, 1), tensor(count, 2)
    operator = kfac(lambda x: ms.laplacian(net)(x), [net[0].weight], x, dense_size=0)
    w, b, v = [p.asnumpy() for p in (net[0].weight, net[0].bias, net[2].weight[0])]
    s = np.tanh(x.asnumpy() @ w.T + b)
    second, third = -2 * s * (1 - s**2), (1 - s**2) * (6 * s**2 - 2)
    of_points = v * third * (w**2).sum(1)
    of_directions = (2 * v * second)[:, None] * w.T  # (points, directions, units)
    lefts = [of_points.T @ of_points / count, np.einsum("ndi,ndj->ij", *[of_directions] * 2) / (2 * count)]
    rights = [x.asnumpy().T @ x.asnumpy(), count * np.eye(2)]
    left, right = nearest_product([a[None] for a in lefts], [a[None] for a in rights])
    assert_close(operator.to_dense(), np.kron(left[0], right[0]), "law")
    assert "7 x 7 ⊗ 2 x 2\n    dot at " in operator.explain()
    assert "test_kronecker.py:" in operator.explain()


def test_scaled_weight_keeps_its_kronecker_structure():
    """x (diag(s) W) = (x · s) W, also if the program computes diag(s) W first."""
    w, s, x = tensor(3, 2), tensor(3, seed=1), tensor(5, 3, seed=2)
    operator = kfac(lambda p, x: x @ (p[0] * p[1].reshape(3, 1)), (w, s), x, dense_size=0)
    scaled = x.asnumpy() * s.asnumpy()
    assert_close(blocks_of(operator.to_dense(), operator)[0], np.kron(scaled.T @ scaled, np.eye(2)), "law")


def test_kfac_of_a_transposed_weight_exchanges_the_factors():
    w, x, z = tensor(3, 2), tensor(5, 2, seed=1), tensor(5, 3, seed=2)
    by_rows = kfac(lambda w, x: (x @ w.T).sum(1), w, x, dense_size=0).to_dense()
    by_columns = kfac(lambda w, z: (z @ w).sum(1), w, z, dense_size=0).to_dense()
    assert_close(by_rows, np.kron(np.ones((3, 3)), x.asnumpy().T @ x.asnumpy()), "law")
    assert_close(by_columns, np.kron(z.asnumpy().T @ z.asnumpy(), np.ones((2, 2))), "law")


def test_kfac_of_a_recurrent_weight_sums_over_all_steps():
    net, function, x = NETWORKS["scan"]()
    _, unrolled, _ = NETWORKS["unrolled"]()
    got = kfac(function, [net.W, net.U], x, dense_size=0, sharing="nearest").to_dense()
    want = kfac(unrolled, [unrolled.W, unrolled.U], x, dense_size=0, sharing="nearest").to_dense()
    assert_close(got, want, "law")
    h, w, u = np.zeros((5, 4)), net.W.asnumpy(), net.U.asnumpy()
    states = []
    for step in x.asnumpy().swapaxes(0, 1):
        states.append(h)
        h = np.tanh(h @ w.T + step @ u)
    block = kfac(function, [net.W], x, dense_size=0).blocks[0]
    assert_close(block.right[0], sum([h.T @ h for h in states]), "law")


# --- exact cases -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "x"),
    [
        (lambda: in_float64(nn.Dense(3, 2, has_bias=False)), tensor(7, 3)),
        (lambda: in_float64(nn.SequentialCell(nn.Dense(3, 4), nn.Dense(4, 2))), tensor(1, 3)),
        (lambda: mlp(3, 4, 2), tensor(1, 3)),
        (lambda: in_float64(nn.SequentialCell(nn.Dense(3, 4), nn.Dense(4, 2))), tensor(6, 3)),
    ],
    ids=["one layer", "linear, one sample", "mlp, one sample", "linear, several samples"],
)
@pytest.mark.parametrize("function", [kfac, ekfac])
def test_kfac_is_exact_for_linear_layers_and_single_samples(make, x, function):
    net = make()
    weights = [p for p in net.trainable_params() if p.ndim == 2]
    operator = function(net, weights, x, dense_size=0)
    assert all(isinstance(block, KroneckerBlock) for block in operator.blocks)
    exact = exact_blocks(net, weights, x)
    for got, want in zip(blocks_of(operator.to_dense(), operator), exact, strict=True):
        assert_close(got, want, "law")


@pytest.mark.parametrize("name", NETWORKS)
def test_ekfac_has_exact_second_moments_in_its_basis(name):
    net, function, x = NETWORKS[name]()
    weights = list(net.trainable_params())
    operator = ekfac(function, weights, x, dense_size=3)
    for block, exact in zip(operator.blocks, exact_blocks(function, weights, x), strict=True):
        rotated = block.to_basis(block.to_basis(exact).T)
        assert_close(block.spectrum, np.diagonal(rotated), "law")


@pytest.mark.parametrize("name", NETWORKS)
def test_nearest_kfac_matches_the_svd_of_the_exact_block(name):
    net, function, x = NETWORKS[name]()
    weights = list(net.trainable_params())
    operator = kfac(function, weights, x, dense_size=3, sharing="nearest")
    dense = blocks_of(operator.to_dense(), operator)
    for block, got, exact in zip(operator.blocks, dense, exact_blocks(function, weights, x), strict=True):
        if not isinstance(block, KroneckerBlock):
            want = np.diag(np.diag(exact)) if isinstance(block, DiagonalBlock) else exact
        elif block.shape[0] == 1 and [side for side, _ in block.sides] in (["left", "right"], ["left"]):
            want = nearest_by_svd(exact, *block.shape[1:])
        else:
            continue
        assert_close(got, want, "iteration")


@pytest.mark.parametrize("name", NETWORKS)
def test_matrices_have_kronecker_blocks_in_all_networks(name):
    net, function, x = NETWORKS[name]()
    matrices = [w for w in net.trainable_params() if w.ndim >= 2]
    operator = kfac(function, matrices, x, dense_size=0)
    kinds = [type(block) for block in operator.blocks]
    assert kinds == [KroneckerBlock] * len(matrices), operator.explain()


def test_exact_blocks_replace_kronecker_products_of_small_weights():
    net, x = mlp(2, 5, 1), tensor(6, 2)
    weights = list(net.trainable_params())
    operator = kfac(net, weights, x)
    exact = exact_blocks(net, weights, x)
    for k in (1, 2, 3):  # the second matrix has one row
        assert_close(operator.blocks[k].matrix, exact[k], "law")


@pytest.mark.parametrize("count", [6, 300])
def test_exact_block_replaces_sum_of_kronecker_products_with_a_narrow_factor(count):
    net, x = mlp(2, 9, 9, 1), tensor(count, 2)
    matrices = [net[0].weight, net[2].weight]
    operator = kfac(ms.laplacian(net), matrices, x)
    exact = exact_blocks(ms.laplacian(net), matrices, x)
    assert_close(operator.blocks[0].matrix, exact[0], "law")
    assert "sum of several Kronecker products" in operator.explain()
    assert isinstance(operator.blocks[1], KroneckerBlock)


def test_kfac_of_several_outputs_sums_their_blocks():
    net, x, z = mlp(2, 5, 1), tensor(6, 2), tensor(4, 2, seed=1)
    weights = list(net.trainable_params())
    operator = kfac(
        lambda x, z: (ms.laplacian(net)(x), net(z)), weights, x, z, sharing="nearest", dense_size=0
    )
    exact = exact_blocks(lambda x, z: (ms.laplacian(net)(x), net(z)), weights, x, z)
    got = blocks_of(operator.to_dense(), operator)
    assert_close(got[0], nearest_by_svd(exact[0], 5, 2), "iteration")


# --- nearest product -------------------------------------------------------------------------------


def covariances(seed, size):
    factor = np.random.default_rng(seed).standard_normal((size, size))
    return (factor @ factor.T)[None]


def test_nearest_product_matches_the_svd_of_the_sum():
    lefts, rights = [covariances(k, 3) for k in range(4)], [covariances(k + 9, 2) for k in range(4)]
    left, right = nearest_product(lefts, rights)
    total = sum([np.kron(a[0], b[0]) for a, b in zip(lefts, rights, strict=True)])
    assert_close(np.kron(left[0], right[0]), nearest_by_svd(total, 3, 2), "law")


def test_nearest_product_does_not_depend_on_the_scale_of_the_factors():
    lefts, rights = [covariances(k, 3) for k in range(3)], [covariances(k + 9, 2) for k in range(3)]
    scales = (1.0, 1e6, 1e-6)
    plain = nearest_product(lefts, rights)
    scaled = nearest_product(
        [a * c for a, c in zip(lefts, scales, strict=True)],
        [b / c for b, c in zip(rights, scales, strict=True)],
    )
    assert_close(np.kron(*[x[0] for x in scaled]), np.kron(*[x[0] for x in plain]), "law")


def test_nearest_product_of_zero_terms_is_zero():
    left, right = nearest_product([np.zeros((1, 2, 2))] * 2, [np.zeros((1, 3, 3))] * 2)
    assert not left.any()
    assert not right.any()


# --- operator --------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [kfac, ekfac])
@pytest.mark.parametrize("name", ["mlp", "convolutional", "ensemble", "attention"])
def test_block_operator_methods_match_dense_linear_algebra(function, name):
    net, outputs, x = NETWORKS[name]()
    operator = function(outputs, net.trainable_params(), x, dense_size=8)
    dense = operator.to_dense()
    damped = dense + 0.1 * np.eye(len(dense))
    vector = np.random.default_rng(0).standard_normal(len(dense))
    assert_close(dense, dense.T, "law")
    assert_close(operator @ vector, dense @ vector, "law")
    assert_close(operator.solve(vector, damping=0.1), np.linalg.solve(damped, vector), "law")
    assert_close(operator.diagonal(), np.diag(dense), "law")
    assert_close(operator.trace(), np.trace(dense), "law")
    assert_close(operator.log_determinant(0.1), np.linalg.slogdet(damped)[1], "law")
    twice = operator.inverse_root(operator.inverse_root(vector, 0.1), 0.1)
    assert_close(twice, operator.solve(vector, damping=0.1), "law")


def test_factored_damping_adds_to_both_factors():
    w, x = tensor(3, 2), tensor(5, 3, seed=1)
    operator = kfac(lambda w, x: ops.tanh(x @ w), w, x, dense_size=0)
    (block,) = operator.blocks
    left, right = block.left[0], block.right[0]
    ratio = np.sqrt((np.trace(left) / len(left)) / (np.trace(right) / len(right)))
    damped = np.kron(left + ratio * 0.3 * np.eye(3), right + 0.3 / ratio * np.eye(2))
    b = np.arange(6.0)
    assert_close(operator.solve(b, damping=0.09, factored=True), np.linalg.solve(damped, b), "law")


def test_block_operator_accepts_the_structure_of_the_weights():
    weights = {"w": tensor(3, 2), "b": tensor(2)}
    x = tensor(5, 3)
    operator = kfac(lambda p, x: x @ p["w"] + p["b"], weights, x)
    flat = operator.space.vector(weights)
    solution = operator.solve(weights, damping=0.5)
    assert_close(operator.space.vector(solution), operator.solve(flat, damping=0.5), "law")
    assert solution["w"].shape == (3, 2)


def test_kfac_follows_new_values_without_a_new_compilation():
    net, x = mlp(3, 4, 2), tensor(6, 3)
    first = kfac(net, net.trainable_params(), x).to_dense()
    net[0].weight.set_data(net[0].weight * 2)
    second = kfac(net, net.trainable_params(), x)
    assert (second.to_dense() != first).any()
    assert "⊗" in second.explain()
    assert_close(second.to_dense(), kfac(net, net.trainable_params(), x).to_dense(), "law")


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_kfac_is_equal_in_both_modes(mode):
    net, x = mlp(3, 4, 2), tensor(6, 3)
    expected = kfac(net, net.trainable_params(), x).to_dense()
    ms.set_context(mode=mode)
    assert_close(kfac(net, net.trainable_params(), x).to_dense(), expected, "law")


def test_kfac_of_float32_weights_is_float32():
    net = nn.Dense(3, 2)
    operator = ekfac(net, net.trainable_params(), tensor(5, 3).astype(ms.float32), dense_size=0)
    assert operator.dtype == np.float32
    assert operator.solve(np.ones(8, np.float32), damping=0.1).dtype == np.float32


# --- explanations and errors -----------------------------------------------------------------------


def test_explain_names_blocks_equations_and_reasons():
    w, scale = ms.Parameter(tensor(3, 2), name="w"), ms.Parameter(tensor(30, seed=1), name="scale")
    table = ms.Parameter(tensor(3, 30, seed=2), name="table")

    def outputs(x):
        return ops.tanh(x @ w).sum(1) + (x @ (table * table) * scale).sum(1)

    text = kfac(outputs, [w, scale, table], tensor(5, 3), dense_size=40).explain()
    lines = text.splitlines()
    assert any(line.startswith("w (3, 2): 3 x 3 ⊗ 2 x 2") for line in lines)
    assert any(line.startswith("scale (30,): dense, 30 elements") for line in lines)
    assert any(line.startswith("table (3, 30): diagonal, 90 elements") for line in lines)
    assert "test_kronecker.py:" in text


def test_kfac_falls_back_if_rows_mix():
    net = in_float64(nn.SequentialCell(nn.Dense(3, 4), nn.BatchNorm1d(4), nn.Dense(4, 1)))
    net.set_train()
    x = tensor(6, 3)
    operator = kfac(net, net.trainable_params(), x)
    for got, want in zip(operator.blocks, exact_blocks(net, net.trainable_params(), x), strict=True):
        assert_close(got.matrix, want, "law", scale=1.0)
    assert "⊗" not in operator.explain().splitlines()[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "fisher"}, "'kind' must be one of 'exact', 'monte_carlo', 'empirical'"),
        ({"sharing": "sum"}, "'sharing' must be one of"),
        ({"kind": "empirical"}, "needs the gradients of a loss"),
        ({"targets": tensor(6)}, "'loss' is None"),
        ({"kind": "monte_carlo", "samples": 0}, "'samples' must be a positive integer"),
    ],
)
def test_kfac_raises_for_wrong_options(options, message):
    net = mlp(3, 1)
    with pytest.raises(ValueError, match=message):
        kfac(net, net.trainable_params(), tensor(6, 3), **options)


def test_kfac_raises_for_several_outputs_with_a_loss():
    net = mlp(3, 1)
    with pytest.raises(ValueError, match="one Tensor if a loss is given"):
        kfac(lambda x: (net(x), net(x)), net.trainable_params(), tensor(6, 3), loss=lambda y: y)


def test_solve_raises_for_a_singular_matrix_without_damping():
    operator = kfac(lambda w, x: x @ w, tensor(3, 2), tensor(1, 3), dense_size=0)
    with pytest.raises(np.linalg.LinAlgError, match="damping > 0"):
        operator.solve(np.ones(6))
    with pytest.raises(ValueError, match="damping"):
        operator.solve(np.ones(6), damping=-1.0)
