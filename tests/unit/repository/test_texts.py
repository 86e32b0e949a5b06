"""Texts, types and keys of what a tensor decides: right, or refused."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor

TEXTS = {
    "str": lambda k: str(k) == "2",
    "repr": lambda k: repr(k) == "2",
    "f-string": lambda k: f"{k}" == "2",
    "f-string with more": lambda k: f"k{k:>3}" in ["k  2"],
    "format": lambda k: format(k, "d") == "2",
    "format method": lambda k: "{}".format(k) == "2",  # noqa: UP032
    "percent": lambda k: "%s" % k == "2",
    "percent of a variable": lambda k, text="%s": text % k == "2",
    "join": lambda k: ",".join([str(k), "a"]) == "2,a",
    "of a list": lambda k: str([k]) == "[2]",
    "joined by +": lambda k: "a" + str(k) == "a2",
    "length": lambda k: len(f"{k}") == 1,
    "key": lambda k: {"k2": True}.get(f"k{k}", False),
    "item": lambda k: {"k2": True, "k1": False}[f"k{k}"],
    "contained": lambda k: "2" in f"k{k}",
    "attribute": lambda k: getattr(type("C", (), {"a2": True}), f"a{k}", False),
    "method": lambda k: str(k).startswith("2"),
    "number": lambda k: int(str(k)) == 2,
    "comprehension": lambda k: "p2" in [f"p{k}" for _ in range(2)],
    "generator": lambda k: "p2" in list(_texts(k)),
    "repeated text": lambda k: "a" * k == "aa",
    "repeated list": lambda k: len([0] * k) == 2,
    "key of a dict": lambda k: {1: False, 2: True}.get(k, False),
    "keys of a dict": lambda k: len({k: 1, 2: 2}) == 1,
    "item of a set": lambda k: len({k, 2}) == 1,
    "hash": lambda k: hash(k) == 2,
}


def _texts(k):
    yield f"p{k}"


@pytest.mark.parametrize("kind", TEXTS)
def test_what_a_tensor_decides_is_not_read_as_text(kind):
    def read(x):
        k = 1
        if x.sum() > 0:
            k = 2
        return x * (10 if TEXTS[kind](k) else 1)

    with pytest.raises(ms.CompileError, match="Instead: "):
        ms.jit(read)(Tensor([1.0, 2.0]))


def test_such_a_text_leaves_no_program():
    with pytest.raises(ms.CompileError, match="A result is a string"):
        ms.jit(lambda x: f"{x.sum()}")(Tensor([1.0]))

    class Holder:
        text = ""

    held = Holder()

    @ms.jit
    def kept(x):
        held.text = f"{x}"
        return x

    with pytest.raises(ms.CompileError, match="'text' of Holder is a string"):
        kept(Tensor([1.0]))


def test_such_a_text_is_put_together_and_printed(capfd):
    @ms.jit
    def shown(x):
        k = 1
        if x.sum() > 0:
            k = 2
        text = "k is " + f"{k:>3}|{x.sum():.2f}" + " %s" % k + "; "
        text += ", ".join([str(k), "a"])
        print(text, k)
        return x * k

    shown(Tensor([1.0, 2.0])).asnumpy()
    assert capfd.readouterr().out == "k is   2|3.00 2; 2, a 2\n"


def test_texts_of_what_is_known_are_texts():
    @ms.jit
    def named(x):
        n = 3
        table = {f"n{n}": 2.0, "%d" % n: 3.0}
        return x * table["n3"] * table[str(n)] * len(f"{n}abc{n!r:>5}")

    np.testing.assert_array_equal(named(Tensor([1.0])).asnumpy(), [54.0])


def test_types_of_numbers():
    def typed(x):
        k, f = 1, 1.5
        if x.sum() > 0:
            k, f = 2, 2.5
        right = type(k) is int and type(f) is float and isinstance(k, int) and not isinstance(k, Tensor)
        return x * k if right else x * f

    for x in ([1.0], [-1.0]):
        expected = typed(Tensor(x)).asnumpy()
        np.testing.assert_array_equal(ms.jit(typed)(Tensor(x)).asnumpy(), expected)
