"""A second process runs programs that the first one stored: operators that call a library, the guide, examples."""

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from mindgrad import Tensor, ops
from mindgrad.core.backend import custom_calls, disk, xla
from mindgrad.core.backend.executable import GraphProgram
from mindgrad.core.backend.graph_digest import digest
from mindgrad.core.backend.jax_import import jax_module
from mindgrad.core.ir.build import is_tainted
from mindgrad.core.ir.graph import Equation, Graph, Variable
from mindgrad.core.ir.primitive import REGISTRY
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.primitives.kinds import elementwise
from mindgrad.core.primitives.samples import reals
from mindgrad.frontend.programs.compiled import trace
from tests.tolerances import assert_close
from tests.unit.core.test_disk import place, stored  # noqa: F401

pytestmark = pytest.mark.xla

ROOT = Path(__file__).parents[3]
GUIDE = ROOT / "tests" / "programs" / "guide"

#: the programs of operators that both processes run, and the digest of a program's results
COMMON = textwrap.dedent(
    """
    import hashlib, json, os, sys
    import numpy as np
    import mindgrad as ms
    from mindgrad.core.backend import custom_calls, disk, xla
    from mindgrad.core.ir.build import Builder, building
    from mindgrad.core.ir.dtype import as_dtype
    from mindgrad.core.ir.primitive import REGISTRY
    from mindgrad.core.ir.types import tensor_type
    from mindgrad.core.primitives.samples import draw

    def program(cases):
        operands, outputs, builder = [], [], Builder()
        with building(builder):
            for name, dtype in cases:
                arrays, parameters = next(draw(REGISTRY[name], as_dtype(dtype)))
                inputs = [builder.input(tensor_type(x.dtype.name, x.shape)) for x in arrays]
                result = REGISTRY[name](*inputs, **parameters)
                outputs.extend(result if REGISTRY[name].multiple else [result])
                operands.extend(arrays)
        return builder.close(outputs), operands

    def results(graph, arrays):
        executable = xla.compile_ahead(graph)
        found = executable.run([xla.to_device(x) for x in arrays], [], executable.extra)
        return hashlib.sha256(b"".join(np.asarray(x).tobytes() for x in found)).hexdigest()

    def refuse(*_):
        raise AssertionError("compiled, not loaded")
    """
)

#: finds the operators whose lowering has custom calls, and stores their programs, and one of all operators
WRITER = COMMON + textwrap.dedent(
    """
    def is_accepted(*case):
        try:
            program([case])
        except TypeError:
            return False
        return True

    found, every = [], []
    for name, row in REGISTRY.items():
        if row.samples and not (row.effects.observable or row.communicates):
            cases = [(name, dtype) for dtype in ("float32", "complex128", "int32", "bool") if is_accepted(name, dtype)]
            every.append(cases[0])
            if custom_calls.targets_of(xla.lower_ahead(program(cases[:1])[0])):
                found.append((cases[:1], results(*program(cases[:1]))))
    print(json.dumps([*found, (every, results(*program(every)))]))
    """
)

#: loads each program in a process of its own; jax is imported, and its runtime not started, before it forks
READER = COMMON + textwrap.dedent(
    """
    from mindgrad.core.backend import jax_import

    jax_import.jax_module("jax.experimental.serialize_executable")
    jax_import._is_loaded = False  # a child may use jax
    disk.compiled_with = refuse
    for cases, expected in json.load(sys.stdin):
        child = os.fork()
        if not child:
            try:
                os._exit(0 if results(*program(cases)) == expected else 2)
            except BaseException as error:
                print(error, flush=True)
                os._exit(1)
        print(*cases[0], len(cases), os.waitpid(child, 0)[1])
    """
)

#: runs the guide in GRAPH_MODE; its last line is the number of programs that were compiled
GUIDE_PROGRAM = textwrap.dedent(
    """
    import runpy, sys
    import mindgrad as ms
    from mindgrad import cli
    from mindgrad.core.backend import disk

    cli.install()
    count, compile_ = [], disk.compiled_with
    disk.compiled_with = lambda *args: count.append(1) or compile_(*args)
    for file in sys.argv[1:]:
        ms.set_context(mode=ms.GRAPH_MODE)
        runpy.run_path(file, run_name="__main__")
    print(len(count))
    """
)


def output(code, *arguments, given=""):
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        input=given, capture_output=True, text=True, timeout=100, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_operators_with_custom_calls_run_in_a_second_process(place):  # noqa: F811
    given = output(WRITER)
    programs = json.loads(given)
    names = {cases[0][0] for cases, _ in programs[:-1]}
    assert {"cholesky", "solve", "eigh", "svd", "qr", "eig"} <= names
    assert len(programs[-1][0]) >= 140, "nearly all operators"
    lines = output(READER, given=given).splitlines()
    assert len(lines) == len(programs)
    assert [line for line in lines if not line.endswith(" 0")] == []


def test_guide_programs_run_in_a_second_process(place):  # noqa: F811
    files = sorted(GUIDE.glob("*.py"))
    first, second = [output(GUIDE_PROGRAM, *files).splitlines() for _ in range(2)]
    assert second[:-1] == first[:-1]
    assert int(first[-1]) > 10
    assert second[-1] == "0"


def test_examples_of_a_page_run_in_a_second_process():
    """Of all pages and docstrings the nightly workflow."""
    command = [sys.executable, ROOT / "scripts" / "examples_twice.py", "docs/graph_mode.md"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert done.stdout.endswith(" in the first process, 0 in the second\n")


def graph_of(name):
    type_ = tensor_type("float32", (3, 3))
    x, primitive = Variable(type_), REGISTRY[name]
    y = Variable(type_, tainted=is_tainted(primitive, (x,), {}))
    return Graph((x,), [Equation(primitive, (x,), {}, (y,))], (y,))


def run(graph):
    return np.asarray(
        xla.compile_ahead(graph).run([xla.to_device(2 * np.eye(3, dtype=np.float32))], [], [])[0]
    )


@pytest.fixture
def compiled(monkeypatch):
    """The programs that are compiled, while no target has been lowered."""
    programs, compile_ = [], disk.compiled_with
    monkeypatch.setattr(disk, "compiled_with", lambda *args: programs.append(1) or compile_(*args))
    monkeypatch.setattr(custom_calls, "_prepared", set())
    return programs


def test_custom_calls_are_prepared_once(place, compiled, monkeypatch):  # noqa: F811
    graph, lowered = graph_of("cholesky"), []
    run(graph)
    of_equation = custom_calls._targets_of_equation
    monkeypatch.setattr(
        custom_calls, "_targets_of_equation", lambda x: lowered.append(x.primitive.name) or of_equation(x)
    )
    for _ in range(2):
        assert_close(run(graph), np.sqrt(2) * np.eye(3))
    assert len(compiled) == 1
    assert lowered == ["cholesky"]
    assert custom_calls._prepared == {("cpu", "lapack_spotrf_ffi")}


def test_program_is_compiled_if_its_target_is_not_lowered(place, compiled, monkeypatch):  # noqa: F811
    graph = graph_of("cholesky")
    run(graph)
    monkeypatch.setattr(custom_calls, "_targets_of_equation", lambda equation: {"of a later jax"})
    assert_close(run(graph), np.sqrt(2) * np.eye(3))
    assert len(compiled) == 2


def test_program_is_not_stored_if_no_equation_names_its_target(place, compiled, monkeypatch):  # noqa: F811
    real = custom_calls.targets_of
    monkeypatch.setattr(custom_calls, "targets_of", lambda lowered: real(lowered) | {"of the whole program"})
    monkeypatch.setattr(custom_calls, "_targets_of_equation", lambda equation: {"lapack_spotrf_ffi"})
    run(graph_of("cholesky"))
    run(graph_of("cholesky"))
    assert len(compiled) == 2
    assert stored(place) == []


def test_program_is_not_stored_if_its_targets_cannot_be_read(place, compiled, monkeypatch):  # noqa: F811
    def unreadable(lowered):
        raise AttributeError("compiler_ir")

    monkeypatch.setattr(custom_calls, "targets_of", unreadable)
    run(graph_of("cholesky"))
    run(graph_of("sin"))
    assert len(compiled) == 2
    assert stored(place) == []


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b"[[1], [99]]", b'[["a"], "b"]', b"\x80\x04"])
def test_description_that_is_damaged_prepares_nothing(text, monkeypatch):
    monkeypatch.setattr(custom_calls, "_prepared", set())
    assert not custom_calls.is_prepared(text, graph_of("cholesky"), "cpu")


def test_operator_of_the_user_with_a_callback_is_compiled_in_each_process(place, compiled):  # noqa: F811
    def xla_of_user(jax, x):
        return jax.pure_callback(
            lambda value: np.asarray(value) + 1, jax.ShapeDtypeStruct(x.shape, x.dtype), x
        )

    elementwise(
        "callback_of_user", numpy=lambda x: x + 1, xla=xla_of_user, partials=lambda y, x: [x], samples=reals()
    )
    try:
        graph = graph_of("callback_of_user")
        assert digest(GraphProgram(graph, (), ())) is None
        for _ in range(2):
            np.testing.assert_array_equal(run(graph), 2 * np.eye(3) + 1)
    finally:
        del REGISTRY["callback_of_user"]
    assert len(compiled) == 2
    assert stored(place) == []


def test_custom_calls_of_loops_and_branches_are_prepared(monkeypatch):
    def function(x):
        while x.sum() < 100.0:
            x = ops.cholesky(ops.matmul(x, x.T)) * 3.0 + x
        if x[0, 0] > 0.0:
            return ops.eigvalsh(x).sum()
        return ops.inverse(x).sum()

    graph = trace(function, Tensor(np.eye(3, dtype=np.float32)))
    description = custom_calls.described(xla.lower_ahead(graph), graph)
    monkeypatch.setattr(custom_calls, "_prepared", set())
    assert custom_calls.is_prepared(description, graph, "cpu")
    targets = {target for _, target in custom_calls._prepared}
    assert targets >= {"lapack_spotrf_ffi", "lapack_ssyevd_ffi", "lapack_sgetrf_ffi"}


def test_targets_are_read_from_inner_programs():
    jax = jax_module()

    def loop(x):
        return jax.lax.fori_loop(0, 3, lambda _, y: jax.numpy.linalg.cholesky(y), x)

    lowered = jax.jit(loop).lower(jax.ShapeDtypeStruct((2, 2), np.float32))
    assert custom_calls.targets_of(lowered) == {"lapack_spotrf_ffi"}
