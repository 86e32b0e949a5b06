"""Metrics of surfaces, curves, sequences and similarity: their definitions, and what they refuse."""

import itertools

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn
from tests.tolerances import assert_close


def region(*places):
    """Ones at some places of a plane of 6 × 7."""
    plane = np.zeros((6, 7), int)
    plane[tuple(np.transpose(places))] = 1
    return plane


FIRST, SECOND = region((1, 1), (1, 2), (4, 5)), region((1, 1), (3, 3))
#: without inner elements, a region is its own outline
NORMS = {
    "euclidean": lambda d: np.hypot(*d),
    "chessboard": lambda d: np.abs(d).max(),
    "taxicab": lambda d: np.abs(d).sum(),
}


def nearest(first, second, norm):
    """The distance of each place of the first region from the second, place by place."""
    places = [np.argwhere(plane) for plane in (first, second)]
    return np.array([min(NORMS[norm](p - q) for q in places[1]) for p in places[0]])


def evaluated(metric, *inputs):
    metric.update(*inputs)
    return metric.eval()


@pytest.mark.parametrize("norm", NORMS)
def test_distances_of_surfaces_are_those_between_their_places(norm):
    there, back = nearest(FIRST, SECOND, norm), nearest(SECOND, FIRST, norm)
    inputs = (Tensor(FIRST), SECOND, 1)
    assert evaluated(nn.HausdorffDistance(norm), *inputs) == max(there.max(), back.max())
    assert evaluated(nn.HausdorffDistance(norm, 50.0, True), *inputs) == np.percentile(there, 50)
    assert np.isclose(evaluated(nn.MeanSurfaceDistance(False, norm), *inputs), there.mean())
    both = [there.mean(), back.mean()]
    assert np.isclose(evaluated(nn.MeanSurfaceDistance(True, norm), *inputs), np.mean(both))
    squares = [(there**2).mean(), (back**2).mean()]
    assert np.isclose(evaluated(nn.RootMeanSquareDistance(False, norm), *inputs), squares[0])
    assert np.isclose(evaluated(nn.RootMeanSquareDistance(True, norm), *inputs), np.sqrt(np.mean(squares)))


def test_only_the_outline_of_a_region_counts():
    full = np.zeros((5, 5), int)
    full[1:4, 1:4] = 1
    ring = full.copy()
    ring[2, 2] = 0
    assert evaluated(nn.MeanSurfaceDistance(True), full, ring, 1) == 0


def test_a_cropped_region_loses_its_axes_of_length_one():
    row, short = region((2, 1), (2, 2), (2, 3)), region((2, 1))
    assert evaluated(nn.HausdorffDistance(), row, short, 1) == 2
    longer = region(*[(2, column) for column in range(5)])
    # the outline of a line is its ends, that of a strip in a plane is all of it
    assert evaluated(nn.HausdorffDistance(directed=True), region((2, 2)), longer, 1) == 2
    assert evaluated(nn.HausdorffDistance(directed=True, crop=False), region((2, 2)), longer, 1) == 0


@pytest.mark.parametrize("metric", [nn.HausdorffDistance, nn.MeanSurfaceDistance, nn.RootMeanSquareDistance])
def test_surfaces_refuse_what_they_cannot_compare(metric):
    with pytest.raises(ValueError, match="distance_metric"):
        metric(distance_metric="cosine")
    one = metric()
    with pytest.raises(RuntimeError, match="before the first update"):
        one.eval()
    with pytest.raises(ValueError, match="label of the region"):
        one.update(FIRST, SECOND)
    with pytest.raises(ValueError, match="the same shape"):
        one.update(FIRST, SECOND[1:], 1)
    with pytest.raises(ValueError, match="occurs neither"):
        one.update(FIRST, SECOND, 9)
    assert evaluated(one, FIRST, 2 * SECOND, 1) == np.inf


def test_a_rank_statistic_is_the_area_below_the_curve():
    random = np.random.default_rng(3)
    scores, labels = random.integers(0, 6, 30), random.integers(0, 2, 30)
    false, true, thresholds = evaluated(nn.ROC(), Tensor(scores), Tensor(labels))
    pairs = itertools.product(scores[labels == 1], scores[labels == 0])
    wins = [1.0 if p > n else 0.5 if p == n else 0.0 for p, n in pairs]
    assert np.isclose(nn.auc(false, true), np.mean(wins))
    assert thresholds[0] == scores.max() + 1
    assert np.all(np.diff(thresholds) < 0)


def test_each_class_has_a_curve():
    scores = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4], [0.5, 0.4, 0.1]])
    labels = np.array([0, 1, 2, 1])
    false, true, thresholds = evaluated(nn.ROC(class_num=3), scores, labels)
    single = [evaluated(nn.ROC(pos_label=c), scores[:, c], labels) for c in range(3)]
    for number, curve in enumerate(single):
        for part, expected in zip((false, true, thresholds), curve, strict=True):
            np.testing.assert_array_equal(part[number], expected)
    with pytest.raises(ValueError, match="pos_label"):
        nn.ROC(class_num=3, pos_label=1).update(scores, labels)
    with pytest.raises(ValueError, match="no negative sample"):
        evaluated(nn.ROC(), np.array([1.0, 2.0]), np.array([1, 1]))


def test_the_area_below_a_curve_needs_points_in_order():
    x, y = np.array([0.0, 2.0, 1.0]), np.array([0.0, 2.0, 1.0])
    with pytest.raises(ValueError, match="reorder"):
        nn.auc(x, y)
    assert nn.auc(x, y, reorder=True) == 2
    assert nn.auc(np.array([2.0, 0.0]), np.array([1.0, 1.0])) == 2
    with pytest.raises(TypeError, match="NumPy arrays"):
        nn.auc([0, 1], [0, 1])


@pytest.mark.parametrize(("normalize", "axis"), [("target", 1), ("prediction", 0), ("all", None)])
def test_a_normalized_confusion_matrix_sums_to_one(normalize, axis):
    predicted, true = np.array([0, 1, 1, 2, 2]), np.array([0, 0, 1, 2, 2])
    metric = nn.ConfusionMatrix(4, normalize)
    sums = evaluated(metric, Tensor(predicted), Tensor(true)).sum(axis=axis)
    assert_close(sums, 1.0 if axis is None else [1, 1, 1, 0], kind="program")


def test_a_confusion_matrix_counts_over_batches_and_refuses_unknown_classes():
    metric = nn.ConfusionMatrix(2)
    metric.update(np.array([0.4, 0.6]), np.array([0, 0]))
    metric.update(np.array([[0.2, 0.8]]), np.array([1]))
    np.testing.assert_array_equal(metric.eval(), [[1, 1], [0, 1]])
    with pytest.raises(ValueError, match="classes must be from 0 to 1"):
        metric.update(np.array([3]), np.array([0]))


def test_a_translation_that_is_a_reference_scores_one_and_a_short_one_less():
    words = ["the", "cat", "sits", "on", "the", "mat"]
    assert np.isclose(evaluated(nn.BleuScore(), [words], [[words, words[:2]]]), 1)
    short = evaluated(nn.BleuScore(n_gram=2), [words[:4]], [[words]])
    assert np.isclose(short, np.exp(1 - 6 / 4))
    assert evaluated(nn.BleuScore(), [words[:2]], [[words]]) == 0  # it has no run of four words
    with pytest.raises(ValueError, match="a list of the same length"):
        nn.BleuScore().update([words], [])


def test_perplexity_counts_what_is_not_ignored():
    rows = np.array([[0.5, 0.5], [0.125, 0.875], [0.1, 0.9]])
    metric = nn.Perplexity(ignore_label=1)
    assert np.isclose(evaluated(metric, Tensor(rows), Tensor([0, 0, 1])), 4)
    with pytest.raises(RuntimeError, match="one label for each row"):
        metric.update(rows, np.array([0, 1]))


def test_similarities_are_reduced_without_the_diagonal():
    rows = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    dots = rows @ rows.T
    assert_close(evaluated(nn.CosineSimilarity("dot", "sum", False), rows), dots.sum(-1), kind="program")
    off = dots - np.diag(np.diag(dots))
    metric = nn.CosineSimilarity("dot", "mean")
    metric.update(Tensor(rows))
    for _ in range(2):  # evaluation does not change what was counted
        assert_close(metric.eval(), off.mean(-1), kind="program")


def test_dice_of_equal_halves():
    value = evaluated(nn.Dice(), np.array([[1.0, 1.0]]), np.array([[1, 0]]))
    assert np.isclose(value, 2 / 3, atol=1e-5)


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_occlusion_covers_a_window_around_each_place(mode):
    ms.set_context(mode=mode)
    weights = np.arange(1.0, 7.0, dtype=np.float32).reshape(2, 3)

    class Weighted(nn.Cell):
        def construct(self, x):
            return ms.ops.stack([x.sum((1, 2)), (x * Tensor(weights)).sum((1, 2))], 1)

    sample = np.ones((1, 2, 3), np.float32)
    # the window of margin 1 reaches from one place before to the place itself
    expected = [
        [weights[max(0, i - 1) : i + 1, max(0, j - 1) : j + 1].sum() for j in range(3)] for i in range(2)
    ]
    metric = nn.OcclusionSensitivity(margin=1, n_batch=4)
    assert_close(evaluated(metric, Weighted(), sample, np.array(1)), expected)
    inner = nn.OcclusionSensitivity(margin=1, b_box=[1, -1, 0, 1])
    assert_close(evaluated(inner, Weighted(), sample, np.array(1)), np.array(expected)[1, :2])
    with pytest.raises(RuntimeError, match="one sample"):
        inner.update(Weighted(), np.ones((2, 2, 3)), np.array(1))


@pytest.mark.parametrize(
    "name",
    [
        "roc",
        "dice",
        "perplexity",
        "bleu_score",
        "confusion_matrix",
        "cosine_similarity",
        "hausdorff_distance",
    ],
)
def test_metrics_by_name(name):
    arguments = {"num_classes": 2} if name == "confusion_matrix" else {}
    metric = nn.get_metric_fn(name, **arguments)
    assert type(metric).__name__.lower() == name.replace("_", "")
