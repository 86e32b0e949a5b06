"""The ConfusionMatrixMetric: values of MindSpore 2.10, and measures by their definitions."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn
from tests.tolerances import assert_close

PREDICTED = np.array([[[0, 1], [1, 0], [0, 0]], [[1, 1], [0, 0], [0, 0]]])
TRUE = np.array([[[0, 1], [1, 0], [0, 0]], [[1, 0], [0, 1], [0, 0]]])


def measured(*args):
    metric = nn.ConfusionMatrixMetric(*args)
    metric.update(Tensor(PREDICTED), Tensor(TRUE))
    return metric.eval()


@pytest.mark.parametrize(
    ("name", "skipped", "whole", "mean"),
    [
        ("sensitivity", 1 / 2, 3 / 4, 1 / 2),
        ("ppv", 1.0, 3 / 4, 1.0),
        ("accuracy", 7 / 8, 5 / 6, 7 / 8),
        ("f1 score", 2 / 3, 3 / 4, None),
        ("specificity", 1.0, 7 / 8, None),
        ("npv", 6 / 7, 7 / 8, None),
        ("fnr", 1 / 2, 1 / 4, None),
        ("fall_out", 0.0, 1 / 8, None),
        ("fdr", 0.0, 1 / 4, None),
        ("for", 1 / 7, 1 / 8, None),
        ("csi", 1 / 2, 3 / 5, None),
        ("ba", 3 / 4, 13 / 16, None),
        ("mcc", (6 / (1 * 2 * 6 * 7) ** 0.5), (3 * 7 - 1) / (4 * 4 * 8 * 8) ** 0.5, None),
        ("fm", 0.5**0.5, 3 / 4, None),
        ("bm", 1 / 2, 5 / 8, None),
        ("mk", 6 / 7, 5 / 8, None),
    ],
)
def test_measures(name, skipped, whole, mean):
    assert_close(measured(True, name), [skipped], kind="program")
    assert_close(measured(False, name), [whole], kind="program")
    if mean is not None:
        assert_close(measured(True, name, True), mean, kind="program")


def test_updates_add_up():
    metric = nn.ConfusionMatrixMetric(False, "sensitivity")
    for k in range(2):
        metric.update(Tensor(PREDICTED[k : k + 1]), Tensor(TRUE[k : k + 1]))
    assert metric.eval().tolist() == [0.75]
    metric.clear()
    with pytest.raises(RuntimeError, match="before the first update"):
        metric.eval()


def test_mistakes():
    with pytest.raises(ValueError, match="'metric_name' must be one of"):
        nn.ConfusionMatrixMetric(metric_name="other")
    with pytest.raises(ValueError, match="'decrease'"):
        nn.ConfusionMatrixMetric(decrease="other")
    with pytest.raises(ValueError, match="must be 'mean' or 'sum'"):
        ms.nn.ConfusionMatrixMetric(True, "tpr", True, "mean_batch")
    with pytest.raises(ValueError, match="the same shape"):
        nn.ConfusionMatrixMetric().update(Tensor(PREDICTED), Tensor(TRUE[:1]))
