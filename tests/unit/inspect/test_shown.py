"""What is shown of objects: texts and HTML of functions, tensors and nets, and bars where it takes long."""

import inspect
import io
import re
import subprocess
import sys
import threading
import time
from html.parser import HTMLParser

import numpy as np
import pytest
from rich import console, live

import mindgrad as ms
from mindgrad import Tensor, nn, train
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


def test_html_of_a_check_holds_the_table():
    def f(x):
        return (ms.ops.abs(x) + ms.ops.stop_gradient(x * x)).sum()

    check = ms.check_grad(f, Tensor([1.0, 0.0]), modes=("forward",))
    cells = Cells(check._repr_html_())
    assert cells.texts[0] == str(check).splitlines()[0]
    assert cells.texts[1:3] == ["argument", "type"]
    assert "wrong" in cells.texts
    assert cells.texts[-1] == str(check).splitlines()[-1]
    assert cells.count["tr"] == 2


def test_a_tensor_without_value_has_no_html():
    assert ms.jit(lambda x: (x, x._repr_html_()))(X)[1] is None


# -- progress --------------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Notebook(io.StringIO):
    pass


Notebook.__module__ = "ipykernel.iostream"


class Displays(list):
    """What notebooks display, as text: ``IPython.display``."""

    def display(self, shown, *, display_id):
        assert display_id
        self.update(shown)
        return self

    def update(self, shown):
        self.append(shown._repr_mimebundle_([], [])["text/html"])


@pytest.fixture(params=["rich", "without rich"])
def has_rich(request, monkeypatch):
    if request.param == "without rich":
        monkeypatch.setitem(sys.modules, "rich.progress", None)
    return request.param == "rich"


@pytest.fixture
def shown(monkeypatch):
    def use(stream):
        monkeypatch.setattr(sys, "stderr", stream)
        return stream

    monkeypatch.setenv("TERM", "xterm")
    for variable in ("MINDGRAD_PROGRESS", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(Progress, "patience", 0.02)
    monkeypatch.setattr(train.ProgressBar, "_PAUSE", 0.0)
    return use


@pytest.fixture
def displays(monkeypatch):
    shown = Displays()
    monkeypatch.setitem(sys.modules, "IPython.display", shown)
    return shown


def plain(text):
    """What is written on a terminal, without colors and movements."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)


def slow(x):
    time.sleep(0.2)
    return x * 2


def test_a_terminal_shows_that_a_program_is_being_compiled(shown, has_rich):
    stream = shown(Terminal())
    offset = 10.0 + has_rich  # a program of its own
    ms.jit(lambda x: slow(x) + offset)(X)
    if has_rich:
        assert re.search(r"compiling '<lambda>' ━{24} +0:00:00", plain(stream.getvalue()))
        assert stream.getvalue().endswith("\x1b[1A\x1b[2K")  # erased
    else:
        assert re.fullmatch(r"(\r\x1b\[Kcompiling '<lambda>' … \d s)+\r\x1b\[K", stream.getvalue())

    class Slow(nn.Cell):
        def construct(self, x):
            return slow(x)

    ms.set_context(mode=ms.GRAPH_MODE)
    stream = shown(Terminal())
    Slow()(X)
    assert "compiling 'Slow'" in stream.getvalue()
    ms.set_context(mode=ms.PYNATIVE_MODE)


def test_a_notebook_shows_how_long_it_took_and_errors_end_the_bar(shown, has_rich, displays):
    stream = shown(Notebook())

    def fails(x):
        slow(x)
        raise ValueError("oops")

    with pytest.raises(ValueError, match="oops"):
        ms.jit(fails)(X)
    if has_rich:
        assert "compiling 'fails'" in displays[0].replace("&#x27;", "'")
        assert "compiled 'fails'" in displays[-1].replace("&#x27;", "'")
        assert stream.getvalue() == ""
    else:
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
    train_briefly()
    assert stream.getvalue() == ""


def test_nothing_is_drawn_into_a_display_of_the_programs_own(shown):
    stream = shown(Terminal())
    with live.Live("mine", console=console.Console(file=stream), auto_refresh=False):
        ms.jit(lambda x: slow(x) + 5)(X)
        train_briefly()
    assert "mine" in stream.getvalue()
    assert "compiling" not in stream.getvalue()
    assert "epoch" not in stream.getvalue()


def test_a_closed_stream_is_no_error(shown, has_rich):
    shown(Terminal()).close()
    ms.jit(lambda x: slow(x) + 6 + has_rich)(X)


def test_a_check_counts_its_differences(shown, has_rich, monkeypatch):
    stream = shown(Terminal())
    monkeypatch.setattr(Progress, "_PAUSE", 0.005)

    def f(x, y):
        time.sleep(0.01)
        return (x * y).sum()

    assert ms.check_grad(f, (Tensor([1.0, 2.0]), Tensor([1.0, 2.0])), order=2).ok
    text = plain(stream.getvalue())
    for order in (1, 2):
        for count in (1, 2, 3):
            pattern = rf"'f' .*\b{count}/4 .*order {order}"
            assert any(re.search(pattern, line) for line in text.split("\r")), (pattern, text)
    assert not has_rich or re.search(r"0:00:00 left order 1", text)


def train_briefly(*callbacks):
    batches = ms.dataset.NumpySlicesDataset(
        {"x": np.ones((8, 2), np.float32), "y": np.ones((8, 1), np.float32)}
    )
    net = nn.Dense(2, 1)
    model = train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
    model.train(1, batches.batch(4), list(callbacks))


def test_training_shows_a_bar_on_terminals(shown, has_rich, monkeypatch):
    stream = shown(Terminal())
    monkeypatch.setattr(sys, "stdout", stream)

    class Speaker(train.Callback):
        def on_train_step_end(self, run_context):
            print("step", run_context.original_args().cur_step_num)

    train_briefly(Speaker())
    assert sys.stdout is sys.stderr is stream
    last = plain(stream.getvalue()).rstrip("\n").split("\r")[-1]
    if has_rich:
        assert re.fullmatch(r"epoch 1/1 ━{24} 2/2 0:00:00 loss [\d.e-]+ *", last)
        assert "step 2\n" in plain(stream.getvalue())
    else:
        assert re.fullmatch(r"epoch 1/1 2/2 in 0 s, loss [\d.e-]+", last)


def test_training_shows_a_bar_in_notebooks(shown, has_rich, displays):
    stream = shown(Notebook())
    train_briefly()
    texts = displays if has_rich else stream.getvalue().split("\r")[1:]
    assert len(texts) == 3
    for text, count in zip(texts, ("1/2", "2/2", "2/2"), strict=True):
        assert "epoch 1/1" in text
        assert count in text
        assert "loss" in text


def test_an_error_in_the_middle_of_an_epoch_ends_the_bar(shown, has_rich):
    stream = shown(Terminal())

    class Failure(train.Callback):
        def on_train_step_end(self, run_context):
            raise ValueError("oops")

    class Once(train.ProgressBar):
        """A bar that is called before the others."""

    with pytest.raises(ValueError, match="oops"):
        train_briefly(Once(), Failure())
    assert sys.stderr is stream
    assert re.search(r"epoch 1/1 .*1/2.*loss [\d.e-]+ *\n", plain(stream.getvalue()))


def test_rich_is_imported_when_a_bar_appears():
    program = (
        "import sys, mindgrad as ms, mindgrad.frontend.programs.compiled\n"
        "ms.jit, ms.check_grad, ms.train.Model, ms.train.ProgressBar()\n"
        "assert not [name for name in sys.modules if name.split('.')[0] == 'rich']\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
