"""What is loaded with the package and what only when it is asked for, and that nobody need know which."""

import subprocess
import sys

import pytest

import mindgrad
from mindgrad import train

LATER = ["nn", "train", "dataset", "numpy", "scipy", "amp", "log", "communication", "ops.operations"]


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_eager_gradient_loads_none_of_what_it_does_not_use():
    loaded = run(
        "import sys, mindgrad as ms\n"
        "from mindgrad import Parameter, Tensor, ops\n"
        "w = Parameter(Tensor([1.0, 2.0]), name='w')\n"
        "f = lambda x: ops.sum(ops.sin(x) * x.reshape(2, 1) * w)\n"
        "ms.value_and_grad(ms.grad(f), 0, None)(Tensor([1.0, 2.0]))\n"
        "ms.jvp(f, Tensor([1.0, 2.0]), Tensor([1.0, 2.0])); ops.vjp(f, Tensor([1.0, 2.0]))[1](Tensor(1.0))\n"
        "print(*sys.modules)"
    ).split()
    assert "mindgrad.ops.functional" in loaded
    assert [package for package in LATER if f"mindgrad.{package}" in loaded] == []
    assert {"logging", "json", "pathlib"} & set(loaded) == set(run("import sys, numpy; print(*sys.modules)").split()) & {"logging", "json", "pathlib"}  # fmt: skip


@pytest.mark.parametrize(
    "program",
    [
        "import mindgrad; print(mindgrad.nn.Dense)",
        "from mindgrad import nn; print(nn.Dense)",
        "import mindgrad.nn; print(mindgrad.nn.Dense)",
        "from mindgrad.nn import Dense; import mindgrad; assert mindgrad.nn.Dense is Dense; print(Dense)",
        "from mindgrad import *; print(nn.Dense)",
        "import mindgrad; mindgrad.install(); import mindspore as ms; print(ms.nn.Dense)",
        "import mindgrad; mindgrad.install(); from mindspore.nn import Dense; print(Dense)",
        "import mindgrad; mindgrad.install(); import mindspore.nn.layer.basic as basic; print(basic.Dense)",
    ],
)
def test_a_package_is_there_however_it_is_asked_for(program):
    assert "mindgrad.nn.layer.basic.Dense" in run(program)


@pytest.mark.parametrize(
    "program",
    [
        "from mindgrad import Model; print(Model)",
        "from mindgrad.train import Model; print(Model)",
        "import mindgrad; print(mindgrad.Model); assert 'Model' in vars(mindgrad)",
        "import mindgrad; mindgrad.install(); import mindspore as ms; print(ms.Model)",
        "import mindgrad; mindgrad.install(); from mindspore import Model; print(Model)",
        "from mindgrad import *; print(Model)",
    ],
)
def test_a_name_is_there_however_it_is_asked_for(program):
    assert "mindgrad.train.model.Model" in run(program)


@pytest.mark.parametrize(
    "program",
    [
        "from mindgrad import ops; print(ops.MatMul)",
        "from mindgrad.ops import MatMul; print(MatMul)",
        "from mindgrad.ops import *; print(MatMul)",
        "import mindgrad.ops.operations as P; from mindgrad.ops import MatMul; print(P.MatMul)",
        "import mindgrad; assert 'MatMul' in dir(mindgrad.ops); print(mindgrad.ops.MatMul)",
    ],
)
def test_a_class_of_an_operator_is_there_however_it_is_asked_for(program):
    assert "mindgrad.ops.operations.MatMul" in run(program)


def test_a_module_is_made_once_whatever_its_name():
    assert run(
        "import sys, mindgrad; mindgrad.install()\n"
        "import mindspore.scipy.optimize, mindspore.train.metrics, mindspore.nn.loss.loss, mindspore.numpy\n"
        "for name, module in list(sys.modules.items()):\n"
        "    if name.startswith('mindspore.'):\n"
        "        assert module is sys.modules[name.replace('mindspore', 'mindgrad', 1)], name\n"
        "print('once')"
    )


def test_dir_names_what_is_not_loaded():
    shown = run("import mindgrad; print(*dir(mindgrad))").split()
    assert {"nn", "Model", "odeint", "Tensor", "ops"} <= set(shown)


def test_a_missing_name_is_looked_for_in_what_is_not_loaded():
    said = run("import mindgrad\ntry: mindgrad.ops.Dropout2dd\nexcept AttributeError as error: print(error)")
    assert "'Dropout2D'" in said
    said = run(
        "import mindgrad\ntry: mindgrad.context.LossMonitor\nexcept AttributeError as error: print(error)"
    )
    assert "write mindgrad.LossMonitor or mindgrad.train.LossMonitor" in said
    said = run("import mindgrad.train\ntry: mindgrad.nn.Jpv\nexcept AttributeError as error: print(error)")
    assert "nearest: 'Jvp'" in said


def test_names_of_train_are_those_of_the_package():
    assert sorted(mindgrad._NAMES["mindgrad.train"]) == sorted(train.__all__)
