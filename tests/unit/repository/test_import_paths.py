"""Import paths of MindSpore: second names of modules, classes that are importable only, and small names."""

import copy
import os
import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, hal, mint, nn, ops, runtime
from mindgrad._base.absent import absent
from mindgrad._base.module_names import PACKAGE, SECOND_NAMES
from mindgrad._c_expression import typing
from mindgrad._checkparam import args_type_check
from mindgrad.common import api
from mindgrad.common import dtype as mstype
from mindgrad.common.initializer import _INITIALIZER_ALIAS, Normal
from mindgrad.nn.wrap.cell_wrapper import _VirtualDatasetCell
from mindgrad.numpy import utils_const
from mindgrad.ops.operations import _grad_ops, _rl_inner_ops, _tensor_array
from mindgrad.parallel import get_algo_parameters, reset_algo_parameters, set_algo_parameters
from mindgrad.parallel._auto_parallel_context import auto_parallel_context
from mindgrad.parallel.auto_parallel import AutoParallel
from mindgrad.profiler import Profiler, ProfilerLevel
from tests.tolerances import assert_close


def run(program: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(ms.__file__).parents[1])}
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_second_name_gives_the_module_that_it_stands_for():
    run(
        "import importlib, mindgrad; mindgrad.install()\n"
        "from mindgrad._base.module_names import SECOND_NAMES\n"
        "functions = mindgrad.ops.functional.grad, mindgrad.ops.grad, mindgrad.nn.utils\n"
        "for name, own in SECOND_NAMES.items():\n"
        "    found = importlib.import_module(f'mindspore.{name}')\n"
        "    assert found is importlib.import_module(f'mindgrad.{own}'), name\n"
        "assert functions == (mindgrad.ops.functional.grad, mindgrad.ops.grad, mindgrad.nn.utils)"
    )


def test_no_second_name_hides_a_file():
    folder = pathlib.Path(ms.__file__).parent
    hidden = [name for name in SECOND_NAMES if (folder / f"{name.replace('.', '/')}.py").exists()]
    assert not hidden
    missing = [own for own in SECOND_NAMES.values() if not list(folder.glob(f"{own.replace('.', '/')}*"))]
    assert not missing
    assert PACKAGE == "mindgrad"


#: each is run in turn, in one process: what one has loaded must not matter to the next
PROGRAMS = [
    "from mindspore.ops.function.nn_func import conv2d",
    "from mindspore.ops.function import nn_func; nn_func.conv2d",
    "import mindspore.ops.function.grad; from mindspore.ops.function.grad import value_and_grad",
    "from mindspore.ops.composite import base; base.GradOperation",
    "from mindspore.ops.composite.multitype_ops.zeros_like_impl import zeros_like",
    "from mindspore.ops.operations.math_ops import Fmin, ReLU",
    "from mindspore.ops.operations import _grad_ops as G; G.ReluGrad",
    "from mindspore.ops.operations._rl_inner_ops import CudnnGRU",
    "from mindspore.ops.operations._inner_ops import Send, TopTypeof",
    "from mindspore.ops.operations.comm_ops import AllReduce, ReduceOp",
    "from mindspore.ops.auto_generate import AddExt, Reshape, SiLU, topk_ext, abs",
    "from mindspore.ops._primitive_cache import _get_cache_prim",
    "from mindspore.train.callback._time_monitor import TimeMonitor",
    "from mindspore.train.callback import _set_cur_net",
    "from mindspore.train.summary.summary_record import SummaryRecord, _get_summary_tensor_data",
    "from mindspore.train.amp import _add_loss_network, _config_level, _do_keep_batchnorm_fp32",
    "from mindspore.nn.wrap.loss_scale import _grad_overflow",
    "from mindspore.dataset.vision.py_transforms_util import hwc_to_chw, is_numpy",
    "import mindspore.dataset.vision.py_transforms_util as util",
    "from mindspore.train.train_thor import ConvertModelUtils",
    "from mindspore.train.model import ParallelMode, Model",
    "from mindspore.train.serialization import context, _update_param, tensor_to_np_type",
    "from mindspore.train.dataset_helper import DatasetHelper",
    "from mindspore.nn.wrap.cell_wrapper import _VirtualDatasetCell",
    "from mindspore.nn.utils import no_init_parameters",
    "from mindspore.nn.optim.thor import thor",
    "from mindspore.nn.probability.distribution.normal import Normal",
    "import mindspore.nn.probability.bijector as msb; msb.Exp",
    "from mindspore.boost.boost import AutoBoost",
    "from mindspore.profiler.profiling import Profiler",
    "from mindspore._c_expression import security, MetaTensor, typing",
    "from mindspore._extends import cell_attr_register",
    "from mindspore.common.np_dtype import bfloat16",
    "from mindspore.common._stub_tensor import StubTensor",
    "from mindspore.common.mutable import mutable; mutable(1)",
    "from mindspore.common import RowTensor, COOTensor",
    "from mindspore.common.sparse_tensor import CSRTensor",
    "from mindspore.common.initializer import _INITIALIZER_ALIAS",
    "from mindspore.parallel._auto_parallel_context import auto_parallel_context",
    "from mindspore.parallel._transformer import TransformerOpParallelConfig",
    "from mindspore.nn.transformer import TransformerEncoder",
    "from mindspore.parallel import set_algo_parameters, Layout",
    "from mindspore.parallel.auto_parallel import AutoParallel",
    "from mindspore.parallel._cost_model_context import _set_multi_subgraphs",
    "from mindspore import mint; mint.Tensor, mint.conv2d, mint.nn.Cell",
    "from mindspore.ops.operations.nn_ops import FlashAttentionScore",
    "from mindspore.numpy.utils import _to_tensor; assert _to_tensor((1.0,)).shape == (1,)",
    "from mindspore.numpy.utils_const import _raise_value_error",
    "from mindspore.dataset.engine.datasets import _set_training_dataset",
    "import mindspore as ms; assert isinstance(ms.float32, ms.Type); ms.tensor_type, ms.number, ms.TensorType",
    "import mindspore as ms; ms.runtime.Stream; ms.hal.Event; ms.device_context.cpu.op_tuning; ms.Profiler",
]


def test_paths_that_programs_import():
    run("import mindgrad; mindgrad.install()\n" + "\n".join(PROGRAMS))
    run("import mindgrad; mindgrad.install()\n" + "\n".join(reversed(PROGRAMS)))


def test_a_divided_package_still_says_what_it_does_not_have():
    run(
        "import mindgrad; mindgrad.install()\n"
        "try:\n"
        "    from mindspore.ops.operations.math_ops import Nothing\n"
        "except ImportError as error:\n"
        "    assert 'Nothing' in str(error)\n"
        "else:\n"
        "    raise AssertionError\n"
    )


# --- importable only ------------------------------------------------------------------------------------


def test_absent_classes_can_be_derived_from_and_not_called():
    kind = absent("mindgrad.ops", "Kernel", "runs elsewhere", "Use a Cell.")

    class Derived(kind):
        def __init__(self, x):
            self.x = x

    for refused in (kind, Derived):
        with pytest.raises(NotImplementedError, match=r"'Kernel' runs elsewhere, which .* Use a Cell\."):
            refused(1)


@pytest.mark.parametrize("name", ["DynamicRNN", "CustomOpBuilder", "PyFunc", "DynamicGRUV2"])
def test_operators_without_a_compiled_form_are_refused_when_they_are_made(name):
    with pytest.raises(NotImplementedError, match=rf"'{name}'.* (Use|Write) "):
        getattr(ops, name)()


def test_operators_of_derivatives_say_what_to_differentiate():
    with pytest.raises(NotImplementedError, match=r"ops\.grad\(ops\.Tanh\(\)\)"):
        _grad_ops.TanhGrad()
    with pytest.raises(AttributeError):
        _ = _grad_ops.Tanh


# --- small names ----------------------------------------------------------------------------------------


def test_the_executors_of_mindspore():
    api._pynative_executor.sync()
    net = nn.Dense(2, 1)
    assert api._cell_graph_executor.compile(net, Tensor([[1.0, 2.0]])) == ("predict", True)
    with pytest.raises(TypeError, match="must be a Cell"):
        api._cell_graph_executor.compile(abs, 1)


def test_errors_of_numpys_checks():
    with pytest.raises(ValueError, match="must be 2, but got 3"):
        utils_const._raise_value_error("must be 2, but got ", 3)
    with pytest.raises(TypeError, match="must be an int"):
        utils_const._raise_type_error("must be an int")


def test_what_trainers_ask_of_a_parameter():
    parameter = ms.Parameter(Tensor(1.0), name="w", parallel_optimizer=False)
    assert not parameter.cache_enable
    assert not parameter.sliced
    assert parameter.cache_shape == ()
    for copied in (parameter.clone(), copy.deepcopy(parameter), pickle.loads(pickle.dumps(parameter))):
        assert copied.parallel_optimizer is False


def test_kinds_of_element_types():
    assert isinstance(ms.float32, typing.Float)
    assert not isinstance(ms.int8, typing.Float)
    assert isinstance(ms.int8, typing.Int)
    assert isinstance(ms.uint8, typing.UInt)
    assert isinstance(ms.float16, typing.Number)
    assert not isinstance(1.0, typing.Number)
    assert str(mstype.string) == "String"
    assert mstype.get_py_obj_dtype((1,)) is mstype.tuple_
    assert mstype.get_py_obj_dtype(Tensor([1], ms.int8)) is ms.int8


def test_contexts_of_one_process():
    context = auto_parallel_context()
    context.set_gradients_mean(True)
    assert context.get_gradients_mean()
    assert ms.get_auto_parallel_context("gradients_mean")
    context.reset()
    assert not context.get_gradients_mean()
    assert context.get_device_num_is_set()
    context.set_all_reduce_fusion_split_indices([85, 160])
    with pytest.raises(ValueError, match="unknown option"):
        context.get_nothing()
    set_algo_parameters(elementwise_op_strategy_follow=True)
    assert get_algo_parameters("elementwise_op_strategy_follow")
    reset_algo_parameters()
    assert not get_algo_parameters("elementwise_op_strategy_follow")
    with pytest.raises(TypeError, match="must be of type bool"):
        set_algo_parameters(fully_use_devices=1)
    with pytest.raises(ValueError, match="must be False"):
        ms.set_ps_context(enable_ps=True)


def test_functions_of_tuples_in_compiled_programs():
    @ms.jit
    def function(x):
        total = x
        for k in ops.make_range(1, 3):
            total = total * k + ops.tuple_len((x, x))
        return total

    assert function(Tensor([1.0])).asnumpy().tolist() == [8.0]


def test_streams_events_and_memory():
    start, end = hal.Event(enable_timing=True), hal.Event()
    start.record()
    with pytest.raises(RuntimeError, match="enable_timing"):
        start.elapsed_time(end)
    assert hal.device_count("CPU") == 1
    assert hal.is_available("CPU")
    assert not hal.is_available("Ascend")
    assert runtime.current_stream() == hal.default_stream()
    assert hal.current_stream().query()
    assert hal.memory_allocated("CPU") == 0
    assert hal.get_device_properties(0, "CPU").total_memory > 0
    with pytest.raises(ValueError, match="device 7 of the kind 'CPU' does not exist"):
        hal.get_device_name(7, "CPU")


def test_the_profiler_writes_a_trace(tmp_path):
    profiler = Profiler(output_path=str(tmp_path), profiler_level=ProfilerLevel.Level0)
    with pytest.raises(RuntimeError, match="recording already"):
        profiler.start()
    ms.jit(lambda x: x * x)(Tensor([3.0]))
    profiler.analyse()
    assert list(tmp_path.glob("plugins/profile/*/*.xplane.pb"))
    with pytest.raises(RuntimeError, match="not recording"):
        profiler.stop()
    with pytest.raises(NotImplementedError, match="TensorBoard"):
        profiler.op_analyse("MatMul")


def test_a_dataset_helper_gives_batches():
    batches = [Tensor([1.0]), Tensor([2.0]), Tensor([3.0])]
    whole = ms.DatasetHelper(batches, dataset_sink_mode=False)
    assert [batch[0].item() for _ in range(2) for batch in whole] == [1.0, 2.0, 3.0] * 2
    parts = ms.DatasetHelper(batches, sink_size=2)
    assert [[batch[0].item() for batch in parts] for _ in range(2)] == [[1.0, 2.0], [3.0, 1.0]]
    with pytest.raises(ValueError, match="sink_size"):
        ms.DatasetHelper(batches, sink_size=0)


def test_types_of_arguments_are_checked():
    @args_type_check(int, factor=(int, float))
    def function(x, factor=1.0):
        return x * factor

    assert function(2, factor=0.5) == 1.0
    with pytest.raises(TypeError, match="'x' of function must be of type int, but got str"):
        function("a")


def test_a_virtual_dataset_cell_calls_its_net():
    net = nn.Dense(2, 1)
    x = Tensor([[1.0, 2.0]])
    for wrapped in (_VirtualDatasetCell(net), AutoParallel(net)):
        assert wrapped(x).asnumpy().tolist() == net(x).asnumpy().tolist()
    with pytest.raises(ValueError, match="parallel_mode"):
        AutoParallel(net, "other")


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_lars_scales_gradients_by_layer(mode):
    ms.set_context(mode=mode)
    try:
        w = ms.Parameter(Tensor([3.0, 4.0]), name="w")
        b = ms.Parameter(Tensor([1.0]), name="bias")
        optimizer = nn.LARS(nn.SGD([w, b], 0.5, weight_decay=0.5), epsilon=1e-8, coefficient=0.1)
        optimizer((Tensor([0.0, 2.0]), Tensor([2.0])))
        size, slope, decay = 5.0, 2.0, 0.5
        factor = 0.1 * size / (slope + decay * size)
        expected = [3.0 - 0.5 * factor * 1.5, 4.0 - 0.5 * factor * (2.0 + 2.0)]
        assert_close(w, expected)
        decay = 0.5 if optimizer.decay_flag[1] else 0.0
        assert_close(b, [1.0 - 0.5 * (2.0 + decay)], kind="program")
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


# --- further operators and layers -----------------------------------------------------------------------


@pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "compiled"])
def test_eigh_reads_one_triangle(run):
    matrix = Tensor([[2.0, 7.0], [1.0, 2.0]])
    values, vectors = run(ops.Eigh())(matrix)
    assert_close(values, [1.0, 3.0], kind="program")
    assert_close(abs(vectors.asnumpy()).ravel(), [0.5**0.5] * 4)
    assert_close(run(ops.Eigh(False, lower=False))(matrix), [-5.0, 9.0], kind="program")


@pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "compiled"])
def test_a_permutation_is_padded(run):
    ms.set_seed(1)
    found = run(ops.Randperm(6, -7))(Tensor([4])).asnumpy().tolist()
    assert sorted(found[:4]) == [0, 1, 2, 3]
    assert found[4:] == [-7, -7]
    orders = {tuple(ops.Randperm(3)(Tensor([3])).asnumpy().tolist()) for _ in range(60)}
    assert len(orders) == 6


def test_masks_of_dropout():
    ms.set_seed(1)
    mask = ops.operations.DropoutGenMask()((4000,), Tensor(0.25))
    assert mask.asnumpy().mean() == pytest.approx(0.25, abs=0.03)
    x = ops.ones((4000,))
    dropped = ops.operations.DropoutDoMask()(x, mask, Tensor(0.25)).asnumpy()
    assert set(dropped.tolist()) == {0.0, 4.0}


@pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "compiled"])
def test_rows_of_a_table_are_held_to_a_length(run):
    layer = nn.EmbeddingLookup(2, 2, param_init=Tensor([[3.0, 4.0], [0.0, 1.0]]), max_norm=2.5)
    assert run(layer.construct)(Tensor([0, 1])).asnumpy().tolist() == [[1.5, 2.0], [0.0, 1.0]]
    free = nn.EmbeddingLookup(2, 2, param_init=Tensor([[3.0, 4.0], [0.0, 1.0]]))
    assert free(Tensor([0])).asnumpy().tolist() == [[3.0, 4.0]]
    with pytest.raises(ValueError, match="'target' must be"):
        nn.EmbeddingLookup(2, 2, target="GPU")


def test_layers_under_later_names():
    assert nn.Linear is mint.nn.Linear
    image = Tensor([[[[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]]]])
    assert mint.nn.AvgPool2d(2, 1)(image).asnumpy().tolist() == [[[[2.5, 3.5]]]]
    assert _INITIALIZER_ALIAS["normal"] is Normal


@pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "compiled"])
def test_operators_of_reinforcement_learning(run):
    generator = np.random.default_rng(2)
    rewards, last = generator.normal(size=(6, 3)).astype(np.float32), np.ones(3, np.float32)
    done = generator.random((6, 3)) > 0.6
    returns, expected = last, []
    for reward, end in zip(rewards[::-1], done[::-1], strict=True):
        returns = reward + 0.9 * (1 - end) * returns
        expected.insert(0, returns)
    function = run(_rl_inner_ops.DiscountedReturn(0.9))
    result = function(Tensor(rewards), Tensor(done), Tensor(last))
    assert_close(result, expected, kind="program", each=True)
    gradient = ms.grad(lambda last: function(Tensor(rewards), Tensor(done), last).sum())(Tensor(last))
    factors = np.cumprod(0.9 * (1 - done[::-1].astype(np.float64)), 0).sum(0)
    assert_close(gradient, factors, kind="program")
    for refused in (_rl_inner_ops.PriorityReplayBufferCreate, _tensor_array.TensorArrayWrite):
        with pytest.raises(NotImplementedError, match="own runtime"):
            refused()
