"""The boundary of the package: errors leave it without its frames, and nothing else changes."""

import copy
import inspect
import pickle
import sys
import threading
import traceback

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from mindgrad._base import boundary
from mindgrad._base.boundary import enclosed
from mindgrad.core.base.location import PACKAGE

X, Y = Tensor(np.ones((2, 3), np.float32)), Tensor(np.ones((4, 5), np.float32))


def files(error):
    return [frame.filename for frame in traceback.extract_tb(error.__traceback__)]


def raised(function, *args):
    with pytest.raises(Exception) as caught:  # noqa: PT011 - each has its own
        function(*args)
    return caught.value


# -- code ----------------------------------------------------------------------------------------------


def halved(x):
    return x / 2


def caught_and_left(x):
    for _ in range(2):
        try:
            with threading.Lock():
                x / 2
        except TypeError as error:
            raise ValueError("other") from error
        finally:
            x = x * 1
    return x


def in_closure(y):
    def inner(x):
        try:
            return x / y
        finally:
            del x

    return inner


def with_keywords(*args, **kwargs):
    try:
        raise KeyError(1)
    except KeyError:
        return int("3" + args[0], **kwargs)


LONG = {}
exec("def long(x):\n" + "".join(f"    a{i} = {i + 1000}\n" for i in range(400)) + "    return x / 2", LONG)


@pytest.mark.parametrize(
    ("function", "good"),
    [(halved, 3), (caught_and_left, 3), (in_closure(2), 3), (with_keywords, "4"), (LONG["long"], 3)],
)
def test_a_handler_is_called_for_each_error_that_leaves(function, good, monkeypatch):
    left = []
    monkeypatch.setattr(boundary, "leave", lambda: left.append(sys.exception()))
    function = copy_of(function)
    before, text = function(good), function.__code__.co_code
    function.__code__ = enclosed(function.__code__)
    assert function(good) == before
    # what does not fail runs the same instructions
    assert function.__code__.co_code.startswith(text)
    for _ in range(50):  # a wrong reference count would show
        outer = KeyError("outer")
        try:
            raise outer
        except KeyError:
            error = raised(function, "x")
            assert left.pop() is error
            assert sys.exception() is outer
        assert sys.exception() is None
        assert left == []


def copy_of(function):
    code = function.__code__.replace()
    return type(function)(code, globals(), closure=function.__closure__)


def test_an_interrupt_while_an_error_is_trimmed(monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(boundary, "leave", interrupted)
    function = copy_of(halved)
    function.__code__ = enclosed(function.__code__)
    for _ in range(50):
        with pytest.raises(KeyboardInterrupt) as caught:
            function("x")
        assert isinstance(caught.value.__context__, TypeError)
        assert sys.exception() is None


def test_lines_of_enclosed_code():
    code = enclosed(halved.__code__)
    lines = [line for _, _, line in code.co_lines() if line is not None]
    assert lines == [line for _, _, line in halved.__code__.co_lines() if line is not None]
    positions = list(code.co_positions())
    assert len(positions) == len(code.co_code) // 2
    assert positions[-1][0] is None


def test_functions_stay_what_they_are():
    assert ops.matmul.__name__ == "matmul"
    assert "\ndef matmul(" in inspect.getsource(ops.matmul)
    assert pickle.loads(pickle.dumps(ops.matmul)) is ops.matmul
    assert list(inspect.signature(ms.grad).parameters)[:3] == ["fn", "grad_position", "weights"]


def test_public_functions_are_enclosed():
    """Of each public module all that a program calls, but for generators and what C does."""
    leave = boundary.leave
    count, lacking = 0, []
    for name in ("", ".ops", ".nn", ".mint", ".numpy", ".train", ".dataset", ".scipy", ".tools"):
        module = sys.modules[f"mindgrad{name}"] if not name else getattr(ms, name[1:])
        for key in getattr(module, "__all__", ()):
            value = getattr(module, key)
            value = vars(value).get("__init__", value) if isinstance(value, type) else value
            code = getattr(value, "__code__", None)
            if code is None or not code.co_filename.startswith(PACKAGE):
                continue
            count += 1
            if not (code.co_flags & inspect.CO_GENERATOR or code.co_consts[-1] is leave):
                lacking.append(f"{module.__name__}.{key}")
    assert not lacking
    assert count > 500


# -- errors ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda: X @ Y,
        lambda: [1.0] @ Y,
        lambda: X.sum(7),
        lambda: ops.ReduceSum()(X, 7),
        lambda: ms.numpy.matmul(X, Y),
        lambda: ms.mint.matmul(X, Y),
        lambda: ms.mint.nn.functional.linear(X, Y),
        lambda: ms.scipy.linalg.inv(X),
        lambda: ms.load_checkpoint("/nowhere/net.ckpt"),
        lambda: ms.odeint(lambda t, y: y, 3, "a"),
        lambda: nn.Dense(3, 2).trainable,
        lambda: Tensor([1.0]).item(4),
        lambda: int(X),
        lambda: next(iter(ms.dataset.GeneratorDataset(lambda: iter([1 / 0]), ["x"]))),
        lambda: ms.set_seed("a"),
        lambda: ms.nothing,
    ],
)
def test_no_frame_of_ours(call):
    assert not any(name.startswith(PACKAGE) for name in files(raised(call)))


def test_a_user_who_catches_sees_his_own_frames():
    class Net(nn.Cell):
        def construct(self, x):
            return x @ Y

    try:
        Net()(X)
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


def test_what_was_raised_and_caught_inside_is_not_shown():
    error = raised(lambda: ms.load_checkpoint(3))
    assert error.__cause__ is None
    shown = "".join(traceback.format_exception(error))
    assert "During handling" not in shown


def test_what_the_user_was_handling_is_shown():
    def f():
        try:
            X @ Y
        except ValueError:
            ops.reshape(X, (4,))

    error = raised(f)
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
    assert any(name.startswith(PACKAGE) for name in files(raised(lambda: X @ Y)))


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


def test_a_copy_of_a_cell_is_of_its_class():
    again = copy.deepcopy(Outer())
    assert "again.blocks.1.dense" in raised(lambda: again(X)).__notes__[0]
