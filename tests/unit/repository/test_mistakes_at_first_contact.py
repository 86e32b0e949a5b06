"""Mistakes that would pass in silence: each is an error or a warning that says what to write."""

import linecache
import re
import subprocess
import sys
import traceback
import warnings

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from mindgrad._base.foreign_calls import note_arguments

X = Tensor([1.0, 2.0])


def square(x):
    return x * x


# --- the class instead of an instance, arguments at other places ---------------------------------------


class Net(nn.Cell):
    def construct(self, x):
        return x * x


@pytest.mark.parametrize(
    "use",
    [
        ms.grad,
        ms.value_and_grad,
        ms.jit,
        ms.vmap,
        ms.jacrev,
        ms.hessian,
        ms.laplacian,
        ms.explain,
        ops.GradOperation(),
        nn.Jvp,
        nn.ForwardValueAndGrad,
        lambda net: ms.jvp(net, X, X),
        lambda net: ms.vjp(net, X),
    ],
)
def test_the_class_of_a_cell(use):
    with pytest.raises(TypeError, match=r"got the class 'Net'. Create an instance: Net\(\.\.\.\)"):
        use(Net)


def test_a_class_whose_objects_are_results_is_a_function():
    pair = ms.vmap(slice)  # a class, of which no object can be called
    assert callable(pair)


def test_weights_are_the_third_argument_everywhere():
    net = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
    weights = net.trainable_params()
    loss = lambda x: (net(x) ** 2).sum()
    vectors = (Tensor([[1.0, 0.0]]), Tensor([1.0]))
    x = Tensor([[1.0, 2.0]])
    by_name = {
        "hessian": (ms.hessian(loss, None, weights=weights), (x,)),
        "hvp": (ms.hvp(loss, None, weights=weights), (x, vectors)),
        "vhp": (ms.vhp(loss, None, weights=weights), (x, vectors)),
    }
    for name, (function, args) in by_name.items():
        third = getattr(ms, name)(loss, None, weights)
        assert third is function
        assert flat(third(*args)) == flat(function(*args))
    # with the flag that stands after them
    aux = lambda x: (loss(x), x.sum())
    assert ms.hessian(aux, None, net.weight, True)(x)[1] == (3.0,)
    for jacobian in (ms.jacrev, ms.jacfwd, ms.jacobian):
        (dw, db), (by_x, (by_w, by_b)) = (jacobian(net, p, weights)(x) for p in (None, 0))
        assert (dw.shape, db.shape, by_x.shape) == ((1, 1, 1, 2), (1, 1, 1), (1, 1, 1, 2))
        assert flat((dw, db)) == flat((by_w, by_b)) == [1.0, 2.0, 1.0]
        assert jacobian(net, None, net.bias)(x).shape == (1, 1, 1)


def flat(tree):
    return [
        float(x)
        for each in tree
        for x in np.ravel(each.asnumpy() if isinstance(each, Tensor) else flat(each))
    ]


NET = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
ROWS = Tensor([[1.0, 2.0]])


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
@pytest.mark.parametrize(
    "differentiate",
    [
        lambda: ms.value_and_grad(lambda params: NET(ROWS).sum())(NET.trainable_params()),
        lambda: ms.grad(lambda params, x: NET(x).sum())({"w": NET.weight}, ROWS),
        lambda: ms.grad(lambda w: NET(ROWS).sum())(NET.weight),
        lambda: ms.jacrev(lambda w: NET(ROWS))(NET.weight),
        lambda: ms.vjp(lambda w: NET(ROWS), NET.weight),
        lambda: ms.jit(ms.grad(lambda w: NET(ROWS).sum()))(NET.weight),
    ],
)
def test_parameters_as_an_unused_argument_warn_at_the_call(mode, differentiate):
    before = ms.get_context("mode")
    ms.set_context(mode=mode)
    try:
        with pytest.warns(ms.ZeroGradientWarning, match=r"Pass the Parameters as weights") as caught:
            differentiate()
    finally:
        ms.set_context(mode=before)
    assert {(each.filename, each.lineno) for each in caught} == {
        (__file__, differentiate.__code__.co_firstlineno)
    }


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
@pytest.mark.parametrize(
    "differentiate",
    [
        lambda: ms.grad(lambda p: ms.functional_call(NET, p, ROWS).sum())({"weight": NET.weight}),
        lambda: ms.grad(lambda p: ms.functional_call(NET, p, ROWS)[0, 0])({"bias": NET.bias}),
        lambda: ms.grad(lambda w: ((w - NET.weight) ** 2).sum())(NET.weight),
        lambda: ms.grad(lambda w: (w, ops.stop_gradient(NET.weight).sum())[0])(NET.weight),
        lambda: ms.grad(lambda x: NET(x).sum(), None, NET.trainable_params())(ROWS),
        lambda: ms.grad(lambda w: ROWS.sum())(NET.weight),
    ],
)
def test_parameters_as_an_argument_do_not_warn_otherwise(mode, differentiate):
    before = ms.get_context("mode")
    ms.set_context(mode=mode)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            differentiate()
    finally:
        ms.set_context(mode=before)


def test_weights_in_the_second_place():
    weights = nn.Dense(2, 1).trainable_params()
    for given in (weights, tuple(weights), weights[0]):
        with pytest.raises(
            TypeError, match=r"weights are the third argument, value_and_grad\(fn, None, weights\)"
        ):
            ms.value_and_grad(square, given)
    with pytest.raises(
        TypeError, match="'laplacian' differentiates with respect to inputs only, so pass them"
    ):
        ms.laplacian(square, weights)


def test_inputs_where_the_function_is_made():
    with pytest.raises(TypeError, match=r"'hvp' returns a function .* hvp\(fn\)\(x, v\)"):
        ms.hvp(square, X, X)
    with pytest.raises(TypeError, match=r"'grad' returns a function .* grad\(fn\)\(x\)"):
        ms.grad(square, X)


def test_options_of_jit():
    with pytest.raises(
        TypeError,
        match=r"unknown option 'static_argnum'. In mindgrad: arguments that are not tensors .* are compile-time constants",
    ):
        ms.jit(square, static_argnum=3)
    with pytest.raises(TypeError, match=r"unknown option 'cache'. There are function, "):
        ms.jit(square, cache=3)
    with pytest.raises(TypeError, match=r"unknown option 'jit_levl'. Did you mean 'jit_level'"):
        ms.jit(jit_levl="O1")
    # those of MindSpore from 1.6 to 2.10
    assert float(ms.jit(square, None, None, None, False)(Tensor(3.0))) == 9.0
    assert float(ms.jit(fn=square, mode="PSJit", jit_level="O1", backend="ms_backend")(Tensor(3.0))) == 9.0
    assert float(ms.jit(function=square, capture_mode="ast", dynamic=0, fullgraph=True)(Tensor(3.0))) == 9.0
    assert float(ms.ms_function(square, obj=None, input_signature=None)(Tensor(3.0))) == 9.0
    assert float(ms.jit(exec_order="bfs", infer_boost="off")(square)(Tensor(3.0))) == 9.0


def test_two_parameters_of_one_name_in_an_optimizer():
    one, other, own = (Parameter(X, name=name) for name in ("p", "p", "q"))
    text = r"two Parameters have the name 'p', at positions 0 and 2 of the Parameters: Parameter \(name=p"
    with pytest.raises(RuntimeError, match=text):
        nn.SGD([one, own, other], 0.1)
    with pytest.raises(
        RuntimeError, match="the Parameter 'p' is given twice, at positions 0 and 1 of the Parameters"
    ):
        nn.Adam([{"params": [one]}, {"params": [one]}], 0.1)

    class Shared(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = self.b = own

    assert len(nn.SGD(Shared().trainable_params(), 0.1).parameters) == 1


# --- what computes, but not what was meant ---------------------------------------------------------------


@pytest.mark.parametrize("loss", [nn.MSELoss(), nn.L1Loss(), nn.MAELoss(), nn.RMSELoss(), ops.mse_loss])
def test_losses_that_compare_every_pair(loss):
    predictions, targets = Tensor(np.ones((4, 1), np.float32)), Tensor(np.ones(4, np.float32))
    with pytest.warns(UserWarning, match=r"\(4, 1\) and \(4,\) are broadcast to \(4, 4\)"):
        loss(predictions, targets)
    for other in (
        predictions,
        targets.reshape(4, 1),
        Tensor(1.0),
        Tensor([1.0]),
        Tensor(np.ones((1, 1), np.float32)),
    ):
        loss(predictions, other)
    loss(predictions.reshape(2, 2), Tensor([1.0, 2.0]))  # one target for every row


class Layers(nn.Cell):
    def __init__(self, container):
        super().__init__()
        self.layers = container([nn.Dense(2, 2), nn.ReLU()])


def test_cells_in_plain_containers():
    for container, use in (
        (list, "CellList"),
        (tuple, "CellList"),
        (lambda x: dict(enumerate(x)), "CellDict"),
    ):
        with pytest.warns(
            UserWarning, match=rf"'layers' of Layers is a \w+ that holds Cells: their 2 .* nn.{use}"
        ):
            assert not Layers(container).trainable_params()
    with pytest.warns(UserWarning, match=r"'0\.layers' of Layers"):
        nn.SequentialCell(Layers(list)).trainable_params()
    # nothing is lost
    assert len(Layers(nn.CellList).trainable_params()) == 2
    net = Layers(nn.CellList)
    net.again = list(net.layers)
    assert len(net.trainable_params()) == 2
    net.plain = [nn.ReLU()]
    assert len(net.trainable_params()) == 2


def test_arrays_given_to_a_compiled_function_are_named():
    def f(x, options):
        return x

    place = rf"of '.*f' \({__file__}:\d+\)"
    for function in (ms.jit(f), ms.jit(ms.grad(f))):
        with pytest.raises(
            TypeError,
            match=rf"can not be a ndarray of <U1 elements.* It is argument 'options', at \['a'\] {place}",
        ):
            function(X, {"a": np.full(2000, "a")})
    with pytest.raises(TypeError, match=rf"argument of type set.* It is argument 'options' {place}"):
        ms.jit(f)(X, {1})


# --- texts --------------------------------------------------------------------------------------------


def test_format_specifications_apply_to_elements(capsys):
    x = Tensor([1.0, 2.5])
    assert f"{x:.3f}" == "[1.000 2.500]"
    assert f"{Tensor([[1, 2], [3, 4]]):>3d}" == "[[  1   2]\n [  3   4]]"
    assert f"{Tensor(2.0):.1f} {Tensor([[2.0]]):.1f} {x}" == "2.0 2.0 [1.  2.5]"
    with pytest.raises(ValueError, match="format"):
        f"{x:q}"

    @ms.jit
    def shown(x):
        print(f"{x:.2f} {x.sum():.1f}")
        return x

    shown(x)
    assert capsys.readouterr().out == "[1.00 2.50] 3.5\n"


def test_numpy_knows_the_element_types():
    assert np.dtype(ms.float32) == np.float32
    assert np.zeros(3, ms.int16).dtype == np.int16
    assert np.array([1.5], ms.bfloat16).dtype == ms.bfloat16.numpy


def test_tools_are_reachable():
    code = "import mindgrad as ms; print(ms.tools.profile.measure.__name__, 'tools' in dir(ms))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "measure True\n"


def test_the_check_names_both_versions(capsys):
    ms.run_check()
    assert re.match(r"mindgrad version: 0\.1\.0( \(as MindSpore 2\.9\.0\))?\n", capsys.readouterr().out)
    code = "import mindgrad; mindgrad.install(); import mindspore; mindspore.run_check()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("mindgrad version: 0.1.0 (as MindSpore 2.9.0)\n")


@pytest.mark.parametrize("flag", [1, "True", 0.0])
def test_synchronizing_takes_a_truth_value(flag):
    with pytest.raises(TypeError, match="'pynative_synchronize' must be a bool"):
        ms.set_context(pynative_synchronize=flag)
    assert ms.get_context("pynative_synchronize") is False


def test_dir_of_the_package_shows_public_names_only():
    shown = [name for name in dir(ms) if not name.startswith("__")]
    assert sorted(ms.__all__) == shown
    assert {"Tensor", "nn", "ops", "tools", "vmap"} <= set(shown)
    assert not {"core", "frontend", "distributed", "eager", "cli"} & set(shown)


# --- arguments of operators under the names of others ---------------------------------------------------

KEYWORDS = {
    "lower=..., which means the opposite": lambda x: ops.solve_triangular(x, x, upper=False),
    "upper=..., which means the opposite": lambda x: ops.cholesky(x, lower=True),
    "In mindgrad: keepdim=...": lambda x: ops.sum(x, dim=0, keepdims=True),
    "In mindgrad: axis=...": lambda x: x.softmax(dims=0),
    "Nearest: 'full_matrices'": lambda x: ops.svd(
        x,
        full_matrics=False,
    ),
    "There are input": lambda x: ops.softmax(x, anything=0),
}


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
@pytest.mark.parametrize("note", KEYWORDS)
def test_an_operator_names_the_argument_that_is_meant(note, mode):
    ms.set_context(mode=mode)
    with pytest.raises(TypeError, match="unexpected keyword argument") as caught:
        ms.grad(KEYWORDS[note])(X)
    assert len(caught.value.__notes__) == 1
    assert note in caught.value.__notes__[0]


def test_functions_of_the_program_are_left_alone():
    def softmax(x):
        return x

    with pytest.raises(TypeError, match="unexpected keyword argument") as caught:
        ms.grad(lambda x: softmax(x, anything=0))(X)
    with pytest.raises(TypeError, match="unexpected keyword argument") as caught:
        ms.grad(lambda x: softmax(x, axis=0))(X)
    assert not hasattr(caught.value, "__notes__")


@pytest.mark.parametrize(
    ("call", "note"),
    [
        ("ops.mean(x, axis=0, keepdims=True)", "  In mindgrad: keep_dims=..."),
        ("ops.sum(x, axis=0)", "  In mindgrad: dim=..."),
        ("mint.mean(x, axis=0)", "  In mindgrad: dim=..."),
        ("ms.numpy.mean(x, dim=0)", "  In mindgrad: axis=..."),
        ("ops.add(x1=x, x2=x)", "  In mindgrad: input=..."),
        ("ops.pad(x, pad_width=1)", "  In mindgrad: padding=..."),
        ("x.mean(keep=True)", "  Nearest: 'keepdims'."),
        ("ops.sum(x, out=x)", "  In mindgrad: the result is a new tensor: leave it out."),
        ("ops.uniform((2,))", "  In mindgrad: ops.rand(2, 3) for numbers between 0 and 1, or ops.uniform"),
        ("ops.normal(key, (2,))", "  In mindgrad: ops.randn(2, 3), or ops.normal(shape, mean, stddev)."),
        ("own(x, axis=0)", "TypeError: own() got an unexpected keyword argument 'axis'"),
    ],
)
def test_launcher_names_the_replacement_of_a_foreign_keyword(call, note):
    names = {"ms": ms, "ops": ops, "mint": ms.mint, "x": X, "key": X}
    source = f"def own(x):\n    pass\n{call}\n"
    linecache.cache["<script>"] = (len(source), None, source.splitlines(keepends=True), "<script>")
    try:
        exec(compile(source, "<script>", "exec"), names)
    except TypeError as error:
        note_arguments(error, at_top=True)
        shown = traceback.format_exception_only(error)
    assert shown[-1].startswith(note)


def test_pad_raises_on_pairs_of_numpy_and_shows_the_flat_tuple():
    with pytest.raises(TypeError, match=r"is \(\(1, 1\), \(2, 3\)\), one pair .* Write \(2, 3, 1, 1\)\."):
        ops.pad(X, ((1, 1), (2, 3)))
    with pytest.raises(TypeError, match=r"one pair for each axis .* Write \(before_last, "):
        ops.pad(X, ((1, 1), 2))


def test_the_launcher_names_the_argument_of_a_call_at_the_top_of_a_script(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("from mindgrad import Tensor, ops\nops.sum(Tensor([1.0]), keepdims=True)\n")
    ended = subprocess.run([sys.executable, "-m", "mindgrad", script], capture_output=True, text=True)
    proposed = r"(\. Did you mean 'keepdim'\?)?"  # by Python 3.13
    assert re.search(rf"argument 'keepdims'{proposed}\n  In mindgrad: keepdim=\.\.\.\n\Z", ended.stderr)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Tensor([[1.0]]),
        lambda: ms.Parameter(Tensor([[1.0]]), name="w"),
        lambda: nn.Dense(2, 1),
        lambda: nn.Adam(nn.Dense(2, 1).trainable_params()),
        lambda: ops.custom_vjp(lambda x: x),
        lambda: ms,
        lambda: ops,
    ],
    ids=["Tensor", "Parameter", "Cell", "optimizer", "custom_vjp", "mindgrad", "ops"],
)
def test_dir_lists_only_attributes_that_exist(make):
    owner = make()
    assert [name for name in dir(owner) if not hasattr(owner, name)] == []


@pytest.mark.parametrize("wrap", [lambda f: f, ms.jit], ids=["eager", "compiled"])
def test_a_new_attribute_of_a_tensor_raises_with_its_name(wrap):
    def named(x: Tensor) -> Tensor:
        x.my_name = 3
        return x

    with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'my_name'"):
        wrap(named)(Tensor([1.0]))


def test_dir_lists_attributes_that_a_program_has_set():
    parameter = ms.Parameter(Tensor([1.0]), name="w")
    assert "grad" not in dir(parameter)
    parameter.grad = Tensor([2.0])
    assert "grad" in dir(parameter)
    assert {"asnumpy", "shape", "sum"} <= set(dir(parameter))


@pytest.mark.parametrize(
    ("owner", "name", "advice"),
    [
        (lambda: ms, "autocast", "ms.amp.auto_mixed_precision"),
        (lambda: ms.amp, "GradScaler", "ms.amp.DynamicLossScaler"),
        (lambda: ms, "func", "ms.functional_call"),
        (lambda: ms, "compile", r"ms\.jit\(fn\)"),
        (lambda: ms, "tree_util", "ms.tree_map"),
        (lambda: ms, "flatten_util", "ms.ravel_pytree"),
        (lambda: ms, "io_callback", "ms.pure_callback"),
        (lambda: ops, "clip_grad_norm_", "ops.clip_by_global_norm"),
        (lambda: nn, "DataParallel", "data_parallel"),
        (lambda: Tensor([1.0]), "is_cuda", "ms.set_device"),
        (lambda: Tensor([1.0]), "sharding", "ms.shard"),
        (lambda: nn.Dense(1, 1), "register_full_backward_hook", "register_backward_hook"),
        (lambda: nn.Adam(nn.Dense(1, 1).trainable_params()), "add_param_group", "'params' and 'lr'"),
    ],
)
def test_names_of_other_frameworks_say_what_to_use(owner, name, advice):
    with pytest.raises(AttributeError, match=rf"has no attribute '{name}'.*[Ii]n mindgrad: .*{advice}"):
        getattr(owner(), name)
