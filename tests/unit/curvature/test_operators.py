"""Curvature operators against dense matrices."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, curvature, nn, ops
from tests.tolerances import assert_close
from tests.unit.curvature.curvature_programs import PROGRAMS, flat_function


def close(found, expected, dtype):
    assert found.dtype == dtype
    assert_close(found, expected, "ill-conditioned", scale=1.0)


@pytest.fixture(params=PROGRAMS, scope="module")
def name(request):
    return request.param


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_operators_equal_dense_matrices(name, dtype):
    function, weights = PROGRAMS[name](dtype)
    flat, w = flat_function(function, weights, dtype)
    total = lambda w: sum(ops.sin(x).sum() for x in ms.tree_leaves(function(w)))
    exact = ms.hessian(lambda v: ops.sin(flat(v)).sum())(w).asnumpy()
    jacobian = ms.jacobian(flat)(w).asnumpy()
    loss = lambda z: sum((x**4).sum() for x in ms.tree_leaves(z))
    curved = jacobian.T @ (12 * flat(w).asnumpy()[:, None] ** 2 * jacobian)
    for memory in (2**28, 2**8):  # with a stored Jacobian, and without
        matrices = {
            "hessian": (curvature.hessian(total, weights, memory=memory), exact),
            "gauss_newton": (curvature.gauss_newton(function, weights, memory=memory), jacobian.T @ jacobian),
            "loss": (curvature.gauss_newton(function, weights, loss=loss, memory=memory), curved),
            "gram": (curvature.gram(function, weights, memory=memory), jacobian @ jacobian.T),
        }
        for found, expected in matrices.values():
            close(found.to_dense(), expected, dtype)
            close(found.diagonal(), expected.diagonal(), dtype)
            vectors = np.random.default_rng(1).standard_normal((found.shape[0], 3)).astype(dtype)
            close(found @ vectors, expected @ vectors, dtype)
            close(found @ vectors[:, 0], expected @ vectors[:, 0], dtype)
            size = np.abs(expected.diagonal()).sum() + 1.0
            assert_close(found.trace(), expected.trace(), "ill-conditioned", scale=size, dtype=dtype)


def test_operators_of_parameters_equal_operators_of_trees():
    ms.set_seed(0)
    net = nn.SequentialCell(nn.Dense(3, 4), nn.Tanh(), nn.Dense(4, 2))
    x, y = ops.randn((6, 3)), ops.randn((6, 2))
    weights = net.trainable_params()
    loss = lambda: ops.mse_loss(net(x), y)
    tree = {p.name: p.value() for p in weights}
    of_tree = lambda w: ops.mse_loss(ms.functional_call(net, w, x), y)
    expected = curvature.hessian(of_tree, tree).to_dense()
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        try:
            np.testing.assert_array_equal(curvature.hessian(loss, weights).to_dense(), expected)
        finally:
            ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.mark.parametrize("memory", [2**28, 2**8])
def test_operator_keeps_the_values_of_its_creation(memory):
    p = ms.Parameter(Tensor([1.0, 2.0]), name="p")
    x = Tensor([3.0, 4.0])
    G = curvature.gauss_newton(lambda x: p**2 * x, [p], x, memory=memory)
    p.set_data(Tensor([5.0, 6.0]))
    x[0] = 100.0
    np.testing.assert_allclose(G.to_dense(), np.diag([36.0, 256.0]))
    np.testing.assert_allclose(G @ np.ones(2), [36.0, 256.0])


def test_operator_of_a_random_function_is_one_matrix():
    x, w = Tensor(np.ones((20, 4))), Tensor(np.arange(1.0, 5.0))
    G = curvature.gauss_newton(lambda w: ops.dropout(x * w, 0.5), w)
    matrix = G.to_dense()
    np.testing.assert_array_equal(G.to_dense(), matrix)
    np.testing.assert_array_equal(G @ np.eye(4), matrix)
    np.testing.assert_array_equal(G.diagonal(), matrix.diagonal())
    assert "the model has effects" in G.explain()


def test_hessian_accepts_losses_of_samples_and_sums():
    x, w = Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([0.5, -0.5])
    losses = lambda w: ops.exp(x @ w)
    one = curvature.hessian(losses, w).to_dense()
    assert_close(one, curvature.hessian(lambda w: losses(w).sum(), w).to_dense(), "ill-conditioned")


def test_operator_products_are_linear_and_symmetric(name):
    function, weights = PROGRAMS[name](np.float64)
    G = curvature.gauss_newton(function, weights)
    u, v = np.random.default_rng(2).standard_normal((2, G.shape[0]))
    assert_close(G @ (2 * u - v), 2 * (G @ u) - G @ v, "ill-conditioned", scale=1.0)
    assert u @ (G @ v) == pytest.approx(v @ (G @ u))
    product = G @ G.space.tree(v)
    np.testing.assert_array_equal(G.space.vector(product), G @ v)


class TestSystems:
    def operator(self, memory=2**28, rows=6):
        x = Tensor(np.random.default_rng(0).standard_normal((rows, 4)))
        w = {"a": Tensor(np.ones(3)), "b": Tensor(np.float64(2.0).reshape(()))}
        return curvature.gauss_newton(
            lambda w, x: ops.tanh(x[:, :3] @ w["a"] + x[:, 3] * w["b"]), w, x, memory=memory
        )

    @pytest.mark.parametrize("memory", [2**28, 64])
    @pytest.mark.parametrize("rows", [3, 6])
    def test_solve_satisfies_the_damped_system(self, memory, rows):
        G = self.operator(memory, rows)
        b = np.arange(1.0, 5.0)
        x = G.solve(b, damping=0.1)
        assert_close(G @ x + 0.1 * x, b, "ill-conditioned")
        solution = G.solve(G.space.tree(b), damping=0.1)
        np.testing.assert_allclose(G.space.vector(solution), x)

    @pytest.mark.parametrize("memory", [2**28, 64])
    def test_solve_in_the_space_of_outputs_equals_the_dense_solution_with_a_loss(self, memory):
        x = Tensor(np.random.default_rng(0).standard_normal((2, 4)))
        G = curvature.gauss_newton(
            lambda w, x: x @ w, Tensor(np.ones(4)), x, loss=lambda z: (z**4).sum(), memory=memory
        )
        b = np.arange(1.0, 5.0)
        expected = np.linalg.solve(G.to_dense() + 0.5 * np.eye(4), b)
        assert_close(G.solve(b, 0.5), expected, "iteration")

    def test_solve_of_an_indefinite_hessian(self):
        w = Tensor(np.array([1.0, 2.0]))
        for memory in (2**28, 8):
            H = curvature.hessian(lambda w: w[0] * w[1], w, memory=memory)
            assert_close(H.solve(np.array([3.0, 5.0])), [5.0, 3.0], "ill-conditioned")

    @pytest.mark.parametrize("memory", [2**28, 64])
    def test_singular_system_raises_without_damping(self, memory):
        G = curvature.gauss_newton(lambda w: w.sum(), Tensor(np.ones(3)), memory=memory)
        with pytest.raises(np.linalg.LinAlgError, match="Pass damping > 0"):
            G.solve(np.array([1.0, 2.0, 3.0]))
        assert np.isfinite(G.solve(np.array([1.0, 2.0, 3.0]), damping=0.1)).all()

    def test_eigsh_equals_the_eigenvalues_of_the_dense_matrix(self):
        G = self.operator()
        expected = np.linalg.eigvalsh(G.to_dense())
        for k in (1, 2, 4):
            values, vectors = G.eigsh(k)
            assert_close(values, expected[-k:], "ill-conditioned")
            assert_close(G @ vectors, vectors * values, "ill-conditioned")

    def test_trace_estimate_converges(self):
        function, weights = PROGRAMS["plain"](np.float64)
        G = curvature.gauss_newton(function, weights)
        estimates = [G.trace(samples=12, seed=seed) for seed in range(30)]
        assert abs(np.mean(estimates) / G.trace() - 1) < 0.05
        assert G.trace(samples=3 * G.shape[0]) == pytest.approx(G.trace())


class TestDiagonal:
    def test_diagonal_solves_and_estimates(self):
        function, weights = PROGRAMS["plain"](np.float64)
        G = curvature.gauss_newton(function, weights)
        D = curvature.diagonal(G)
        np.testing.assert_array_equal(D.to_dense(), np.diag(G.diagonal()))
        b = np.ones(G.shape[0])
        np.testing.assert_allclose(D.solve(b, 0.5), b / (G.diagonal() + 0.5))
        estimate = curvature.diagonal(G, samples=4000).diagonal()
        assert np.abs(estimate - G.diagonal()).max() < 0.1 * G.diagonal().max()

    def test_diagonal_raises_on_a_zero_entry_without_damping(self):
        w = Tensor([1.0, 0.0])
        D = curvature.diagonal(curvature.hessian(lambda w: (w**3).sum(), w))
        with pytest.raises(np.linalg.LinAlgError, match="damping"):
            D.solve(np.ones(2))

    def test_diagonal_raises_on_a_function(self):
        with pytest.raises(TypeError, match="must be a curvature operator"):
            curvature.diagonal(lambda w: w)


class TestErrors:
    w = Tensor([1.0, 2.0])

    @pytest.mark.parametrize("function", [curvature.hessian, curvature.gauss_newton, curvature.gram])
    def test_unused_weight_raises(self, function):
        with pytest.raises(ValueError, match=r"does not depend on weights\['b'\]"):
            function(lambda w: w["a"].sum(), {"a": self.w, "b": Tensor([1.0])})
        p, q = (ms.Parameter(Tensor([1.0]), name=name) for name in "pq")
        with pytest.raises(ValueError, match="does not depend on the Parameter 'q'"):
            function(lambda: (p * p).sum(), [p, q])

    def test_integer_and_complex_weights_raise(self):
        for weights in (Tensor([1, 2]), Tensor(np.array([1j]))):
            with pytest.raises(TypeError, match="must be real floating-point numbers"):
                curvature.hessian(lambda w: w.sum(), weights)

    def test_complex_outputs_raise(self):
        with pytest.raises(TypeError, match="must be real"):
            curvature.gauss_newton(lambda w: ops.complex(w, w), self.w)

    def test_wrong_structures_raise(self):
        G = curvature.gauss_newton(lambda w: w["a"] * 2.0, {"a": self.w})
        with pytest.raises(TypeError, match="must have the structure of the weights"):
            G @ [self.w]
        with pytest.raises(ValueError, match=r"must have shape \(2,\)"):
            G @ {"a": Tensor([1.0])}
        with pytest.raises(ValueError, match=r"must have shape \(2,\)"):
            G @ np.ones(3)
        with pytest.raises(TypeError, match="must be real"):
            G @ np.array([1j, 2])

    def test_tuple_of_gradients_matches_list_of_weights(self):
        weights = [ms.Parameter(self.w, name="a"), ms.Parameter(self.w, name="b")]
        G = curvature.gauss_newton(lambda: ops.concat((2.0 * weights[0], 4.0 * weights[1])), weights)
        gradient = (4.0 * self.w, 16.0 * self.w)
        for step in (G.solve(gradient), G.solve(list(gradient))):
            assert_close(np.stack([x.asnumpy() for x in step]), np.stack([self.w.asnumpy()] * 2))
        with pytest.raises(TypeError, match="the weights; changed from a tuple of 1"):
            G @ gradient[:1]

    def test_wrong_options_raise(self):
        G = curvature.gauss_newton(lambda w: w, self.w)
        for damping in (-1.0, np.nan, np.inf):
            with pytest.raises(ValueError, match="'damping' must be finite"):
                G.solve(np.ones(2), damping)
        with pytest.raises(ValueError, match="'k' of eigsh"):
            G.eigsh(3)
        with pytest.raises(ValueError, match="at least 3"):
            G.trace(samples=2)
        with pytest.raises(ValueError, match="'memory' must be a positive"):
            curvature.hessian(lambda w: w.sum(), self.w, memory=0)
        with pytest.raises(ValueError, match="'loss' is None"):
            curvature.gauss_newton(lambda w: w, self.w, targets=self.w)
        with pytest.raises(TypeError, match="'loss' must be a function"):
            curvature.gauss_newton(lambda w: w, self.w, loss=3)


def test_explain_reports_costs_and_solver():
    x = Tensor(np.ones((5, 2)))
    text = curvature.gauss_newton(lambda w, x: x @ w, Tensor(np.ones(2)), x).explain()
    assert "positive semidefinite matrix of 2 x 2, float64" in text
    assert "outputs: 5 elements" in text
    assert "estimated cost" in text
    assert "solve: a Cholesky factorization" in text


def test_operators_of_new_lambdas_are_compiled_at_most_twice():
    x, w = Tensor([[1.0, 2.0]]), Tensor([0.5, 0.5])

    def diagonal(data):
        return curvature.gauss_newton(lambda w: x @ w - data, w, loss=lambda z: ops.sin(z)).diagonal()

    misses = []
    for step in range(4):
        assert_close(diagonal(Tensor([float(step)])), -np.sin(1.5 - step) * np.array([1.0, 4.0]), "program")
        misses.append(ms.cache_info().misses)
    assert misses[1] == misses[3]
