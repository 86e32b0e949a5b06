"""What libraries written for MindSpore import and lean on besides layers and operators."""

import logging

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, _checkparam, dataset, log, nn
from mindgrad.parallel import _ps_context, _utils
from mindgrad.scipy.optimize import minimize
from mindgrad.train import LambdaCallback, RunContext
from mindgrad.train.callback._callback import _CallbackManager, _handle_loss


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
    np.testing.assert_allclose(actual.x.asnumpy(), 1.0, rtol=1e-7)
    assert np.abs(actual.jac.asnumpy()).max() < 1e-8
    assert actual.nit < 120
    if method == "BFGS":
        inverse = actual.hess_inv.asnumpy()
        np.testing.assert_allclose(inverse, inverse.T, rtol=1e-9)
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
    np.testing.assert_allclose(actual.x.asnumpy(), [0.5, 0.5], atol=1e-5)
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
