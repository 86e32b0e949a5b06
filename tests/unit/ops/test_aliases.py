"""Two names of one tensor: what is assigned to elements of one is seen through the other, in graph mode too."""

import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from tests.tolerances import assert_close

EXACT, STALE = [], []


def exact(function):
    EXACT.append(function)
    return function


def stale(function):
    STALE.append(function)
    return function


@exact
def chosen_by_a_branch(x):
    z, w = x * 1, x * 2
    if x.sum() > 0:
        y = z
    else:
        y = w
    y[0] = 50.0
    return z + w * 10 + y * 100


@exact
def the_other_name_is_assigned(x):
    z, w = x * 1, x * 2
    y = z if x.sum() > 0 else w
    z[0] = 7.0
    return y + w * 10


@exact
def two_choices(x):
    z, w = x * 1, x * 2
    y = z if x.sum() > 0 else w
    u = z if x[0] > 1.5 else w
    y[0] = 9.0
    return u + 10 * z + 100 * w


@exact
def one_object_on_each_way(x):
    if x.sum() > 0:
        a = x * 3
        b = a
    else:
        a = x * 4
        b = x * 5
    a[0] = 9.0
    return b


@exact
def in_a_list_and_an_attribute(x):
    class Holder:
        pass

    held = Holder()
    z, w = x * 1, x * 2
    names = [z]
    held.tensor = z
    if x.sum() > 0:
        names = [w]
        held.tensor = w
    names[0][0] = 5.0
    held.tensor[1] = 6.0
    return z + 10 * w


@exact
def swapped(x):
    a, b = x * 1, x * 2
    c = a
    if x.sum() > 0:
        a, b = b, a
    a[0] = 77.0
    return a + 10 * b + 100 * c


@exact
def changed_in_a_while(x):
    z, i, w = x * 1, x.sum() * 0, x * 0
    y = z
    while i < 3:
        y[0] = y[0] + 1
        w, i = w + z, i + 1
    return z + y * 10 + w * 100


@exact
def perhaps_replaced_in_a_while(x):
    z, i = x * 1, x.sum()
    y = z
    while i > 0:
        y, i = y * 2, i - 1
    y[0] = 5.0
    return z + 10 * y


@exact
def perhaps_named_in_a_while(x):
    z, y, i = x * 1, x * 3, x.sum()
    while i > 0:
        y, i = z, i - 1
    y[0] = 5.0
    return z + 10 * y


@exact
def changed_and_replaced_in_a_branch(x):
    y, i = x * 1, x.sum() * 0
    if x.sum() > 0:
        while i < 3:
            y[0] = y[0] + 1
            y, i = y * 2, i + 1
    else:
        y = y + 1
    y[1] = 3.0
    return y


@exact
def changed_in_a_nested_branch(x):
    a = x * 1
    b = a
    if x.sum() > 0 and x[0] > 0:
        b[0] = 4.0
    return a + 10 * b


@exact
def identity_that_a_branch_decides(x):
    y, z = x * 1, x * 2
    if x.sum() > 0:
        z = y
    return x * (2 if z is y else 1) + (3 if z is not y else 5)


@exact
def truth_by_identity(x):
    flag = False
    if x.sum() > 0:
        flag = True
    return x * (2 if flag is True else 1) + (0 if flag is not False else 7)


@exact
def gradient(x):
    def f(x):
        z, w = x * x, x * 2
        y = z if x.sum() > 0 else w
        y[0] = x[1] * 3
        return (z * w + y).sum()

    return ms.grad(f)(x)


@stale
def one_of_three(x):
    z, w, v = x * 1, x * 2, x * 3
    if x.sum() > 2:
        y = z
    elif x.sum() > 0:
        y = w
    else:
        y = v
    y[0] = 50.0
    return y + w


@stale
def changed_and_replaced(x):
    z, i = x * 1, x.sum() * 0
    y = z
    while i < 3:
        y[0] = y[0] + 1
        y, i = y * 2, i + 1
    return y + z


@stale
def changed_and_replaced_while_read(x):
    z, i, w = x * 1, x.sum() * 0, x * 0
    y = z
    while i < 3:
        y[0] = y[0] + 1
        y, w, i = y * 2, w + z, i + 1
    return y + w


@stale
def picked_by_a_tensor(x):
    xs = [x * 1, x * 2]
    y = xs[(x.sum() > 0).astype(ms.int32)]
    y[0] = 5.0
    return xs[0] + 10 * xs[1]


@pytest.mark.parametrize("function", EXACT, ids=lambda f: f.__name__)
def test_exact(function):
    compiled = ms.jit(function)
    for x in ([1.0, 2.0], [-1.0, -2.0]):
        expected = function(Tensor(x)).asnumpy()
        assert_close(compiled(Tensor(x)), expected)


@pytest.mark.parametrize("function", STALE, ids=lambda f: f.__name__)
def test_a_stale_name_is_not_used(function):
    with pytest.raises(
        ms.CompileError, match="same object as another tensor whose elements were assigned since"
    ):
        ms.jit(function)(Tensor([1.0, 2.0]))


def test_a_stale_tensor_from_outside_is_whole_afterwards():
    z = Tensor([1.0, 2.0])

    @ms.jit
    def changed(x):
        y, i = z, x.sum() * 0
        while i < 3:
            y[0] = y[0] + 1
            y, i = y * 2, i + 1
        return y

    assert changed(Tensor([1.0])).shape == (2,)
    assert z.asnumpy().tolist() == [1.0, 2.0]


def test_identity_in_a_loop_is_refused():
    @ms.jit
    def counted(x):
        z, i, n = x * 1, x.sum() * 0, 0
        y = z
        while i < 3:
            if y is z:
                n = n + 1
            y, i = y * 2, i + 1
        return x * n

    with pytest.raises(ms.CompileError, match="'is' compares two tensors"):
        counted(Tensor([1.0]))


def test_identity_of_a_number_is_refused():
    two = 2

    @ms.jit
    def compared(x):
        k = 1
        if x.sum() > 0:
            k = 2
        return x if k is two else x * k

    with pytest.raises(ms.CompileError, match="'is' compares a number"):
        compared(Tensor([1.0]))


@pytest.mark.parametrize("function", [id, hash])
def test_identity_as_a_number_is_refused(function):
    @ms.jit
    def identity(x):
        z, y = x * 1, x * 2
        if x.sum() > 0:
            y = z
        return ops.sin(x) * (2 if function(y) == function(z) else 1)

    with pytest.raises(
        ms.CompileError, match=f"'{function.__name__}' is called on an object that depends on a tensor"
    ):
        identity(Tensor([1.0]))


@exact
def not_used_any_more_in_a_later_branch(x):
    y, z = x * 1, [x * 0.5, x]
    if x.sum() > 0:
        y = z[0]
        if x[0] > 0.5:
            return x
    y[1:] += 1.0
    if x[1] > 0:
        z[1] = y
    return z[1] * y
