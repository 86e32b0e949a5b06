"""Errors leave the entry points without mindgrad's internal frames."""

import copy
import os
import subprocess
import sys
import traceback

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from mindgrad.core.base.location import PACKAGE

X, Y = Tensor(np.ones((2, 3), np.float32)), Tensor(np.ones((4, 5), np.float32))


def files(error):
    return [frame.filename for frame in traceback.extract_tb(error.__traceback__)]


def raised(function, *args):
    with pytest.raises(Exception) as caught:  # noqa: PT011 - each has its own
        function(*args)
    return caught.value


# -- entry points ----------------------------------------------------------------------------------------


class Product(nn.Cell):
    def construct(self, x):
        return x @ Y


def product(x):
    return x @ Y


ENTRIES = {
    "Cell": Product(),
    "jit": ms.jit(product),
    "grad": ms.grad(product),
    "value_and_grad": ms.value_and_grad(product),
    "jit of grad": ms.jit(ms.grad(product)),
    "grad of jit": ms.grad(ms.jit(product)),
    "vmap": ms.vmap(product),
    "jacobian": ms.jacobian(product),
    "hessian": ms.hessian(product),
    "laplacian": ms.laplacian(product),
    "GradOperation": ops.GradOperation(get_all=True)(Product()),
}


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["eager", "graph"])
@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_point_removes_internal_frames(name, mode):
    before = ms.get_context("mode")
    ms.set_context(mode=mode)
    try:
        error = raised(ENTRIES[name], X)
    finally:
        ms.set_context(mode=before)
    assert set(files(error)) == {__file__}
    assert files(error)[1:]


def test_arguments_of_a_gradient_function_are_checked_without_internal_frames():
    error = raised(ms.grad(product), X, X, X)
    assert set(files(error)) == {__file__}


def test_a_direct_call_of_an_operator_keeps_all_frames():
    assert any(name.startswith(PACKAGE) for name in files(raised(lambda: X @ Y)))


def test_the_command_removes_internal_frames(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("from mindspore import Tensor\ndef f():\n    Tensor([1.0]).reshape((3,))\nf()\n")
    command = [sys.executable, "-m", "mindgrad", str(script)]
    for setting, count in (("", 2), ("full", None)):
        environment = {**os.environ, "MINDGRAD_TRACEBACK": setting}
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert done.returncode == 1
        frames = [line for line in done.stderr.splitlines() if line.startswith('  File "')]
        assert sum(str(script) in line for line in frames) == 2
        assert len(frames) == count if count else len(frames) > 2


# -- errors ----------------------------------------------------------------------------------------------


def test_an_error_that_is_caught_inside_keeps_all_frames():
    seen = []

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner = Product()

        def construct(self, x):
            try:
                return self.inner(x)
            except ValueError as error:
                seen.append(len(files(error)))
                raise

    error = raised(Net(), X)
    assert seen[0] > 2
    assert set(files(error)) == {__file__}


def test_a_user_who_catches_sees_his_own_frames():
    try:
        Product()(X)
    except ValueError:
        text = traceback.format_exc()
    assert text.count("File ") == 2
    assert text.count(__file__) == 2


def test_an_error_of_the_user_s_own():
    def own(x):
        raise LookupError("mine")

    for function in (ms.grad(own), ms.jit(own), ms.vmap(own), ms.jit(ms.grad(own))):
        error = raised(function, X)
        assert set(files(error)) == {__file__}
        assert str(error) == "mine"


def test_the_unknown_keyword_of_an_operator_is_explained():
    def total(x):
        return ops.sum(x, axis=0)

    class Total(nn.Cell):
        def construct(self, x):
            return ops.sum(x, axis=0)

    for function in (ms.grad(total), ms.jit(total), Total()):
        error = raised(function, X)
        assert error.__notes__[0] == "  In mindgrad: dim=..."


def test_what_the_user_was_handling_is_shown():
    def f(x):
        try:
            x @ Y
        except ValueError:
            ops.reshape(x, (4,))

    error = raised(ms.jit(f), X)
    assert "During handling" in "".join(traceback.format_exception(error))
    assert set(files(error.__context__)) == {__file__}


def test_groups_of_errors():
    def f(x):
        errors = []
        for shape in ((4,), (5,)):
            try:
                x.reshape(shape)
            except ValueError as error:
                errors.append(error)
        raise ExceptionGroup("both", errors)

    group = raised(ms.jit(f), X)
    assert len(group.exceptions) == 2
    for error in (group, *group.exceptions):
        assert set(files(error)) == {__file__}


def test_everything_on_request(monkeypatch):
    monkeypatch.setenv("MINDGRAD_TRACEBACK", "full")
    assert any(name.startswith(PACKAGE) for name in files(raised(Product(), X)))


def test_an_exception_that_is_no_error_stays_whole():
    def f():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        ms.grad(lambda x: f())(X)
    assert any(name.startswith(PACKAGE) for name in files(caught.value))


# -- the path of Cells --------------------------------------------------------------------------------------


class Inner(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 2)

    def construct(self, x):
        return self.dense(x)


class Outer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.blocks = nn.CellList([Inner(), Inner()])

    def construct(self, x):
        return self.blocks[1](x)


@pytest.mark.parametrize("wrap", [lambda f: f, ms.grad, ms.jit, ms.vmap, lambda f: ms.jit(ms.grad(f))])
def test_the_path_is_named_once(wrap):
    net = Outer()
    assert raised(lambda: wrap(net)(X)).__notes__ == ["  in the Cell net.blocks.1.dense (Dense)"]


def test_the_path_from_an_attribute_and_of_nothing():
    class Holder:
        pass

    holder = Holder()
    holder.net = Outer()
    assert raised(lambda: holder.net(X)).__notes__ == ["  in the Cell Outer.blocks.1.dense (Dense)"]
    assert not hasattr(raised(nn.Dense(4, 2), X), "__notes__")


def test_the_path_is_named_in_graph_mode():
    net, before = Outer(), ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        assert raised(lambda: net(X)).__notes__ == ["  in the Cell net.blocks.1.dense (Dense)"]
    finally:
        ms.set_context(mode=before)


def test_a_copy_of_a_cell_is_of_its_class():
    again = copy.deepcopy(Outer())
    assert "again.blocks.1.dense" in raised(lambda: again(X)).__notes__[0]
