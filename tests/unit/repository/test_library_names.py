"""What libraries written for MindSpore import and lean on besides layers and operators."""

import logging

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, _checkparam, dataset, log, nn
from mindgrad.dataset.vision import py_transforms_util
from mindgrad.nn.wrap import loss_scale
from mindgrad.parallel import _ps_context, _utils
from mindgrad.scipy.optimize import minimize
from mindgrad.train import LambdaCallback, RunContext, amp
from mindgrad.train.callback import summary
from mindgrad.train.callback._callback import _CallbackManager, _handle_loss
from tests.tolerances import assert_close


@pytest.mark.parametrize("rel", ["()", "[)", "(]", "[]"])
def test_a_range_has_the_bounds_that_it_says(rel):
    for value, inside in ((0.0, rel[0] == "["), (0.5, True), (1.0, rel[1] == "]"), (1.5, False)):
        if inside:
            assert _checkparam.check_float_range(value, 0.0, 1.0, rel, "x", "Net") == value
        else:
            with pytest.raises(ValueError, match=r"For 'Net', the 'x' must be in range of"):
                _checkparam.check_float_range(value, 0.0, 1.0, rel, "x", "Net")


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (_checkparam.check_positive_int, 1, 0),
        (_checkparam.check_non_negative_int, 0, -1),
        (_checkparam.check_negative_int, -1, 0),
        (_checkparam.check_positive_float, 0.5, 0.0),
        (_checkparam.check_non_negative_float, 0.0, -0.5),
        (_checkparam.check_bool, True, 1),
        (_checkparam.check_is_int, 3, True),
        (_checkparam.check_is_float, 3.0, 3),
        (_checkparam.Validator.check_positive_int, 1, 1.5),
        (_checkparam.check_positive_float, 1.0, float("nan")),
        (lambda x, *names: _checkparam.check_string(x, ["a", "b"], *names), "a", "c"),
        (lambda x, *names: _checkparam.check_value_type(names[0], x, [int, str], names[1]), "a", True),
        (lambda x, *names: _checkparam.check_type_name(names[0], x, [ms.float32], names[1]), ms.float32, ms.int8),
        (lambda x, *names: _checkparam.check_subclass(names[0], x, int, names[1]), bool, str),
    ],
)  # fmt: skip
def test_a_check_gives_what_is_right_and_refuses_what_is_not(check, good, bad):
    assert check(good, "size", "Net") == good
    with pytest.raises((TypeError, ValueError), match=r"'Net'.*'size'"):
        check(bad, "size", "Net")


def test_messages_are_shown_from_the_level_on(capsys):
    logger = logging.getLogger("mindgrad")
    before = log.get_level()
    logger.handlers.clear()  # the next is made on the standard error of now
    try:
        log.set_level(2)
        log.info("not %s", "this")
        log.warning("but %s", "that")
        log.set_level("ERROR")
        log.warning("no more")
        shown = capsys.readouterr().err
    finally:
        log.set_level(int(before))
        logger.handlers.clear()
    assert "but that" in shown
    assert "test_library_names.py" in shown  # where it was said
    assert "not this" not in shown
    assert "no more" not in shown
    with pytest.raises(ValueError, match="'level'"):
        log.set_level(7)


def test_marks_of_classes_are_checked():
    with pytest.raises(TypeError, match="class type"):
        ms.jit_class(len)
    with pytest.raises(TypeError, match=r"nn\.Cell"):
        ms.jit_class(nn.Dense)


def test_there_is_one_process():
    assert _utils._get_device_num() == 1
    assert _utils._get_global_rank() == 0
    assert _utils._get_parallel_mode() == "stand_alone"
    assert not _ps_context._is_role_pserver()
    with pytest.raises(ValueError, match="one process"):
        _utils._device_number_check("data_parallel", 2)


def test_callbacks_of_a_loop_of_ones_own_are_called():
    seen = []
    manager = _CallbackManager([LambdaCallback(on_train_step_end=seen.append), None][:1])
    context = RunContext({"net_outputs": Tensor([2.0, 4.0])})
    with manager as every:
        every.on_train_begin(context)
        every.on_train_step_end(context)
    assert seen == [context]
    assert _handle_loss(context.original_args().net_outputs) == 3.0


def test_a_dataset_of_ones_own_is_not_read_in_passes():
    class Batches(dataset.Dataset):
        def __init__(self):
            super().__init__()

        def __getitem__(self, index):
            return index + 1

    assert Batches()[2] == 3
    with pytest.raises(TypeError, match="GeneratorDataset"):
        next(iter(Batches().batch(2)))


# --- minima ------------------------------------------------------------------------------------------


def valley(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


@pytest.mark.parametrize("method", ["BFGS", "lbfgs"])
def test_the_minimum_of_a_valley_is_found(method):
    start = Tensor(np.full(5, -1.0))
    actual = minimize(valley, start, method=method, options={"gtol": 1e-8})
    assert (actual.success, actual.status) == (True, 0)
    assert_close(actual.x, 1.0, kind="iteration")
    assert np.abs(actual.jac.asnumpy()).max() < 1e-8
    assert actual.nit < 120
    if method == "BFGS":
        inverse = actual.hess_inv.asnumpy()
        assert_close(inverse, inverse.T, kind="program")
        assert (np.linalg.eigvalsh(inverse) > 0).all()


def test_weights_of_a_net_are_fitted_with_its_own_gradient():
    w = Parameter(Tensor([0.0, 0.0]), name="w")
    a, b = Tensor([[2.0, 0.0], [1.0, 3.0]]), Tensor([1.0, 2.0])

    def loss():
        return ((a * w).sum(1) - b).square().sum()

    gradient = ms.grad(loss, None, w)

    def at(function):
        def called(x):
            w.set_data(x)
            return function()

        return called

    seen = []
    actual = minimize(at(loss), Tensor([0.0, 0.0]), method="lbfgs", jac=at(gradient), callback=seen.append)
    assert actual.success
    assert_close(actual.x, [0.5, 0.5], kind="program")
    assert len(seen) == actual.nit


def test_what_minimize_cannot_do_is_said():
    flat = Tensor([0.5])
    few = minimize(valley, Tensor([-1.0, -1.0]), options={"maxiter": 2})
    assert (few.success, few.status, few.nit) == (False, 1, 2)
    kinked = minimize(lambda x: x.abs().sum(), Tensor([1.3, -0.2]))
    assert (kinked.success, kinked.status) == (False, 3)
    assert abs(float(kinked.x[0])) < 1e-3
    for arguments, said in (
        ({"method": "Newton"}, "'method'"),
        ({"bounds": [(0, 1)]}, "'bounds'"),
        ({"options": {"steps": 3}}, "'steps'"),
    ):
        with pytest.raises(ValueError, match=said):
            minimize(valley, flat, **arguments)
    with pytest.raises(ValueError, match="one element"):
        minimize(lambda x: x, Tensor([0.5, 1.0]), jac=lambda x: x)


@pytest.fixture
def no_summary_has_warned(monkeypatch):
    monkeypatch.setattr(summary, "_warned", set())


def test_summary_collector_in_a_run_warns_once_and_does_nothing(tmp_path, no_summary_has_warned):
    with pytest.warns(UserWarning, match="'SummaryCollector' does nothing") as caught:
        collectors = [summary.SummaryCollector(str(tmp_path / "s"), collect_freq=2) for _ in range(2)]
    assert len(caught) == 1
    net = nn.Dense(1, 1)
    model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
    rows = dataset.NumpySlicesDataset((np.ones((4, 1), np.float32),) * 2, ["x", "y"]).batch(2)
    model.train(1, rows, callbacks=collectors)
    assert not list(tmp_path.iterdir())


def test_summary_record_as_a_context_accepts_values_and_writes_nothing(tmp_path, no_summary_has_warned):
    with pytest.warns(UserWarning, match="'SummaryRecord' does nothing"):
        opened = summary.SummaryRecord(str(tmp_path / "s"), network=nn.ReLU())
    with opened as record:
        record.set_mode("eval")
        record.add_value("scalar", "loss", Tensor(1.0))
        assert record.record(1)
        assert record.log_dir == str(tmp_path / "s")
    with pytest.raises(ValueError, match="'train' or 'eval'"):
        record.set_mode("test")
    assert not list(tmp_path.iterdir())


def test_grad_overflow_of_gradients_returns_one_where_an_element_is_not_finite():
    gradients = (Tensor([1.0, 2.0]), Tensor([1.0, float("inf")]), Tensor(float("nan")))
    found = ms.ops.HyperMap()(loss_scale._grad_overflow, gradients)
    assert [x.asnumpy().tolist() for x in found] == [[0.0], [1.0], [1.0]]


def test_amp_private_names_build_the_step_of_their_level():
    config = amp._config_level["O2"]
    assert sorted(amp._config_level) == ["O0", "O1", "O2", "O3"]
    assert config["keep_batchnorm_fp32"]
    assert config["cast_model_type"] is ms.float16
    net = nn.SequentialCell(nn.Dense(2, 2), nn.BatchNorm1d(2), nn.Dense(2, 1)).to_float(
        config["cast_model_type"]
    )
    seen = []
    for cell in net:
        cell.register_forward_hook(lambda cell, inputs, output: seen.append(str(output.dtype)))
    amp._do_keep_batchnorm_fp32(net)
    loss = amp._add_loss_network(net, lambda y, label: (y - label).sum(), ms.float16)
    assert loss(Tensor(np.ones((3, 2), np.float32)), Tensor(np.zeros((3, 1), np.float32))).dtype is ms.float32
    assert seen == ["Float16", "Float32", "Float16"]


def test_py_transforms_util_moves_channels_to_the_front():
    util = py_transforms_util
    assert util.is_numpy(np.zeros(2))
    assert not util.is_numpy(Tensor([0.0]))
    assert util.hwc_to_chw(np.arange(24).reshape(2, 3, 4))[1].tolist() == [[1, 5, 9], [13, 17, 21]]
    with pytest.raises(TypeError, match="must be a NumPy array"):
        util.hwc_to_chw([0.0])


def test_cell_members_of_mindspore_exist_and_change_nothing():
    net = nn.Dense(1, 1)
    assert net.get_inputs() is None
    net.set_inputs(Tensor([[1.0]]))
    assert len(net.get_inputs()) == 1
    assert net.phase == "predict"
    assert net.set_train().phase == "train"
    assert net.set_comm_fusion(2).weight.comm_fusion == 2
    with pytest.raises(ValueError, match="'fusion_type' must be at least 0"):
        net.set_comm_fusion(-1)
    assert nn.CellList([net], has_bias=True).has_bias
    assert nn.EmbeddingLookup.TABLE_ROW_SLICE == "table_row_slice"


def test_cell_phase_assigned_by_a_program_is_a_parameter_of_it():
    class Wave(nn.Cell):
        def __init__(self):
            super().__init__()
            self.phase = Parameter(Tensor([0.5]), name="phase")

        def construct(self, x):
            return ms.ops.sin(x + self.phase)

    net = Wave()
    assert [p.name for p in net.trainable_params()] == ["phase"]
    gradient = ms.grad(net, None, net.phase)(Tensor([1.0]))
    assert_close(gradient, np.cos([1.5]))


def test_tensor_index_selects_by_a_tensor_for_each_axis():
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.index((Tensor([0, 1]), Tensor([1, 0]))).asnumpy().tolist() == [2.0, 3.0]
    assert x.index([Tensor([True, False])]).asnumpy().tolist() == [[1.0, 2.0]]
    gradient = ms.grad(lambda x: (x.index([Tensor([0, 0])]) ** 2).sum())(x)
    assert gradient.asnumpy().tolist() == [[4.0, 8.0], [0.0, 0.0]]
    assert x.device == f"{ms.get_context('device_target')}:0"
