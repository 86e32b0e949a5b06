"""``draw`` and ``save_graphs``: pictures that hold what the program does, and stay readable."""

import re
import subprocess
import sys

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from mindgrad.inspect.draw import _MOST_ROWS
from mindgrad.inspect.draw_command import main


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 3)

    def construct(self, x):
        h = ops.tanh(self.dense(x))
        return x + h


BLOCK = Block()


def loss(x):
    error = BLOCK(x) - 1.0
    return (error * error).mean()


X = Tensor(np.ones((4, 3), np.float32))


def texts(drawing):
    return re.findall(r">([^<>]+)</text>", drawing.svg())


def test_values_and_derivatives_stand_side_by_side():
    drawing = ms.draw(ms.value_and_grad(loss, None, BLOCK.trainable_params()), X)
    assert (drawing.rows, drawing.folding) == (4, "line")
    shown = " ".join(texts(drawing))
    for line in ("h = ops.tanh(self.dense(x))", "error = BLOCK(x) - 1.0"):
        assert line in shown
    assert re.search(r"derivative of \d+: h = ops.tanh", shown)
    assert "dense.weight" in shown, "what a line reads"
    assert "d_dense_weight, d_dense_bias" in shown, "what it gives"
    assert {"Block", "loss"} <= set(texts(drawing)), "groups: the Cell and the function"


def test_a_function_alone_has_one_column():
    shown = texts(ms.draw(loss, X))
    assert "values ↓" in shown
    assert "derivatives ↑" not in shown


def decay(x, n):
    i = 0
    while i < n:
        x = x * 0.5 + ops.sin(x)
        i = i + 1
    return x.sum()


def test_the_lines_of_a_loop_are_rows():
    shown = " ".join(texts(ms.draw(decay, X, Tensor(3), order=1)))
    assert "x = x * 0.5 + ops.sin(x)" in shown
    assert "while_pullback" in shown


def test_large_programs_are_folded(tmp_path):
    lines = "".join(f"    x = ops.sin(x) * {k}.5\n" for k in range(1, 70))
    script = tmp_path / "long.py"
    script.write_text(f"from mindgrad import ops\n\ndef f(x):\n{lines}    return x.sum()\n")
    scope = {}
    exec(compile(script.read_text(), str(script), "exec"), scope)
    drawing = ms.draw(scope["f"], Tensor([1.0]), order=1)
    assert drawing.folding == "block of lines"
    assert 10 < drawing.rows <= _MOST_ROWS
    assert "lines 4 to 5" in " ".join(texts(drawing))


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_pictures_are_files(tmp_path, suffix):
    path = tmp_path / f"loss.{suffix}"
    ms.draw(loss, X, order=1).save(path)
    start = path.read_bytes()[:60]
    assert {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[suffix] in start


def test_other_endings_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"should end in .svg, .png, .pdf"):
        ms.draw(loss, X).save(tmp_path / "loss.bmp")


def test_dollars_and_brackets_in_a_line_are_shown_as_they_are():
    f = lambda x: x * {"$a$": 2.0}["$a$"] < 3.0  # < and $ mean something to SVG and to matplotlib
    assert "&lt; 3.0" in ms.draw(f, X).svg()


def test_the_command_draws(tmp_path, capsys):
    script = tmp_path / "wave.py"
    script.write_text("from mindgrad import ops\n\ndef u(x):\n    return ops.sin(x).sum()\n")
    assert main([f"{script}:u", "Tensor([1.0])", "-o", str(tmp_path / "u.svg")]) == 0
    assert (tmp_path / "u.svg").stat().st_size > 1000
    assert ": 1 row, one for each line" in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        main([f"{script}:u", "Tensor([1.0])", "-o", str(tmp_path / "u.bmp")])
    assert ended.value.code == 2


def test_save_graphs_writes_each_program(tmp_path):
    code = """
import mindgrad as ms
from mindgrad import Tensor, nn, ops
ms.set_context(save_graphs=True, save_graphs_path="graphs")
net = nn.Dense(3, 2)
ms.jit(lambda x: ops.tanh(net(x)).sum())(ops.ones((4, 3)))
ms.set_context(save_graphs=False)
ms.jit(lambda x: ops.sin(x))(ops.ones((4, 3)))
"""
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True)
    files = sorted(path.name for path in (tmp_path / "graphs").iterdir())
    assert files == ["000_lambda.svg", "000_lambda.txt"]
    text = (tmp_path / "graphs" / files[1]).read_text()
    assert text.startswith("graph(input_0: Float32[4,3], weight: Float32[2,3], bias: Float32[2])")
    assert "tanh(" in text


class Stack(nn.Cell):
    def __init__(self, cells):
        super().__init__()
        self.blocks = nn.CellList([Block() for _ in range(cells)])

    def construct(self, x):
        for block in self.blocks:
            x = block(x)
        return x.sum()


def test_each_cell_has_its_rows_while_they_fit():
    drawing = ms.draw(Stack(2), X, order=1)
    assert {"blocks.0", "blocks.1"} <= set(texts(drawing))
    labels = [row.label for row in drawing._rows if row.group == "blocks.0"]
    assert labels == sorted(labels)
    folded = ms.draw(Stack(_MOST_ROWS), X, order=1)
    assert folded.rows < 6
    assert "Block" in texts(folded)
    assert not any(text.startswith("blocks.") for text in texts(folded))


class Normed(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 3)
        self.norm = nn.BatchNorm2d(4)

    def construct(self, x):
        h = self.norm(self.conv(x))
        return ops.relu(x + h)


class Residual(nn.Cell):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3)
        self.blocks = nn.SequentialCell(Normed(), Normed(), Normed())

    def construct(self, x):
        h = self.stem(x)
        return self.blocks(h).sum()


def test_rows_follow_the_values_though_rewrites_move_constants_to_the_front():
    drawing = ms.draw(Residual(), ops.ones((2, 3, 8, 8)), order=1)
    rows = drawing._rows
    assert [row.group for row in rows] == ["Residual", *[f"blocks.{k}" for k in (0, 0, 1, 1, 2, 2)]]
    assert all(a.row < b.row for a, b in drawing._arrows if not (a.is_derivative or b.is_derivative))
    assert all(a.row > b.row for a, b in drawing._arrows if a.is_derivative and b.is_derivative)
    assert {"derivatives ↑", "residuals →"} <= set(texts(drawing))


def two(x):
    h = ops.tanh(x * 2.0)
    g = ops.sin(h) + h
    return (g * h).sum(-1)


def test_derivatives_of_forward_mode_flow_downwards():
    shown = texts(ms.draw(ms.laplacian(two), X))
    assert "derivatives ↓" in shown
    assert "derivatives ↑" not in shown


def test_what_a_line_gives_is_shown_however_much_it_does():
    each = [ops.sin, ops.cos, ops.tan, ops.exp, ops.log, ops.sqrt, ops.atan, ops.erf, ops.sinh, ops.cosh]

    def busy(x):
        y = sum([f(x) for f in [*each, ops.acosh, ops.asinh, ops.atanh, ops.log1p, ops.expm1, ops.sigmoid]])
        return (y * y).sum()

    (detail,) = [text for text in texts(ms.draw(busy, X)) if text.startswith("sin, ")]
    assert re.search(r"…  → Float32\[4,3\]$", detail)


class Gate(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 3)

    def construct(self, x):
        weight = self.dense(x)
        return ops.sigmoid(weight)


class Gated(nn.Cell):
    def __init__(self):
        super().__init__()
        self.gate = Gate()

    def construct(self, x):
        x = ops.tanh(x) * self.gate(ops.sin(x))
        return x * x


class Gates(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.CellList([Gated(), Gated()])

    def construct(self, x):
        for layer in self.layers:
            x = layer(x)
        return ops.exp(x).sum()


def test_a_cell_stands_between_the_lines_that_call_and_follow_it():
    rows = ms.draw(Gates(), X)._rows
    layers = [[f"layers.{k}", *[f"layers.{k}.gate"] * 2, f"layers.{k}"] for k in (0, 1)]
    assert [row.group for row in rows] == [*layers[0], *layers[1], "Gates"]


class Clipped(nn.Cell):
    def construct(self, x):
        return ops.sqrt(x)

    def bprop(self, x, out, dout):
        return (ops.clip(dout / (2.0 * out), -1.0, 1.0),)


@pytest.mark.parametrize("is_first", [True, False])
def test_a_derivative_of_the_user_s_stands_among_derivatives(is_first):
    clipped = Clipped()

    def f(x):
        y = clipped(ops.sin(x))
        return (y * y).sum()

    if not is_first:  # its graph is kept from there
        ms.grad(f)(X)
    drawing = ms.draw(ms.value_and_grad(f), X)
    (row,) = [row for row in drawing._rows if row.group == "bprop"]
    assert not row.operators[0]
    assert row.operators[1]["clip"] == 1
    assert re.search(r"\|\d+: return \(ops.clip", "|".join(texts(drawing)))
