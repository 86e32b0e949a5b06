"""``check_grad``: right derivatives pass, planted mistakes are found, and corners are named."""

import sys

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from mindgrad.cli import main
from mindgrad.inspect.finite_difference import complex_step, differences
from tests.process_state import process_stays
from tests.tolerances import assert_close


@pytest.fixture(autouse=True)
def process():
    """Commands make `import mindspore` mean this package: not for the tests behind these."""
    with process_stays():
        yield


def real(*values, dtype=np.float32):
    return Tensor(np.array(values, dtype))


class Planted(nn.Cell):
    """x² with a reverse mode that a factor makes wrong."""

    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def construct(self, x):
        return x * x

    def bprop(self, x, out, dout):
        return (dout * x * self.factor,)


def verdicts(checked):
    return {row.verdict for row in checked.rows}


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_right_derivatives_pass_in_both_modes_and_orders(mode, dtype):
    ms.set_context(mode=mode)

    def f(x, y):
        return (ops.sin(x) * y).sum() + ops.exp(x[0] * y[1])

    checked = ms.check_grad(f, (real(0.5, 2.0, dtype=dtype), real(1.5, -1.0, dtype=dtype)), order=2)
    assert checked.ok
    assert checked
    assert verdicts(checked) == {"ok"}
    assert [(row.argument, row.order, row.mode) for row in checked.rows] == [
        (name, order, mode) for order in (1, 2) for name in "xy" for mode in ("forward", "reverse")
    ]
    if dtype is np.float64:
        assert max(row.error for row in checked.rows if row.order == 1) < 1e-12


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize("factor", [1.0, -2.0, 2.02])
def test_a_planted_bprop_is_found(mode, factor):
    ms.set_context(mode=mode)
    checked = ms.check_grad(Planted(factor), real(1.0, 3.0), modes=("reverse",))
    (row,) = checked.rows
    assert not checked.ok
    assert row.verdict == "wrong"
    assert row.index == "[1] of result[1]"
    assert_close(row.derivative, 3 * factor, dtype=np.float32)
    assert_close(row.difference, 6, kind="iteration")
    assert_close(row.error, abs(3 * factor - 6), kind="difference", order=1)
    with pytest.raises(AssertionError, match="DERIVATIVES DO NOT MATCH"):
        ms.check_grad(Planted(factor), real(1.0), raise_exception=True)
    assert ms.check_grad(Planted(2.0), real(1.0, 3.0)).ok


def test_a_mistake_of_second_order_only_is_found():
    @ms.jit
    def f(x):
        """−x² / 2, of which the gradient is a constant to the second derivative."""
        return 0.5 * (ops.stop_gradient(x) ** 2 - x * ops.stop_gradient(2 * x)).sum()

    class Slope(nn.Cell):
        """x² / 2 with the right gradient, of which the derivative is missing."""

        def construct(self, x):
            return x * x / 2

        def bprop(self, x, out, dout):
            return (dout * ops.stop_gradient(x),)

    for function in (f, Slope()):
        checked = ms.check_grad(function, real(1.5), order=2)
        assert {row.verdict for row in checked.rows if row.order == 1} == {"ok"}
        assert {row.verdict for row in checked.rows if row.order == 2} == {"wrong"}


@pytest.mark.parametrize("function", [ops.relu, ops.abs])
def test_check_grad_at_nondifferentiable_points_is_ok_and_names_them(function):
    checked = ms.check_grad(function, real(0.0, 2.0))
    assert checked.ok
    assert verdicts(checked) == {"nondifferentiable"}
    low = 0 if function is ops.relu else -1
    assert f"(at [0] of result[0], the one-sided slopes are {low} and 1)" in str(checked)
    assert "match finite differences, except at nondifferentiable points (" in str(checked)
    assert verdicts(ms.check_grad(function, real(1e-3, -2e-3))) == {"ok"}


def test_a_derivative_outside_of_the_slopes_of_a_corner_is_wrong():
    class Corner(nn.Cell):
        def construct(self, x):
            return ops.relu(x)

        def bprop(self, x, out, dout):
            return (dout * 1.5,)

    assert verdicts(ms.check_grad(Corner(), real(0.0))) == {"wrong"}


def test_the_edge_of_the_domain_is_named():
    checked = ms.check_grad(ops.sqrt, real(0.0, 4.0))
    assert checked.ok
    assert "boundary of the domain" in str(checked)


def test_a_function_in_float32_only():
    def f(x):
        return ops.tanh(x.astype(ms.float32)) * 3

    checked = ms.check_grad(f, real(0.3, -0.7), order=2)
    assert checked.ok
    assert checked.precision == "Float32"
    assert not ms.check_grad(lambda x: ops.stop_gradient(f(x)) + x, real(0.3)).ok


def test_the_complex_step_is_believed_where_the_function_is_analytic():
    by = {row.by for row in ms.check_grad(lambda x: ops.sin(x) * x, real(0.5), order=1).rows}
    assert by == {"complex step"}
    assert {row.by for row in ms.check_grad(lambda x: ops.abs(x) * x, real(0.5)).rows} == {
        "central difference"
    }


def test_containers_floats_and_constants_are_arguments():
    def f(values, n, name, scale):
        return values["a"] * n * scale if name == "up" else values["b"][0]

    values = {"a": real(1.0, 2.0), "b": [real(3.0)]}
    checked = ms.check_grad(f, (values, Tensor([2, 3]), "up", 1.5))
    assert checked.ok
    names = [row.argument for row in checked.rows]
    assert names == ["values['a']"] * 2 + ["values['b'][0]"] * 2 + ["scale"] * 2 + ["n", "name"]
    assert [row.verdict for row in checked.rows[-2:]] == ["constant", "constant"]


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_parameters_are_checked_and_keep_their_values(mode):
    ms.set_context(mode=mode)
    net = nn.Dense(3, 2)
    before = net.weight.asnumpy().copy()
    checked = ms.check_grad(net, ops.ones((2, 3)), order=2)
    assert checked.ok
    assert {row.argument for row in checked.rows} == {"x", "weight", "bias"}
    assert net.weight.dtype is ms.float32
    assert (net.weight.asnumpy() == before).all()
    w = Parameter(real(2.0), name="w")
    rows = ms.check_grad(lambda x: x * w * w, real(3.0), weights=[w]).rows
    assert [(row.argument, row.difference) for row in rows[2:]] == [("w", pytest.approx(12.0))] * 2


def test_statistics_of_training_are_as_before():
    net = nn.BatchNorm1d(2)
    net.set_train()
    before = net.moving_mean.asnumpy().copy()
    assert ms.check_grad(net, real([1.0, 2.0], [3.0, 5.0], [2.0, 2.5])).ok
    assert (net.moving_mean.asnumpy() == before).all()


def test_large_arguments_are_checked_along_random_directions():
    x = Tensor(np.linspace(-1, 1, 200).astype(np.float32))
    checked = ms.check_grad(ops.sin, x, directions=3)
    assert checked.ok
    assert [row.checked for row in checked.rows] == [
        "3 random directions of 200 entries",
        "3 random directions of 200 entries, 3 random sums of 200 results",
    ]
    assert not ms.check_grad(Planted(2.1), x, directions=3).ok


def test_several_results_of_which_one_is_an_integer():
    def f(x):
        return ops.sin(x), x.argmax(), (x * x).sum()

    checked = ms.check_grad(f, real(0.5, 2.0))
    assert checked.ok
    assert "result 0" in "".join(row.index for row in checked.rows)


def test_what_cannot_be_checked_is_refused():
    dropout = nn.Dropout(p=0.5)
    dropout.set_train()
    for fn, args, error, text in [
        (3, real(1.0), TypeError, "first argument"),
        (ops.sin, Tensor([1, 2]), ValueError, "nothing can be differentiated"),
        (ops.log, real(0.0), ValueError, "finite"),
        (dropout, ops.ones((4, 4)), ValueError, "the same results"),
        (lambda x: x.argmax(), real(1.0, 2.0), TypeError, "floating-point"),
        (lambda x: ops.Complex()(x, x), real(1.0), TypeError, "real"),
    ]:
        with pytest.raises(error, match=text):
            ms.check_grad(fn, args)
    for option in ({"order": 3}, {"modes": "forward"}, {"modes": ("sideways",)}, {"tolerance": 0.0}):
        with pytest.raises(ValueError, match="check_grad"):
            ms.check_grad(ops.sin, real(1.0), **option)
    with pytest.raises(ValueError, match="directions"):
        ms.check_grad(ops.sin, real(1.0), directions=0)


def test_differences_of_known_functions():
    def f(h):
        return np.array([np.exp(1 + h), np.floor(1000 * (1.2345 + h)) / 1000, abs(h), (2 + h) ** 3, 7.0])

    actual = differences(f, f(0.0), 1.0, 2.0**-52)
    expected = np.array([np.e, 0.0, 0.0, 12.0, 0.0])
    assert np.abs(actual.slope - expected).max() < 1e-8
    assert (np.abs(actual.slope - expected) <= actual.uncertainty + 1e-12).all()
    assert actual.is_nondifferentiable.tolist() == [False, False, True, False, False]
    assert_close(complex_step(lambda h: np.sin(np.array([1.0 + h])), 1.0)[0], np.cos(1.0))


def test_the_error_over_the_step_is_drawn(tmp_path):
    pytest.importorskip("matplotlib", reason="an optional package")
    checked = ms.check_grad(lambda x: ops.sin(x) * x, real(0.5), order=2)
    checked.plot(tmp_path / "errors.svg")
    text = (tmp_path / "errors.svg").read_text()
    assert "<svg" in text
    row = checked.rows[0]
    assert len(row.steps) == len(row.errors) > 5
    with pytest.raises(ValueError, match="should end in"):
        checked.plot("errors.bmp")


def test_errors_that_are_exactly_zero_are_drawn_too(tmp_path):
    pytest.importorskip("matplotlib", reason="an optional package")
    checked = ms.check_grad(lambda x: (x * x).sum(), Tensor([1.0, 2.0]))
    assert not checked.rows[0].errors.any()
    checked.plot(tmp_path / "errors.svg")
    text = (tmp_path / "errors.svg").read_text()
    for mode in ("forward", "reverse"):
        assert f"x, order 1, {mode}: ok" in text
    assert "10^{-14}" in text, "the axis reaches from rounding to the derivative"


SCRIPT = """
import mindspore as ms
from mindspore import ops

def energy(x, k):
    return (ops.sin(x) * k).sum()

def slope(x=ms.Tensor([1.0])):
    return ops.stop_gradient(x) * x

if __name__ == "__main__":
    raise SystemExit(7)
"""


def test_the_command(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script.py").write_text(SCRIPT)
    assert main(["check", "script.py:energy", "Tensor([1.0, 2.0])", "2.0", "--order", "2"]) == 0
    assert "energy: derivatives match" in capsys.readouterr().out
    assert main(["check", "script.py:slope", "--mode", "reverse"]) == 1
    assert "wrong" in capsys.readouterr().out
    for arguments, text in [
        (["script.py:energy"], "values are missing for "),
        (["script.py:nothing"], "has no 'nothing'"),
        (["script.py"], "script.py:function"),
        (["other.py:energy"], "no file"),
        (["script.py:energy", "1 +"], "cannot be evaluated"),
    ]:
        with pytest.raises(SystemExit) as caught:
            main(["check", *arguments])
        assert caught.value.code == 2
        assert text in capsys.readouterr().err


def test_a_program_named_check_is_run(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "check").write_text("print('a program')\n")
    monkeypatch.setattr("sys.argv", ["python"])
    monkeypatch.setattr("sys.path", list(sys.path))
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    assert main(["check"]) == 0
    assert capsys.readouterr().out == "a program\n"


def test_at_a_minimum_nothing_is_unclear():
    """All slopes are zero but for rounding: there is no slope to compare the differences' uncertainty with."""
    lennard_jones = lambda r: (r**-12 - r**-6).sum()
    checked = ms.check_grad(lennard_jones, Tensor(np.array([2 ** (1 / 6)])))
    assert checked.ok, str(checked)


def test_check_grad_at_a_jump_of_the_gradient_is_nondifferentiable():
    for function, x in ((ops.abs, Tensor([0.0, 1.0])), (lambda x: ops.maximum(x, 1.0), Tensor([1.0, 2.0]))):
        checked = ms.check_grad(function, x, order=2)
        assert checked.ok
        assert {row.verdict for row in checked.rows} == {"nondifferentiable"}
        assert "at a jump (at [0]" in str(checked)
    assert "jump" not in str(ms.check_grad(ops.exp, Tensor([0.0, 9.0]), order=2))


def test_a_narrow_terminal_shows_fewer_columns(monkeypatch, capsys):
    checked = ms.check_grad(ops.sin, Tensor([1.0]), modes=("forward",))
    checked.show()
    assert capsys.readouterr().out == f"{checked}\n"
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    checked.show()
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "derivative" in lines[1]
    assert "step" not in lines[1]


def test_check_grad_with_several_positional_arguments_names_the_tuple():
    x = Tensor([1.0, 2.0])
    with pytest.raises(ValueError, match=r"'order' must be 1 or 2.*check_grad\(fn, \(x, y\)\)"):
        ms.check_grad(lambda a, b: (a * b).sum(), x, x)
