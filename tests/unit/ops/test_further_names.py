"""Names that programs import besides layers and operators: one process, versions, helpers, refusals."""

import itertools
import subprocess
import sys

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from mindgrad.communication import comm_func
from mindgrad.train import _utils, model
from mindgrad.train.callback import Callback
from tests.unit.derivative_checks import check

X = np.random.default_rng(2).normal(size=(3, 4))


@pytest.mark.parametrize(
    "collective",
    [
        ops.AllReduce(), ops.AllReduce(ops.ReduceOp.MAX), ops.AllGather(), ops.ReduceScatter("sum"),
        ops.Broadcast(0), ops.Reduce(0), ops.CollectiveGather(0), ops.CollectiveScatter(),
        ops.AlltoAll(1, 0, 1), lambda x: comm_func.all_reduce(x)[0], comm_func.broadcast,
        lambda x: comm_func.all_gather_into_tensor(x)[0], lambda x: comm_func.reduce(x, 0, "max"),
        lambda x: ops.AlltoAllV()(x, [3], [3]), lambda x: ops.AlltoAllVC()(x, [[3]]),
        lambda x: ops.AllGatherV()(x, [3]), lambda x: ops.ReduceScatterV()(x, [3]),
        lambda x: ops.NeighborExchange([0], [0], ([3, 4],), ([3, 4],), x.dtype)((x,))[0],
        lambda x: comm_func.all_to_all_with_output_shape([(3, 4)], [x])[0][0],
        lambda x: comm_func.all_to_all_single_with_output_shape((3, 4), x)[0],
    ],
)  # fmt: skip
def test_collectives_of_one_process_are_the_identity(collective):
    check(collective, lambda x: x, X)


def test_collectives_compiled():
    step = ms.jit(lambda x: ops.AllReduce()(ops.AllGather()(x) ** 2))
    np.testing.assert_allclose(ms.grad(step)(Tensor(X)).asnumpy(), 2 * X)
    (one,) = ops.Broadcast(0)((Tensor(X),))
    np.testing.assert_array_equal(one.asnumpy(), X)
    assert ops.Barrier()() is comm_func.barrier() is None


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (lambda: ops.AllReduce("mean")(Tensor(X)), ValueError, "must be one of sum, max, min, prod, avg"),
        (
            lambda: ops.Broadcast(1)(Tensor(X)),
            ValueError,
            "must be a rank of the process group, one of .0., but got 1",
        ),
        (lambda: ops.AlltoAll(2, 0, 0)(Tensor(X)), ValueError, "'split_count' must be 1"),
        (lambda: ops.AllGather()(Tensor(1.0)), ValueError, "must have an axis to join along"),
        (lambda: ops.Send(0, 1), ValueError, "must be another rank"),
        (lambda: ops.AlltoAllV()(Tensor(X), [2], [2]), ValueError, "must sum to the 3 elements of the first"),
        (lambda: ops.AlltoAllV()(Tensor(X), [3], [2]), ValueError, r"sends .3. to itself, but receives .2."),
        (lambda: ops.AlltoAllV()(Tensor(X), [1, 2], [3]), ValueError, "must have 1 elements, but got 2"),
        (lambda: ops.AllGatherV()(Tensor(X), [4]), ValueError, r"say that rank 0 has 4 elements"),
        (
            lambda: ops.NeighborExchange([0], [], (), ([3],), ms.float32)((Tensor([1.0, 2.0, 3.0]),)),
            ValueError,
            r"rank 0 sends one of shape \(3,\) to rank 0, which expects no tensor from it",
        ),
        (
            lambda: ops.NeighborExchange([1], [], (), ([3],), ms.float32),
            ValueError,
            "must be different ranks",
        ),
        (
            lambda: ops.NeighborExchangeV2([-1] * 7, [0] * 4, [-1] * 8, [0] * 4, "NCHW"),
            ValueError,
            "must contain eight entries",
        ),
        (
            lambda: ops.BatchISendIRecv(("irecv",), [0]),
            ValueError,
            "each 'irecv' must have a shape and a dtype",
        ),
        (lambda: ops.Receive(0, 1, [2], ms.float32), ValueError, "must be another rank"),
        (lambda: nn.GraphCell(None), NotImplementedError, "runs MindIR"),
        (lambda: ops.ScalarSummary()("", Tensor(1.0)), ValueError, "'name' must not be empty"),
        (lambda: ms.set_recursion_limit(0), ValueError, "must be positive"),
    ],
)
def test_refusals(call, kind, said):
    with pytest.raises(kind, match=said):
        call()


def test_cross_entropy_of_logits():
    t = (X > 0.3).astype(float)
    check(
        lambda x: ops.SigmoidCrossEntropyWithLogits()(x, Tensor(t)),
        lambda x: np.maximum(x, 0) - x * t + np.log1p(np.exp(-np.abs(x))),
        X,
    )


def test_small_names():
    assert ms.tensor([1, 2], ms.half).dtype == ms.float16
    assert ms.from_numpy(X).dtype == ms.float64
    assert ms.is_tensor(ms.tensor(1.0))
    assert (ms.double, ms.long, ms.cfloat) == (ms.float64, ms.int64, ms.complex64)
    assert Tensor([1.26]).round(1) == Tensor([1.3])
    assert Tensor([126.0]).round(decimals=-1) == Tensor([130.0])
    assert ms.no_inline(abs) is abs
    assert ms.recompute(nn.ReLU(), Tensor([-1.0]), use_reentrant=False) == Tensor([0.0])
    ops.ScalarSummary()("loss", Tensor(1.0))


def test_helpers_of_training_loops(tmp_path):
    assert model._transfer_tensor_to_tuple(Tensor(1.0)) == (Tensor(1.0),)
    assert model._transfer_tensor_to_tuple((1, 2)) == (1, 2)
    assert isinstance(model._StepSync(), Callback)
    made = _utils._make_directory(str(tmp_path / "a" / "b"))
    assert (tmp_path / "a" / "b").is_dir()
    assert made == str((tmp_path / "a" / "b").resolve())
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match="is a file"):
        _utils._make_directory(str(tmp_path / "file"))
    with pytest.raises(TypeError, match="should be 'str'"):
        _utils.check_value_type("name", 3, str)
    assert len(_utils._to_tensor([X], scaling_sens=2.0)) == 2


def test_transformers_take_the_checkpoints_of_earlier_versions():
    layer = nn.TransformerEncoderLayer(4, 2, 8)
    assert "dense1.weight" in layer.parameters_dict()  # as in MindSpore 2.10
    former = {
        name.replace("dense", "linear"): ms.Parameter(p.value() + 1, name="x")
        for name, p in layer.parameters_dict().items()
    }
    before = layer.dense1.weight.asnumpy()
    assert ms.load_param_into_net(layer, former) == ([], [])
    np.testing.assert_array_equal(layer.dense1.weight.asnumpy(), before + 1)


def test_modules_that_programs_import():
    program = (
        "import mindgrad; mindgrad.install()\n"
        "import mindspore as ms\n"
        "from mindspore.version import __version__\n"
        "from mindspore.train._utils import check_value_type\n"
        "from mindspore.train.model import _StepSync, _transfer_tensor_to_tuple\n"
        "from mindspore.train.summary import SummaryRecord\n"
        "from mindspore.communication.comm_func import all_reduce\n"
        "from mindspore.communication.management import HCCL_WORLD_COMM_GROUP\n"
        "from mindspore.common.generator import Generator, default_generator\n"
        "from mindspore.mint.nn import Linear\n"
        "import mindspore.mint.nn.functional as F\n"
        "from mindspore import mint, run_check, set_deterministic\n"
        "assert __version__ == ms.__version__ == ms.version.__version__\n"
        "print(F.linear.__name__, mint.sum.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "linear sum\n", done.stderr


def test_second_names_of_arguments():
    x = Tensor([1.0, -2.0])
    for function in (ms.mint.nn.functional.mish, ms.mint.nn.functional.selu, ops.mish, ops.selu):
        assert function(input=x).asnumpy().tolist() == function(x).asnumpy().tolist()
    assert ops.true_divide(dividend=x, divisor=2).asnumpy().tolist() == [0.5, -1.0]
    parameter = ms.Parameter(x, name="w", storage_format="", device="CPU")
    assert parameter.asnumpy().tolist() == [1.0, -2.0]


def test_time_between_steps(capsys):
    monitor = ms.train.TimeMonitor(data_time=True)
    context = ms.train.RunContext({"cur_step_in_epoch": 2, "mode": "train"})
    monitor.epoch_begin(context)
    monitor.step_begin(context)
    monitor.step_end(context)
    monitor.epoch_end(context)
    printed = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in printed] == ["Train epoch time", "Train data time"]


def test_element_types_with_names_of_python():
    from_dtype = (ms.dtype.bool, ms.dtype.int, ms.dtype.float)
    assert (ms.bool, ms.int, ms.float) == from_dtype == (ms.bool_, ms.int32, ms.float32)
    assert not {"bool", "int", "float"} & set(ms.__all__)


def test_cartesian_product_and_types_of_values():
    x, y, z = Tensor([1.0, 2.0]), Tensor([3.0]), Tensor([4.0, 5.0, 6.0])
    expected = list(itertools.product(*[v.asnumpy() for v in (x, y, z)]))
    for function in (ops.cartesian_prod, ms.jit(ops.cartesian_prod)):
        np.testing.assert_array_equal(function(x, y, z).asnumpy(), expected)
        np.testing.assert_array_equal(function(z).asnumpy(), z.asnumpy())
    weight = ms.grad(lambda x: (ops.cartesian_prod(x, z)[:, 0] * ops.arange(6)).sum())(x)
    np.testing.assert_array_equal(weight.asnumpy(), [3, 12])
    for wrong, error in (((), TypeError), ((Tensor([[1.0]]),), ValueError)):
        with pytest.raises(error, match="CartesianProd"):
            ops.cartesian_prod(*wrong)
    assert ops.typeof(x) == ms.TensorType(ms.float32) != ms.TensorType(ms.int32)
    assert str(ops.typeof(x)) == "Tensor[Float32]"
    assert ops.typeof(x).element_type() is ms.float32
    assert isinstance(ops.typeof(x), ms.TensorType)
    assert ops.typeof(2) is ms.int64
