"""``nn.AdaFactor``: two steps of a matrix and a vector, values of MindSpore 2.10 on a CPU."""

import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn
from tests.tolerances import assert_close

MATRIX, VECTOR = [[1.0, -2.0, 0.5], [3.0, 0.25, -1.0]], [1.0, -2.0, 0.5]
GRADIENTS = [
    ([[0.5, -1.0, 2.0], [0.1, 0.3, -0.7]], [0.5, -1.0, 2.0]),
    ([[-0.4, 0.2, 1.0], [1.1, -0.3, 0.5]], [-0.4, 0.2, 1.0]),
]
OPTIONS = dict(learning_rate=0.01, scale_parameter=False, relative_step=False, beta1=None)
CASES = [
    ({}, [[0.997618, -1.997422, 0.495873], [2.994796, 0.248429, -0.99773]], [0.998674, -1.997881, 0.496611]),
    (
        dict(weight_decay=0.1),
        [[0.99443, -1.991046, 0.494283], [2.985236, 0.247632, -0.994542]],
        [0.996033, -1.9926, 0.495293],
    ),
    (
        OPTIONS,
        [[0.994399, -1.992958, 0.48312], [2.972961, 0.248306, -0.995149]],
        [0.998982, -1.992986, 0.483373],
    ),
    (
        dict(warmup_init=True, eps=(1e-30, 1e3), beta1=0.0, clip_threshold=0.5),
        [[0.999927, -1.999772, 0.498781], [2.997587, 0.250256, -1.000004]],
        [1.000846, -1.999948, 0.498507],
    ),
    (
        dict(clip_threshold=0.5, decay_rate=0.6, eps=(0.001, 0.1)),
        [[0.99874, -1.998669, 0.49775], [2.997422, 0.249188, -0.998801]],
        [0.999617, -1.999058, 0.498071],
    ),
]


def trained(run, options):
    w, v = Parameter(Tensor(MATRIX), name="w"), Parameter(Tensor(VECTOR), name="v")
    optimizer = nn.AdaFactor([w, v], **options)
    step = run(lambda a, b: optimizer((a, b)))
    for one, other in GRADIENTS:
        step(Tensor(one), Tensor(other))
    return w.asnumpy(), v.asnumpy(), optimizer


@pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "compiled"])
@pytest.mark.parametrize("case", range(len(CASES)))
def test_steps_are_those_of_mindspore(run, case):
    options, matrix, vector = CASES[case]
    w, v, _ = trained(run, options)
    assert_close(w, matrix, kind="contraction")
    assert_close(v, vector, kind="contraction")


def test_state():
    *_, optimizer = trained(lambda f: f, dict(compression=True))
    state = {p.name: (p.shape, p.dtype) for p in optimizer.get_parameters() if p.name.startswith("exp_avg")}
    assert state == {
        "exp_avg.w": ((2, 3), ms.float32),
        "exp_avg.v": ((3,), ms.float32),
        "exp_avg_sq_row_w": ((2,), ms.float32),
        "exp_avg_sq_row_v": ((1,), ms.float32),
        "exp_avg_sq_col_w": ((3,), ms.float32),
        "exp_avg_sq_col_v": ((1,), ms.float32),
        "exp_avg_sq_w": ((1,), ms.float32),
        "exp_avg_sq_v": ((3,), ms.float16),
    }


def test_a_schedule_is_taken_as_it_is():
    _, v, optimizer = trained(
        lambda f: f, {**OPTIONS, "learning_rate": [0.01, 0.01], "scale_parameter": True}
    )
    assert_close(v, CASES[2][2])
    assert not optimizer.scale_parameter


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        (dict(learning_rate=0.1), ValueError, "either a 'learning_rate' or relative_step=True"),
        (dict(relative_step=False), ValueError, "either a 'learning_rate' or relative_step=True"),
        ({**OPTIONS, "warmup_init": True}, ValueError, "warmup_init=True requires relative_step=True"),
        (dict(eps=1e-3), TypeError, "the 'eps' must be a tuple"),
        (dict(eps=(1e-3,)), ValueError, "the 'eps' must be two numbers"),
        (dict(decay_rate=1.5), ValueError, "'decay_rate'"),
    ],
)
def test_refusals(options, error, text):
    with pytest.raises(error, match=text):
        nn.AdaFactor([Parameter(Tensor(VECTOR), name="v")], **options)
