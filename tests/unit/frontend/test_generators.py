"""Generators of random numbers: states of their own, eager, compiled, in gradients, under vmap, in threads."""

import copy
import gc
import pickle
import threading

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, mint, ops
from mindgrad.frontend import state


def test_a_generator_gives_the_same_numbers_after_the_same_seed():
    one, two = ms.Generator().manual_seed(5), ms.Generator().manual_seed(5)
    ms.set_seed(1)
    default = ms.get_rng_state().asnumpy()
    for draw in (
        lambda g: mint.rand(3, generator=g),
        lambda g: mint.randn((2, 2), generator=g),
        lambda g: mint.randint(1, 9, (4,), generator=g),
        lambda g: mint.randperm(5, generator=g),
        lambda g: mint.normal(Tensor([1.0, 2.0]), 3.0, generator=g),
        lambda g: mint.bernoulli(Tensor([0.5] * 8), generator=g),
        lambda g: mint.multinomial(Tensor([1.0, 2.0, 3.0]), 2, generator=g),
    ):
        np.testing.assert_array_equal(draw(one).asnumpy(), draw(two).asnumpy())
    np.testing.assert_array_equal(ms.get_rng_state().asnumpy(), default)  # which nobody has drawn from
    assert (mint.rand(3, generator=one).asnumpy() != mint.rand(3, generator=one).asnumpy()).any()
    assert (mint.rand(3, generator=one).asnumpy() != mint.rand(3).asnumpy()).any()


def test_the_default_generator_is_the_one_that_set_seed_sets():
    assert ms.manual_seed(11) is ms.default_generator
    assert (ms.get_seed(), ms.initial_seed(), ms.default_generator.initial_seed()) == (11, 11, 11)
    first = ops.rand(3).asnumpy()
    ms.set_seed(11)
    np.testing.assert_array_equal(mint.rand(3, generator=ms.default_generator).asnumpy(), first)
    assert ms.seed() == ms.initial_seed()


def test_a_state_is_given_and_taken_back():
    generator = ms.Generator()
    kept = generator.get_state()
    first = mint.randn(4, generator=generator).asnumpy()
    generator.set_state(kept)
    np.testing.assert_array_equal(mint.randn(4, generator=generator).asnumpy(), first)
    with pytest.raises(
        TypeError, match="For 'set_state', the 'state' must be a tensor that get_state returned"
    ):
        generator.set_state(Tensor([1.0]))
    with pytest.raises(TypeError, match=r"'generator' must be a mindspore\.Generator or None, but got int"):
        mint.rand(3, generator=3)
    with pytest.raises(ValueError, match="must be between 0 and"):
        generator.manual_seed(-1)


def test_compiled_functions_move_it_on():
    generator = ms.Generator()

    @ms.jit
    def draw(x):
        return x + mint.rand(3, generator=generator)

    generator.manual_seed(3)
    compiled = [draw(Tensor(0.0)).asnumpy() for _ in range(2)]
    generator.manual_seed(3)
    eager = [mint.rand(3, generator=generator).asnumpy() for _ in range(2)]
    np.testing.assert_array_equal(compiled, eager)

    def loss(w):
        return (w * mint.rand(3, generator=generator)).sum()

    generator.manual_seed(3)
    np.testing.assert_array_equal(ms.grad(loss)(Tensor([1.0, 1.0, 1.0])).asnumpy(), eager[0])
    np.testing.assert_array_equal(mint.rand(3, generator=generator).asnumpy(), eager[1])


def test_under_vmap_each_element_has_numbers_of_its_own():
    generator = ms.Generator().manual_seed(3)
    found = ms.vmap(lambda x: x + mint.rand(2, generator=generator))(Tensor([0.0, 0.0, 0.0])).asnumpy()
    assert len(np.unique(found)) == 6


def test_a_generator_that_is_gone_leaves_nothing():
    gc.collect()
    count = len(state.generators)
    made = [ms.Generator() for _ in range(3)]
    assert len(state.generators) == count + 3
    del made
    gc.collect()
    assert len(state.generators) == count


@pytest.mark.parametrize("differentiated", [False, True])
def test_threads_draw_no_number_twice(differentiated):
    ms.set_context(mode=ms.PYNATIVE_MODE)
    found: list[list[float]] = [[] for _ in range(4)]
    start = threading.Barrier(4)

    def draw(place):
        start.wait()
        for _ in range(60):
            if differentiated:
                x = ms.grad(lambda w: (w * ops.rand(4)).sum())(Tensor([1.0] * 4))
            else:
                x = ops.rand(4)
            found[place] += x.asnumpy().tolist()

    threads = [threading.Thread(target=draw, args=(place,)) for place in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    rows = np.array(found).reshape(-1, 4)
    assert rows.shape == (240, 4)
    assert len(np.unique(rows, axis=0)) == 240


def check_copy(original, generator):
    """What a generator does; it is gone when this returns."""
    expected = mint.rand(6, generator=ms.Generator().manual_seed(5)).asnumpy()
    rows = ms.vmap(lambda x: x + mint.rand(2, generator=generator))(Tensor(np.zeros((3, 2), np.float32)))
    assert len(np.unique(rows.asnumpy())) == 6, "each element draws from a state of its own"
    generator.manual_seed(5)
    original.clear()
    gc.collect()
    assert any(each is generator.state for each in state.generators)
    np.testing.assert_array_equal(mint.rand(6, generator=generator).asnumpy(), expected)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g)), copy.copy])
def test_a_copy_is_a_generator_in_every_respect(duplicate):
    gc.collect()
    count = len(state.generators)
    original = [ms.Generator().manual_seed(5)]
    assert (duplicate(original[0]).state is original[0].state) == (duplicate is copy.copy)
    check_copy(original, duplicate(original[0]))
    gc.collect()
    assert len(state.generators) == count


def test_a_copy_of_the_default_generator_is_the_default_generator():
    assert copy.deepcopy(ms.default_generator) is ms.default_generator
    assert pickle.loads(pickle.dumps(ms.default_generator)) is ms.default_generator
