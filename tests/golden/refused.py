"""Programs that graph mode refuses; what it says of each stands in ``refusals.txt``."""

import dataclasses

import numpy as np

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops

X = Tensor([1.0, 2.0, 3.0])
S = Tensor(2.0)
I = Tensor(1, ms.int32)
KEPT = []


def depth_by_a_tensor(x=S):
    if x > 100:
        return x
    return 1 + depth_by_a_tensor(x * 2)


def key_of_a_dict(i=I):
    return {0: 1.0, 1: 2.0}[i]


def index_of_unlike_items(x=S, i=I):
    return [x, ops.stack([x, x])][i]


def branches_of_two_shapes(x=S):
    if x > 0:
        y = x
    else:
        y = ops.zeros((3,), ms.float32)
    return y


def branches_of_two_dtypes(x=S):
    return x if x > 0 else ops.cast(x, ms.int32)


def a_branch_without_value(x=S):
    if x > 0:
        return x
    # nothing on this way


def branches_of_two_structures(x=S):
    if x > 0:
        pair = (x, x)
    else:
        pair = (x,)
    return pair[0]


def branches_with_other_objects(x=S):
    f = ops.sin if x > 0 else ops.cos
    return f(x)


def defined_in_one_branch(x=S):
    if x > 0:
        y = x * 2
    return y


def defined_in_a_loop(x=S):
    while x < 10:
        x = x * 2
        y = x
    return y


def a_shape_that_changes(x=X):
    while x.sum() < 100:
        x = ops.concat((x, x))
    return x


def a_dtype_that_changes(x=I):
    while x < 10:
        x = x * 1.5
    return x


def a_list_that_grows(x=S):
    found = []
    while x < 10:
        x = x * 2
        found.append(x)
    return found


def tensors_in_try(x=S):
    try:
        y = ops.log(x)
    except ValueError:
        y = x
    return y


def a_refusal_is_not_caught(x=S):
    try:
        return float(x)
    except TypeError:
        return 0.0


def a_generator(x=S):
    yield x


async def a_coroutine(x=S):
    return x


def read_by_asnumpy(x=X):
    return ops.sum(x) * x.asnumpy().max()


def read_by_float(x=S):
    return x * float(x)


def read_by_int(x=S):
    return x * int(x)


def read_by_item(x=S):
    return x * x.item()


def numpy_of_a_tensor(x=X):
    return np.sin(x)


def truth_of_several(x=X):
    if x > 0:
        return x
    return -x


def filtered_by_tensors(x=X):
    return ops.stack([a for a in x if a > 1])


def sorted_tensors(x=X):
    return sorted([x[2], x[1]])[0]


def raised_where_a_tensor_decides(x=S):
    if x < 0:
        raise ValueError("negative")
    return x


def asserted_of_a_tensor(x=S):
    assert x > 0, "negative"
    return x


def a_global_list(x=S):
    KEPT.append(1)
    return x


class Holder(nn.Cell):
    def __init__(self):
        super().__init__()
        self.history = []
        self.k = 1
        self.w = Parameter(Tensor(1.0), name="w")


class AListOfTheCell(Holder):
    def construct(self, x=S):
        self.history.append(2.0)
        return x


class AnObjectMadeInside(Holder):
    def construct(self, x=S):
        self.k = Plain()
        return x


class AnAttributeOfOneType(Holder):
    def construct(self, x=S):
        if x > 0:
            self.k = X
        return x * self.k


class AnAttributeOnOneWay(Holder):
    def construct(self, x=S):
        if x > 0:
            self.new = x
        return x


class AParameterReplaced(Holder):
    def construct(self, x=S):
        self.w = None
        return x


def a_range_as_a_list(i=I):
    return list(range(i))


class Plain:
    scale = 1.0


PLAIN = Plain()


@dataclasses.dataclass
class Options:
    scale: float = 1.0


OPTIONS = Options()


def a_dataclass_given(x=S, options=OPTIONS):
    options.scale = 2.0
    return x * options.scale


def a_refused_program_assigns(x=S):
    PLAIN.scale = x
    return float(x)


def _with_a_list_in_a_closure():
    seen, nested = [], {"items": []}

    def a_list_of_a_closure(x=S):
        seen.append(x)
        return x

    def a_list_in_a_dict_of_a_closure(x=S):
        nested["items"] += [x]
        return x

    return a_list_of_a_closure, a_list_in_a_dict_of_a_closure


a_list_of_a_closure, a_list_in_a_dict_of_a_closure = _with_a_list_in_a_closure()


def an_iterator_from_outside(x=S):
    rows = iter([1.0, 2.0, 3.0])
    if x > 0:
        x = x * next(rows)
    return x * next(rows)


def an_array_from_outside(x=S):
    table = np.zeros(3)
    if x > 0:
        table[0] += 1
    return x * float(table[0])


def a_generator_behind_a_break(x=S):
    rows = (k * 1.0 for k in range(5))
    for row in rows:
        x = x + row
        if x > 3:
            break
    return x * sum(rows)


def a_stale_name(x=X):
    y, z = x, x
    while y.sum() < 100:
        y[0] = 1.0
        y = y * 2
    return y + z


def a_text_that_decides(x=S):
    k = 1
    if x > 0:
        k = 2
    return x * (3 if f"{k}" == "2" else 1)


def a_key_that_a_tensor_decides(x=S):
    k = 1
    if x > 0:
        k = 2
    return x * {1: 1.0, 2: 2.0}.get(k, 0.0)


def a_dict_that_is_a_default(x=S):
    return _remembering(x)


def _remembering(x, cache={}):  # noqa: B006
    cache["x"] = x
    return x
