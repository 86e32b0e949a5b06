"""What is shown of objects: texts and HTML of functions, tensors and nets, and a line while compiling."""

import inspect
import io
import sys
import threading
import time
from html.parser import HTMLParser

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn
from mindgrad._base.progress import Progress


def loss(w, x, *, scale=2.0):
    """The loss."""
    return (w * x).sum() * scale


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Dense(2, 3), nn.SequentialCell([nn.Dense(3, 1, has_bias=False)])
        self.offset = ms.Parameter(Tensor(1.0), name="<offset>", requires_grad=False)

    def construct(self, a, b=None):
        return self.second(self.first(a)) + self.offset


NET, X = Net(), Tensor([1.0, 2.0])

# -- functions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "name", "signature", "subject"),
    [
        (ms.grad(loss), "grad_of_loss", "(w, x, *, scale=2.0)", "grad of 'loss' with respect to 'w'."),
        (ms.grad(loss, (0, 1)), "grad_of_loss", "(w, x, *, scale=2.0)", "with respect to 'w' and 'x'."),
        (ms.grad(NET), "grad_of_Net", "(a, b=None)", "with respect to 'a'."),
        (ms.value_and_grad(NET, None, NET.trainable_params()), "value_and_grad_of_Net", "(a, b=None)", "the Parameters."),
        (ms.hvp(loss), "hvp_of_loss", "(w, x, v, *, scale=2.0)", "with respect to 'w'."),
        (ms.hessian(loss), "hessian_of_loss", "(w, x, *, scale=2.0)", "hessian of 'loss'"),
        (ms.jacobian(loss, sparse=True), "jacobian_of_loss", "(w, x, *, scale=2.0)", "jacobian of 'loss'"),
        (ms.laplacian(loss), "laplacian_of_loss", "(w, x, *, scale=2.0)", "laplacian of 'loss'"),
        (ms.vmap(loss), "vmap_of_loss", "(w, x, *, scale=2.0)", "vmap of 'loss'."),
        (ms.grad(ms.jit(loss)), "grad_of_loss", "(w, x, *, scale=2.0)", "with respect to 'w'."),
        (ms.grad(ms.grad(loss)), "grad_of_grad_of_loss", "(w, x, *, scale=2.0)", "with respect to argument 0."),
        (ms.ops.GradOperation(get_all=True, sens_param=True)(loss), "GradOperation_of_loss", "(w, x, v, *, scale=2.0)", "all inputs."),
    ],
)  # fmt: skip
def test_gradient_functions_have_names_signatures_and_documentation(function, name, signature, subject):
    assert function.__name__ == name
    assert str(inspect.signature(function)) == signature
    assert subject in function.__doc__
    if "_of_loss" in name and "of_grad" not in name:
        assert function.__doc__.endswith("loss: The loss.")
    replaced = inspect.signature(function).replace(return_annotation=int)
    assert str(replaced) == f"{signature} -> int"


def test_functions_that_vjp_and_linearize_give():
    vjp_fn, jvp_fn = ms.vjp(loss, X, X)[1], ms.linearize(lambda w: w * w, X)[1]
    assert "cotangent" in vjp_fn.__doc__
    assert "tangents" in jvp_fn.__doc__


def test_a_compiled_function_says_what_it_is_of():
    def step(x, *, rate=0.5):
        return x * rate

    line = step.__code__.co_firstlineno
    compiled = ms.jit(step)
    assert repr(compiled) == f"<jit of step(x, *, rate=0.5) in test_shown.py:{line}, 0 programs compiled>"
    compiled(X)
    assert repr(compiled).endswith("1 program compiled>")
    compiled(Tensor([1.0]))
    assert repr(compiled).endswith("2 programs compiled>")
    assert repr(ms.jit(ms.grad(loss))) == "<jit of grad_of_loss(w, x, *, scale=2.0), 0 programs compiled>"


# -- HTML ----------------------------------------------------------------------------------------------------


class Cells(HTMLParser):
    """The texts of a table, and whether every tag is closed."""

    def __init__(self, html):
        super().__init__()
        self.open, self.texts, self.count = [], [], {}
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.count[tag] = self.count.get(tag, 0) + 1

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_a_matrix_is_a_table():
    cells = Cells(Tensor([[1.0, 2.5], [-3.0, float("nan")]])._repr_html_())
    assert cells.texts == ["Tensor 2 × 2 Float32", "0", "1", "0", "1", "2.5", "1", "-3", "nan"]


def test_large_tensors_are_bounded():
    cells = Cells(Tensor(np.zeros((1000, 1000), np.float32))._repr_html_())
    assert cells.count["td"] == 11 * 11
    assert len(Cells(Tensor(np.zeros(1_000_000))._repr_html_()).texts) < 30
    assert len(Tensor(np.zeros((40, 40, 40)))._repr_html_()) < 3000


@pytest.mark.parametrize(
    "data",
    [2.5, True, [1, 2], [1 + 2j], np.zeros((0, 3)), np.zeros((2, 2, 2)), np.ones(2, ms.bfloat16)],
    ids=str,
)
def test_every_kind_of_tensor_has_html(data):
    x = Tensor(data)
    assert f"{x.dtype}" in Cells(x._repr_html_()).texts[0]


def test_html_of_nets_and_parameters():
    texts = Cells(NET._repr_html_()).texts
    assert texts[0] == "Net: 12 trained numbers in 4 Parameters, 1 not trained"
    assert ["<offset>" in text for text in texts].count(True) == 0  # its attribute is the label
    assert "offset" in texts
    assert "a number, Float32, not trained" in texts
    assert "first: Dense" in texts
    assert "3 × 2, Float32" in texts
    assert Cells(NET.offset._repr_html_()).texts[0] == "Parameter '<offset>' Float32, not trained"
    many = nn.SequentialCell([nn.ReLU() for _ in range(500)])
    assert Cells(many._repr_html_()).texts[-1] == "… 301 more"


def test_a_tensor_without_value_has_no_html():
    assert ms.jit(lambda x: (x, x._repr_html_()))(X)[1] is None


# -- a line while compiling ------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Notebook(io.StringIO):
    pass


Notebook.__module__ = "ipykernel.iostream"


@pytest.fixture
def shown(monkeypatch):
    def use(stream):
        monkeypatch.setattr(sys, "stderr", stream)
        return stream

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("MINDGRAD_PROGRESS", raising=False)
    monkeypatch.setattr(Progress, "patience", 0.02)
    return use


def slow(x):
    time.sleep(0.2)
    return x * 2


def test_a_terminal_shows_that_a_program_is_being_compiled(shown):
    stream = shown(Terminal())
    ms.jit(lambda x: slow(x))(X)
    assert stream.getvalue() == "\r\x1b[Kcompiling '<lambda>' … 0 s\r\x1b[K"

    class Slow(nn.Cell):
        def construct(self, x):
            return slow(x)

    ms.set_context(mode=ms.GRAPH_MODE)
    stream = shown(Terminal())
    Slow()(X)
    assert stream.getvalue().startswith("\r\x1b[Kcompiling 'Slow' … 0 s")
    ms.set_context(mode=ms.PYNATIVE_MODE)


def test_a_notebook_shows_how_long_it_took_and_errors_end_the_line(shown):
    stream = shown(Notebook())

    def fails(x):
        slow(x)
        raise ValueError("oops")

    with pytest.raises(ValueError, match="oops"):
        ms.jit(fails)(X)
    assert stream.getvalue() == "\r{:79}\r{:79}\n".format(
        "compiling 'fails' … 0 s", "compiled 'fails' in 0 s"
    )


def test_nothing_is_shown_in_a_pipe_in_short_or_in_other_threads(shown, monkeypatch):
    stream = shown(io.StringIO())
    ms.jit(lambda x: slow(x) + 1)(X)
    assert stream.getvalue() == ""
    stream = shown(Terminal())
    monkeypatch.setattr(Progress, "patience", 60.0)
    ms.jit(lambda x: slow(x) + 2)(X)
    monkeypatch.setattr(Progress, "patience", 0.02)
    other = threading.Thread(target=lambda: ms.jit(lambda x: slow(x) + 3)(X))
    other.start()
    other.join()
    monkeypatch.setenv("MINDGRAD_PROGRESS", "0")
    ms.jit(lambda x: slow(x) + 4)(X)
    assert stream.getvalue() == ""


def test_a_check_shows_a_bar(shown, monkeypatch):
    stream = shown(Terminal())

    def f(x):
        return (x * x).sum()

    def stop(line):  # as if every difference took a second
        with line._lock:
            line._is_shown = True
            line._write(line._text())

    counted = Progress.counted

    def each(line, items, noun):
        for item in counted(line, items, noun):
            stop(line)
            yield item

    monkeypatch.setattr(Progress, "counted", each)
    assert ms.check_grad(f, Tensor([1.0, 2.0])).ok
    assert "'f' [============            ] 1/2 of x, order 1 … 0 s" in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K")


@pytest.mark.parametrize("kind", [Terminal, Notebook])
def test_training_shows_a_bar_on_terminals_and_in_notebooks(shown, kind):
    stream = shown(kind())
    batches = ms.dataset.NumpySlicesDataset(
        {"x": np.ones((8, 2), np.float32), "y": np.ones((8, 1), np.float32)}
    )
    net = nn.Dense(2, 1)
    ms.train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1)).train(1, batches.batch(4))
    assert "epoch 1/1 [========================] 2/2, loss" in stream.getvalue()
