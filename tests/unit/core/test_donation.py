"""Memory of written Parameters is used again, and nobody ever holds an array that was taken."""

import copy
import gc
import pickle
import signal
import threading
import weakref

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from mindgrad.frontend.programs.compiled import Compiled
from tests.tolerances import assert_close

pytestmark = pytest.mark.xla


def wide(*numbers):
    return Tensor(np.array(numbers if len(numbers) > 1 else numbers[0], np.float64))


def equals(tensor, expected):
    assert_close(tensor, expected, "program", scale=1)


def place(parameter):
    """Where the Parameter's elements are in memory."""
    return parameter._array.unsafe_buffer_pointer()


def counter(size=1000, dtype=np.float64):
    """A Parameter of zeros, and a compiled step that adds its argument to it."""
    p = Parameter(Tensor(np.zeros(size, dtype)), name="p")

    def step(x):
        p.set_data(p + x)
        return (p * 2).sum()

    return p, Compiled(step)


def test_the_new_value_lies_where_the_old_one_was():
    p, step = counter()
    step(wide(1.0))
    before = place(p)
    for count in range(2, 6):
        assert step(wide(1.0)).item() == 2000 * count
        assert place(p) == before
    equals(p, np.full(1000, 5.0))


def test_several_parameters_each_in_its_place():
    a = Parameter(wide(*np.zeros(50)), name="a")
    b = Parameter(Tensor(np.zeros((5, 10), np.float32)), name="b")
    frozen = Parameter(wide(2.0), name="frozen")

    def step(x):
        a.set_data(a + frozen * x)
        b.set_data(b + 1)

    run = Compiled(step)
    run(wide(1.0))
    places = place(a), place(b)
    held = frozen._array
    for _ in range(3):
        run(wide(1.0))
        assert (place(a), place(b)) == places
    equals(a, np.full(50, 8.0))
    equals(b, np.full((5, 10), 4.0))
    assert frozen._array is held, "what is only read stays as it is"


def test_the_old_array_is_freed_when_the_parameter_gets_another_value():
    p, step = counter()
    step(wide(1.0))
    array = weakref.ref(p._array)
    step(wide(1.0))
    gc.collect()
    assert array() is None


@pytest.mark.parametrize(
    "hold",
    [
        lambda p: p.value(),
        lambda p: Tensor(p),
        lambda p: p.clone(),
        copy.copy,
        copy.deepcopy,
        lambda p: p * 1,
        lambda p: Parameter(p, name="q"),
        lambda p: p.reshape(10, 100).reshape(-1),
        lambda p: pickle.loads(pickle.dumps(p)),
        lambda p: copy.copy(p.value()),
        lambda p: Tensor(p.asnumpy()),
        lambda p: Tensor(p.numpy()),
        lambda p: Parameter(wide(*np.zeros(1000)), name="q").set_data(p),
        lambda p: Parameter(wide(*np.zeros(1000)), name="q").set_data(p.value()),
    ],
)
def test_what_was_made_from_a_parameter_keeps_its_value(hold):
    p, step = counter()
    for before in range(3):  # before the first call the array is NumPy's
        held = hold(p)
        step(wide(1.0))
        equals(held, np.full(1000, float(before)))
        equals(p, np.full(1000, before + 1.0))


def test_numpy_views_keep_their_values():
    p, step = counter()
    for before in range(3):
        views = [p.numpy(), np.asarray(p.value()), np.asarray(p)]
        step(wide(1.0))
        for view in views:
            np.testing.assert_array_equal(view, np.full(1000, float(before)))


def test_an_array_that_a_user_gave_is_not_written():
    array = np.zeros(1000)
    p, step = counter()
    given = Tensor(array)
    p.set_data(given)
    for _ in range(3):
        step(wide(1.0))
    np.testing.assert_array_equal(array, 0.0)
    equals(given, np.zeros(1000))


def test_two_parameters_that_share_an_array():
    a, b = (Parameter(wide(*np.zeros(100)), name=name) for name in "ab")

    def step(x):
        a.set_data(a + x)
        b.set_data(b * 2 + x)

    run = Compiled(step)
    run(wide(1.0))
    b.set_data(a)
    for count in range(3):
        run(wide(1.0))
        equals(a, np.full(100, 2.0 + count))
    equals(b, np.full(100, 15.0))


def test_one_parameter_under_two_names():
    p = Parameter(wide(*np.zeros(100)), name="p")

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.one = p
            self.other = p

        def construct(self, x):
            self.one = self.one + x
            self.other = self.other * 2
            return self.one + self.other

    net = Net()
    run = Compiled(net)
    value = 0.0
    for _ in range(3):
        value = (value + 1) * 2
        equals(run(wide(1.0)), np.full(100, 2 * value))
        equals(p, np.full(100, value))


def test_a_parameter_that_is_an_argument_of_the_step_that_writes_it():
    p, step = counter()
    for count in (0, 0, 0):
        step(p)
        equals(p, np.full(1000, count))
    step(wide(1.0))
    for count in (2, 4, 8):
        step(p)
        equals(p, np.full(1000, count))
        step(p.value())
        equals(p, np.full(1000, 2 * count))
        p.set_data(ops.zeros((1000,), ms.float64) + count)


def test_values_that_trade_places_or_stay():
    a, b, c = (Parameter(wide(*np.full(10, k)), name=f"p{k}") for k in range(3))

    def rotate():
        held = a.value()
        a.set_data(b)
        b.set_data(c)
        c.set_data(held)
        return held

    run = Compiled(rotate)
    for turn in range(7):
        held = run()
        equals(held, np.full(10, turn % 3))
        for k, p in enumerate((a, b, c)):
            equals(p, np.full(10, (turn + 1 + k) % 3))


def test_one_value_for_two_parameters_and_the_result():
    a, b = (Parameter(wide(*np.zeros(10)), name=name) for name in "ab")

    def step(x):
        new = a + b + x
        a.set_data(new)
        b.set_data(new)
        return new, new

    run = Compiled(step)
    expected = 0.0
    for _ in range(4):
        expected = 2 * expected + 1
        for each in (*run(wide(1.0)), a, b):
            equals(each, np.full(10, expected))
    first = run(wide(1.0))[0]
    run(wide(1.0))
    equals(first, np.full(10, 31.0))


def test_constants_and_unchanged_values_are_written_too():
    a, b = (Parameter(wide(*np.ones(10)), name=name) for name in "ab")

    def step():
        a.set_data(ops.zeros((10,), ms.float64))
        b.set_data(b)
        return a + b

    run = Compiled(step)
    for _ in range(3):
        equals(run(), np.ones(10))
    equals(a, np.zeros(10))
    equals(b, np.ones(10))


def test_a_value_of_one_element_that_is_seen_everywhere():
    p, step = counter()
    p.set_data(ops.zeros((1000,), ms.float64))
    step(wide(1.0))
    p.set_data(ops.full((1000,), 5.0, dtype=ms.float64))
    step(wide(1.0))
    equals(p, np.full(1000, 6.0))
    equals(Compiled(lambda x: x * p)(wide(2.0)), np.full(1000, 12.0))


def test_a_value_of_another_shape():
    p = Parameter(wide(1.0, 2.0), name="p")

    def grow():
        p.set_data(ops.concat([p, p]), slice_shape=True)

    run = Compiled(grow)
    for length in (4, 8, 16):
        run()
        assert p.shape == (length,)
    equals(p, [1.0, 2.0] * 8)


def test_a_recording_keeps_the_values_that_it_was_made_with():
    p, step = counter()
    step(wide(1.0))
    out, pull = ms.vjp(lambda x: (x * p * p).sum(), wide(*np.arange(1000.0)))
    step(wide(1.0))
    step(wide(1.0))
    equals(pull(wide(1.0))[0] if isinstance(pull(wide(1.0)), tuple) else pull(wide(1.0)), np.ones(1000))
    equals(out, np.arange(1000.0).sum())


def test_a_program_that_fails_before_it_runs_leaves_parameters_alone():
    p, step = counter()
    step(wide(1.0))
    other = Tensor(np.ones(7))
    with pytest.raises((ValueError, TypeError)):
        step(other)
    equals(p, np.ones(1000))
    step(wide(1.0))
    equals(p, np.full(1000, 2.0))


def _send(number):
    return lambda *_: signal.raise_signal(number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGALRM])
def test_interrupts_come_before_or_after_a_step_never_within(number):
    a, b = (Parameter(wide(*np.zeros(20)), name=name) for name in "ab")

    def step(x):
        a.set_data(a + x)
        b.set_data(b + x)

    class Interrupt(BaseException):
        pass

    def interrupt(*_):
        raise Interrupt

    run = Compiled(step)
    run(wide(1.0))
    x = wide(1.0)
    previous = signal.signal(signal.SIGALRM, interrupt if number == signal.SIGALRM else _send(number))
    held = signal.signal(signal.SIGINT, interrupt)
    interrupted = 0
    try:
        for k in range(150):
            try:
                signal.setitimer(signal.ITIMER_REAL, 2e-5 + k % 50 * 1e-5)
                for _ in range(1000):
                    run(x)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except Interrupt:
                interrupted += 1
            np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
        assert signal.signal(signal.SIGINT, held) is interrupt
    assert interrupted > 50
    run(x)
    np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())


def test_threads_that_read_while_others_write():
    p, step = counter(64)
    double = Compiled(lambda x: (x + p).sum() * 2)
    stop, failures = threading.Event(), []

    def guarded(work):
        def run():
            try:
                while not stop.is_set():
                    work()
            except BaseException as error:
                failures.append(error)
                stop.set()

        return run

    def whole(array):
        assert len(set(array.tolist())) == 1, array

    works = [
        lambda: step(wide(1.0)),
        lambda: step(wide(1.0)),
        lambda: whole(p.asnumpy()),
        lambda: whole((p.value() * 2).asnumpy()),
        lambda: whole((p + 1).asnumpy()),
        lambda: double(wide(1.0)).item(),
        lambda: whole(p.clone().asnumpy()),
    ]
    step(wide(1.0))
    double(wide(1.0))
    threads = [threading.Thread(target=guarded(work)) for work in works]
    for thread in threads:
        thread.start()
    stop.wait(1.5)
    stop.set()
    for thread in threads:
        thread.join(60)
    assert failures == []
    assert p.asnumpy()[0] > 2


def test_no_step_of_several_threads_is_lost():
    p, step = counter(16)
    x = wide(1.0)
    barrier = threading.Barrier(4)

    def work():
        barrier.wait(30)
        for _ in range(100):
            step(x)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(90)
    equals(p, np.full(16, 400.0))


def test_a_training_step_leaves_what_the_eager_one_leaves():
    def make():
        weight = Parameter(Tensor(np.full((3, 2), 0.3)), name="w")
        moment = Parameter(Tensor(np.zeros((3, 2))), name="m", requires_grad=False)
        count = Parameter(Tensor(0), name="n", requires_grad=False)

        def step(x):
            loss, slope = ms.value_and_grad(
                lambda x: (ops.tanh(ops.matmul(x, weight)) ** 2).mean(), None, weight
            )(x)
            moment.set_data(0.9 * moment + slope)
            weight.set_data(weight - 0.1 * moment)
            count.set_data(count + 1)
            return loss

        return step, (weight, moment, count)

    x = Tensor(np.linspace(-1, 1, 12).reshape(4, 3))
    eager, held = make()
    other, held_too = make()
    compiled = Compiled(other)
    for _ in range(5):
        equals(compiled(x), eager(x).asnumpy())
        for one, two in zip(held, held_too, strict=True):
            equals(two, one.asnumpy())
