"""Two names of one list or dict: what is changed by one is seen through the other, in graph mode too."""

import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from tests.tolerances import assert_close

SHARED, UNCERTAIN = [], []


def shared(function):
    SHARED.append(function)
    return function


def uncertain(function):
    UNCERTAIN.append(function)
    return function


@shared
def read_by_another_name_in_a_branch(x):
    p = [x * 2]
    q = p
    if x.sum() > 0:
        p[0] = p[0] * 5
        x = x * q[0]
    return p[0] + q[0] + x


@shared
def changed_by_two_names_in_a_branch(x):
    p = [x * 2]
    q = p
    if x.sum() > 0:
        p[0] = p[0] * 5
        q[0] = q[0] + 1
    return p[0] + q[0]


@shared
def changed_by_two_names_in_a_loop(x):
    p = {"a": x * 2}
    q = p
    k = 0
    while k < 3 and x.sum() > -3:
        p["a"] = p["a"] * 0.5
        q["a"] = q["a"] * x + p["a"]
        k += 1
    return p["a"] + 3 * q["a"]


@shared
def read_by_another_name_in_a_loop(x):
    p = [x * 2]
    q = (p, x)
    for _ in range(ops.cast(x.sum() * 0 + 3, ms.int32)):
        p[0] = p[0] * 0.5
        x = x * q[0][0]
    return p[0] + x


@shared
def kept_inside_of_another(x):
    p = [x * 2]
    q = [p, x]
    if x.sum() > 0:
        q[1] = x * 3
    p[0] = p[0] * 7
    return q[0][0] + q[1]


@shared
def changed_inside_of_another(x):
    p = [x * 2]
    state = {"p": p}
    if x.sum() > 0:
        state["p"][0] = x * 3
    return p[0] + 2 * state["p"][0]


@shared
def the_same_on_both_ways(x):
    p, q = [x * 2], [x * 3]
    if x.sum() > 0:
        p, s = q, 1.0
    else:
        p, s = q, 2.0
    p[0] = x
    return q[0] * s + p[0]


@shared
def replaced_in_a_loop_that_reads_the_other_name(x):
    p = [x * 2, (x, [x])]
    q = p
    for _ in range(ops.cast(x.sum() * 0 + 3, ms.int32)):
        p = [p[0] * 0.5 + q[0], (x, [p[1][1][0] * q[1][1][0]])]
    return p[0] + q[0] * p[1][1][0]


@shared
def replaced_inside_of_another_in_a_loop(x):
    p, k = [x * 2], 0
    q = {"p": p}
    while k < 3 and x.sum() > -3:
        q["p"] = [q["p"][0] * 0.5 + p[0]]
        k += 1
    return p[0] + 2 * q["p"][0]


@shared
def swapped_lists(x):
    p, q = [x * 2], [x * 3]
    if x.sum() > 0:
        p, q = q, p
    p[0] = p[0] * 5
    return p[0] + 10 * q[0]


@shared
def chosen_where_no_other_name_is_left(x):
    p = [x * 2]
    if x.sum() > 0:
        p = [x]
    p[0] = p[0] * 5
    return p[0]


@uncertain
def chosen_list(x):
    p, q = [x * 2], [x * 3]
    r = p if x.sum() > 0 else q
    r[0] = r[0] * 3
    return p[0] + q[0]


@uncertain
def chosen_dict_of_which_the_other_name_changes(x):
    p, q = {"a": x * 2}, {"a": x * 3}
    if x.sum() > 0:
        r = p
    else:
        r = q
    q.update(a=x)
    return p["a"] + r["a"]


@uncertain
def replaced_on_one_way(x):
    p = [x * 2]
    q = p
    if x.sum() > 0:
        p = [x]
    p[0] = p[0] * 5
    return p[0] + q[0]


@uncertain
def changed_and_replaced_in_a_loop(x):
    p = [x * 2]
    q = p
    for k in range(ops.cast(x.sum() * 0 + 2, ms.int32)):
        p[0] = p[0] * 5
        p = [x * k]
    return p[0] + q[0]


@pytest.mark.parametrize("function", SHARED)
def test_two_names_of_a_container(function):
    program, gradient = ms.jit(function), ms.jit(ms.grad(function))
    for x in (Tensor([0.3, 0.5, 0.1]), Tensor([-0.3, -0.5, -0.1])):
        assert_close(program(x), function(x))
        assert_close(gradient(x), ms.grad(function)(x))


@pytest.mark.parametrize("function", UNCERTAIN)
def test_two_names_of_perhaps_one_container(function):
    with pytest.raises(ms.CompileError, match="may be the same object as another"):
        ms.jit(function)(Tensor([0.3, 0.5, 0.1]))


OUTSIDE = [1.0, 2.0]


def test_another_name_of_a_container_from_outside():
    """Neither changed nor left with a tensor of the program in it."""

    @ms.jit
    def changed(x):
        items = OUTSIDE
        if x.sum() > 0:
            items[0] = x
        return items[0]

    @ms.jit
    def replaced(x):
        items = OUTSIDE
        if x.sum() > 0:
            items = [x * 2, OUTSIDE[1]]
        return items[0] + items[1]

    x = Tensor(3.0)
    with pytest.raises(ms.CompileError, match="A list that was created outside is changed"):
        changed(x)
    assert float(replaced(x).asnumpy()) == 8.0
    assert OUTSIDE == [1.0, 2.0]
