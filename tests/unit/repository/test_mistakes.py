"""Mistakes end at the user's own line and column, and say what is wrong and what to write instead."""

import linecache
import operator
import re
import traceback
import types
import warnings

import pytest

import mindgrad as ms
from mindgrad._base import foreign_names
from mindgrad.core.base.refusal import trim
from tests.unit.mistakes_of_users import MISTAKES, PRELUDE, WARNINGS

MODES = {"eager": ms.PYNATIVE_MODE, "compiled": ms.GRAPH_MODE}


@pytest.fixture(params=MODES)
def mode(request):
    before = ms.get_context("mode")
    ms.set_context(mode=MODES[request.param])
    yield request.param
    ms.set_context(mode=before)


def run(mistake, mode):
    """Run the program of a mistake, as if it stood in the file whose name is returned."""
    file = f"/mistakes/{re.sub(r'[^a-z]+', '_', mistake.title.lower())}_{mode}.py"
    text = (PRELUDE + mistake.program).replace("«", "").replace("»", "")
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), {"__name__": "mistakes"})
    return file


def marked(mistake):
    """The line at which the error is to end, and the part of it that is underlined."""
    elsewhere = re.search(r"^#@ (.*)$", mistake.program, re.M)
    (line,) = [elsewhere[1]] if elsewhere else [x for x in mistake.program.splitlines() if "«" in x]
    return line.strip().replace("«", "").replace("»", ""), re.search("«(.*)»", line)[1]


@pytest.mark.parametrize("mistake", MISTAKES, ids=[x.title for x in MISTAKES])
def test_an_error_is_the_user_s_own_line(mistake, mode):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(Exception) as caught:  # noqa: PT011 - each has its own
            run(mistake, mode)
    trim(caught.value)  # as the command ``mindgrad`` does; a direct call of an operator keeps all frames
    frames = traceback.extract_tb(caught.value.__traceback__)
    last = frames[-1]
    assert last.filename.startswith("/mistakes/")
    line, part = marked(mistake)
    assert last.line == line
    text = linecache.getline(last.filename, last.lineno)
    assert (last.lineno, text[last.colno : last.end_colno]) == (last.end_lineno, part)
    # of this file the call, of the program its own lines
    assert {frame.filename for frame in frames} == {__file__, last.filename}
    message = "".join(traceback.format_exception_only(caught.value))
    for words in mistake.says:
        assert re.search(words, message), message


@pytest.mark.parametrize("mistake", WARNINGS, ids=[x.title for x in WARNINGS])
def test_what_is_almost_always_a_mistake_is_warned_of(mistake, mode):
    with pytest.warns(UserWarning, match=mistake.says[0]) as caught:
        file = run(mistake, mode)
    (warning,) = caught
    assert warning.filename == file
    assert linecache.getline(file, warning.lineno).endswith("# <\n")


def test_the_mistakes_are_many():
    assert len({x.title for x in MISTAKES}) == len(MISTAKES) >= 60


# -- names of other frameworks -----------------------------------------------------------------------


def test_tensors_do_not_have_the_names_that_they_explain():
    x = ms.Tensor([1.0])
    assert not any(hasattr(x, name) for name in foreign_names.TENSORS)
    parameter = ms.Parameter(x)
    assert parameter.requires_grad
    parameter.grad = x  # an attribute of the program's own
    assert parameter.grad is x
    for name in foreign_names.TENSORS:
        with pytest.raises(AttributeError, match="In mindgrad"):
            setattr(x, name, True)


@pytest.mark.parametrize("device", ["cuda", "cuda:0", "cpu", "GPU"])
def test_conversion_to_a_device_names_set_device(device):
    with pytest.raises(TypeError, match=r"In mindgrad: ms\.set_device"):
        ms.Tensor([1.0]).to(device)


@pytest.mark.parametrize(
    "name", ["associative_scan", "constant", "debug", "eval_shape", "function", "linear_transpose"]
)
def test_names_of_jax_and_tensorflow_have_a_hint(name):
    with pytest.raises(AttributeError, match="In mindgrad: "):
        getattr(ms, name)


def test_the_names_that_take_the_place_are_there():
    """What the table tells to write is written as it is: names of modules, and those of Cells."""
    net = ms.nn.Dense(2, 2)
    namespace = types.SimpleNamespace(ms=ms, nn=ms.nn, ops=ms.ops, mint=ms.mint)
    texts = [*foreign_names.MODULES.values(), *foreign_names.TENSORS.values(), *foreign_names.CELLS.values()]
    for text in texts:
        for module, name in re.findall(r"\b(ms|nn|ops|mint\.nn)\.([A-Za-z_]\w*)", text):
            owner = operator.attrgetter(module)(namespace)
            assert hasattr(owner, name), f"{module}.{name}"
        for name in re.findall(r"\bnet\.(?!ckpt)(\w+)\b(?! =)", text):
            assert hasattr(net, name), name


def test_keywords_of_functions_that_say_so_stay_as_they_are():
    f = lambda a: a * a
    assert float(ms.grad(fn=f, grad_position=0)(ms.Tensor(3.0))) == 6.0
    with pytest.raises(TypeError, match="unexpected keyword argument 'has_auxx'; nearest: 'has_aux'"):
        ms.grad(f, has_auxx=True)
    with pytest.raises(
        TypeError, match="unexpected keyword argument 'anything'; there are fn, in_axes, out_axes"
    ):
        ms.vmap(f, anything=1)
    with pytest.raises(
        TypeError, match=r"unexpected keyword argument 'betas'. In mindgrad: beta1=... and beta2=..."
    ):
        ms.nn.Adam([ms.Parameter(ms.Tensor([1.0]), name="p")], betas=(0.9, 0.99))


def test_a_cell_that_takes_any_argument():
    class Any(ms.nn.Cell):
        def __init__(self, **options):
            super().__init__()
            self.options = options

    assert Any(lr=3).options == {"lr": 3}

    class Own(ms.nn.Cell):
        def __init__(self, lr):
            super().__init__()
            self.rate = lr

    assert Own(lr=3).rate == 3
