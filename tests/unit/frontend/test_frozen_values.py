"""Random numbers and clocks that are read while a function is compiled are warned of, at their line."""

import datetime
import logging
import os
import pprint
import random
import secrets
import sys
import textwrap
import time
import uuid
import warnings

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor
from mindgrad.frontend import frozen

X = Tensor([1.0])
GENERATOR = np.random.default_rng(0)
OLD = np.random.RandomState(0)
OWN = random.Random(0)

READ = {
    "np.random.rand()": lambda x: x * np.random.rand(),  # noqa: NPY002
    "np.random.shuffle()": lambda x: np.random.shuffle([1, 2]) or x,  # noqa: NPY002
    "random.random()": lambda x: x * random.random(),
    "random.randint()": lambda x: x * random.randint(1, 3),
    "time.perf_counter()": lambda x: x * time.perf_counter(),
    "time.time()": lambda x: x * time.time(),
    "datetime.now()": lambda x: x * datetime.datetime.now().microsecond,
    "uuid.uuid4()": lambda x: x if uuid.uuid4() else -x,
    "os.urandom()": lambda x: x * os.urandom(1)[0],
    "secrets.randbelow()": lambda x: x * secrets.randbelow(3),
    "Generator.normal()": lambda x: x * GENERATOR.normal(),
    "RandomState.rand()": lambda x: x * OLD.rand(),
    "Random.random()": lambda x: x * OWN.random(),
    "np.random.default_rng()": lambda x: x * np.random.default_rng().normal(),
}


@pytest.mark.parametrize("call", READ)
def test_warned_of_at_the_line(call):
    with pytest.warns(ms.FrozenValueWarning) as caught:
        ms.jit(READ[call])(X)
    (warning,) = caught
    assert str(warning.message).startswith(
        f"{call} is called while a function is compiled. The compiled function stores its value"
    )
    assert warning.filename == __file__
    assert warning.lineno == READ[call].__code__.co_firstlineno


LOGGER = logging.getLogger("of_this_file")
WRITES = {
    "logging.warning()": lambda x: logging.warning("x %s", x) or x,
    "Logger.error()": lambda x: LOGGER.error(f"x {x}") or x,
    "Logger.log()": lambda x: LOGGER.log(logging.ERROR, x) or x,
    "LoggerAdapter.error()": lambda x: logging.LoggerAdapter(LOGGER, {}).error("x") or x,
    "logging.critical()": lambda x: ms.log.critical("x %s", x) or x,
    "sys.stdout.write()": lambda x: (sys.stdout.write(f"{x}"), x)[1],
    "pprint.pprint()": lambda x: pprint.pprint(x) or x,
}


@pytest.mark.parametrize("call", WRITES)
def test_output_that_is_written_once_warns_at_the_line(call):
    with pytest.warns(ms.FrozenValueWarning, match=r"Use print\(\.\.\.\)") as caught:
        ms.jit(WRITES[call])(X)
    (warning,) = caught
    assert str(warning.message).startswith(f"{call} is called while a function is compiled. It writes once")
    assert (warning.filename, warning.lineno) == (__file__, WRITES[call].__code__.co_firstlineno)


def test_output_that_is_written_in_every_call_or_never_does_not_warn(capsys):
    def f(x):
        LOGGER.debug("x %s", x)  # below the level
        print("x", x, file=sys.stderr)
        return x

    with warnings.catch_warnings():
        warnings.simplefilter("error", ms.FrozenValueWarning)
        compiled = ms.jit(f)
        compiled(X), compiled(X), ms.grad(lambda x: logging.warning("x") or x.sum())(X)
    assert capsys.readouterr().err == "x [1.]\nx [1.]\n"


def test_a_warning_in_a_compiled_function_names_its_line():
    def f(x):
        warnings.warn("once", UserWarning, stacklevel=1)
        return x

    with pytest.warns(UserWarning, match="once") as caught:
        ms.jit(f)(X)
    assert caught[0].filename == __file__


def test_what_gives_the_same_in_every_call():
    def seeded(x):
        return (
            x
            * np.random.default_rng(3).normal()
            * random.Random(4).random()
            * np.random.RandomState(5).rand()
        )

    assert np.allclose(ms.jit(seeded)(X), seeded(X))
    assert ms.jit(lambda x: x * ms.ops.rand(1))(X).shape == (1,)


def test_once_per_line():
    @ms.jit
    def f(x):
        for _ in range(3):
            x = x * random.random() + random.random()
        return x

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        f(X)
        f(X)
    assert [each.category for each in caught] == [ms.FrozenValueWarning]


def test_changed_elements_of_a_large_array_warn_once_at_the_call():
    table = np.full(1 << 17, 2.0)
    f = ms.jit(lambda x: x * table[0])
    f(X)
    table[0] = 3.0
    with pytest.warns(ms.FrozenValueWarning, match="the variable 'table' that .* has changed") as caught:
        f(X)  # here
    (warning,) = caught
    with open(__file__) as file:
        assert "# here" in file.readlines()[warning.lineno - 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(9):
            f(X)


def test_changed_elements_of_a_large_array_warn_at_a_later_call():
    table = np.full(1 << 17, 2.0)
    f = ms.jit(lambda x: x * table[0])
    for _ in range(8):  # the next call is the ninth
        f(X)
    table[0] = 3.0
    with pytest.warns(ms.FrozenValueWarning):
        f(X)


def test_changed_function_of_a_library_warns(monkeypatch):
    f = ms.jit(lambda x: ms.ops.exp(x * 0))
    assert f(X).item() == 1.0
    monkeypatch.setattr(ms.ops, "exp", ms.ops.sin)
    with pytest.warns(ms.FrozenValueWarning, match="the function 'exp' of mindgrad.ops has changed"):
        assert f(X).item() == 1.0


def test_unchanged_constants_do_not_warn():
    table = np.full(1 << 17, 2.0)
    f = ms.jit(lambda x: ms.ops.exp(x) * table[0])
    f(X)
    table.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(9):
            f(X)


def test_a_library_that_draws(tmp_path, monkeypatch):
    folder = tmp_path / "site-packages" / "networkx"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(
        textwrap.dedent("""
        import random
        def noise():
            return random.random()
        """)
    )
    monkeypatch.syspath_prepend(str(folder.parent))
    monkeypatch.delitem(__import__("sys").modules, "networkx", raising=False)
    import networkx

    def noisy(x):
        return x * networkx.noise()

    monkeypatch.setattr(frozen, "_is_alone", lambda: True)  # whatever threads run the tests
    with pytest.warns(ms.FrozenValueWarning, match="in a library that '.*noisy' calls"):
        ms.jit(noisy)(X)
