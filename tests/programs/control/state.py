"""Parameters that are read and written in branches and loops, and what they are afterwards."""

import math

import numpy as np

from mindgrad import Parameter, Tensor, nn, ops
from tests.programs.control.program import integer, program, weight


def counts_by_floats(p, x):
    p["total"] += x * x
    if x > 0:
        p["calls"] += 1
    return math.sin(p["total"]) * p["calls"]


@program((0.4,), (-0.4,), reference=counts_by_floats, written=["total", "calls"])
class CountsPositiveCalls(nn.Cell):
    """A write in every call, another one in a branch only."""

    def __init__(self):
        super().__init__()
        self.total = weight(0.5)
        self.calls = weight(2.0)

    def construct(self, x):
        self.total = self.total + x * x
        if x > 0:
            self.calls += 1
        return ops.sin(self.total) * self.calls


def sums_by_floats(p, x, n):
    before = p["total"]
    p["total"] = before + sum(math.sin(x * k) for k in range(n))
    return p["total"] * x - before


@program((0.4, integer(0)), (0.4, integer(1)), (0.4, integer(5)), reference=sums_by_floats, written=["total"])
class SumsInALoop(nn.Cell):
    """The Parameter is carried by the loop."""

    def __init__(self):
        super().__init__()
        self.total = weight(0.7)

    def construct(self, x, n):
        before = self.total * 1.0
        k = 0
        while k < n:
            self.total = self.total + ops.sin(x * k)
            k += 1
        return self.total * x - before


def assigned_by_floats(p, x):
    while p["level"] < 3:
        p["level"] *= x
        p["steps"] += 1
    if p["steps"] > 3.5:
        p["level"] -= 1
    return p["level"] ** 2


@program((1.34,), (1.9,), (7.0,), reference=assigned_by_floats, written=["level", "steps"])
class AssignsInALoop(nn.Cell):
    """ops.assign and its kin; the condition reads what the body writes. The second call may do no iteration."""

    def __init__(self):
        super().__init__()
        self.level = weight(0.8)
        self.steps = weight(0.0)

    def construct(self, x):
        while self.level < 3.0:
            ops.assign(self.level, self.level * x)
            ops.assign_add(self.steps, Tensor(np.array(1.0)))
        if self.steps > 3.5:
            ops.assign_sub(self.level, Tensor(np.array(1.0)))
        return self.level**2


def averages_by_numpy(p, v, training):
    if not training:
        return (v - p["mean"]) * p["gain"]
    if p["steps"] < 0.5:
        p["mean"] = v.mean() * np.ones(2)
    else:
        p["mean"] = 0.9 * p["mean"] + 0.1 * v
    p["steps"] += 1
    return (v - p["mean"]) * p["gain"]


@program(([0.4, -0.9], True), ([0.4, -0.9], False), reference=averages_by_numpy, written=["mean", "steps"])
class RunningMean(nn.Cell):
    """Statistics as a normalization layer keeps them; the first step is special."""

    def __init__(self):
        super().__init__()
        self.mean = weight([0.2, 0.1])
        self.steps = weight(0.0)
        self.gain = weight([1.5, -0.5])

    def construct(self, v, training):
        if training:
            if self.steps < 0.5:
                self.mean = v.mean() * ops.ones_like(v)
            else:
                self.mean = 0.9 * self.mean + 0.1 * v
            self.steps += 1
        return (v - self.mean) * self.gain


class Counter(nn.Cell):
    def __init__(self, start):
        super().__init__()
        self.value = weight(start)

    def construct(self, x):
        if x > 0.5:
            self.value = self.value + x
        else:
            self.value = self.value * 0.5
        return self.value


def inner_counters(p, x, n):
    y = x
    for k in range(n):
        name = f"counters.{k % 2}.value"
        p[name] = p[name] + y if y > 0.5 else p[name] * 0.5
        y = math.sin(p[name])
    return y


@program((0.4, 5), (0.9, 3), reference=inner_counters, written=["counters.0.value", "counters.1.value"])
class StateOfInnerCells(nn.Cell):
    def __init__(self):
        super().__init__()
        self.counters = nn.CellList([Counter(1.2), Counter(0.3)])

    def construct(self, x, n):
        for k in range(n):
            x = ops.sin(self.counters[k % 2](x))
        return x


def shared_by_floats(p, x, n):
    w = p["w"]
    for _ in range(n):
        w = math.cos(w) * x
    p["w"] = w
    return w * w


@program((0.9, integer(0)), (0.9, integer(3)), reference=shared_by_floats, written=["w"])
class TwoNamesOfOneParameter(nn.Cell):
    """What is written by one name is read by the other."""

    def __init__(self):
        super().__init__()
        self.w = weight(0.4)
        self.alias = self.w

    def construct(self, x, n):
        for _ in range(n):
            self.alias = ops.cos(self.w) * x
        return self.w * self.alias


class Holder(nn.Cell):
    def __init__(self, parameter):
        super().__init__()
        self.held = parameter

    def construct(self, x):
        if x > 0:
            self.held = self.held * x
        return self.held


@program((0.9,), (-0.9,), reference=lambda p, x: (
    p.update(shared=p["shared"] * x if x > 0 else p["shared"]) or p["shared"] ** 2 + 2 * p["shared"]
), written=["shared"])  # fmt: skip
class OneParameterInTwoCells(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = Holder(Parameter(Tensor(np.array(0.6)), name="shared"))
        self.second = self.first.held
        self.first.held.name = "shared"

    def construct(self, x):
        y = self.first(x)
        return y * self.second + self.first.held + self.second


def until_return(p, x):
    for _ in range(6):
        p["tries"] += 1
        x = x * 1.5
        if x > 2:
            p["last"] = x
            return x * p["tries"]
        p["last"] -= x
    return -x


@program((0.3,), (1.9,), (0.1,), reference=until_return, written=["last", "tries"])
class WritesBeforeAReturn(nn.Cell):
    def __init__(self):
        super().__init__()
        self.last = weight(5.0)
        self.tries = weight(0.0)

    def construct(self, x):
        for _ in range(6):
            self.tries = self.tries + 1.0
            x = x * 1.5
            if x > 2.0:
                self.last = x
                return x * self.tries
            self.last = self.last - x
        return -x


def random_by_integers(p, x, n):
    total = 0.0 * x
    for _ in range(n):
        p["seed"] = (1103 * p["seed"] + 377) % 4096
        if p["seed"] < 2048:
            continue
        total += math.sin(x * (p["seed"] / 4096 - 0.5))
    return total


@program(
    (1.3, integer(0)), (1.3, integer(1)), (1.3, integer(20)), reference=random_by_integers, written=["seed"]
)
class ARandomNumberGenerator(nn.Cell):
    """The state is a whole number; some draws are rejected."""

    def __init__(self):
        super().__init__()
        self.seed = Parameter(Tensor(np.array(7)), requires_grad=False)

    def construct(self, x, n):
        total = 0.0 * x
        for _ in range(n):
            self.seed = (1103 * self.seed + 377) % 4096
            if self.seed < 2048:
                continue
            total = total + ops.sin(x * (self.seed / 4096 - 0.5))
        return total


def swapped_by_floats(p, x, n):
    for _ in range(n):
        p["a"], p["b"] = p["b"] * x, p["a"] + 0.1
    return p["a"] * 2 + p["b"] ** 2


@program(
    (0.9, integer(0)), (0.9, integer(1)), (0.9, integer(4)), reference=swapped_by_floats, written=["a", "b"]
)
class ParametersAreExchanged(nn.Cell):
    """The right sides are values, read before either is written."""

    def __init__(self):
        super().__init__()
        self.a = weight(0.4)
        self.b = weight(-0.7)

    def construct(self, x, n):
        for _ in range(n):
            self.a, self.b = self.b * x, self.a + 0.1
        return self.a * 2 + self.b**2


def best_by_floats(p, x):
    y = math.cos(x) * x
    if y < p["best"]:
        p["best"], p["at"] = y, x
    return y - p["best"]


@program((0.4,), (2.9,), reference=best_by_floats, written=["best", "at"])
class KeepsTheBest(nn.Cell):
    def __init__(self):
        super().__init__()
        self.best = weight(0.1)
        self.at = weight(0.0)

    def construct(self, x):
        y = ops.cos(x) * x
        if y < self.best:
            self.best = y
            self.at = x
        return y - self.best


def memory_by_numpy(p, x, k):
    p["memory"][k % 3] = x
    p["memory"][0] *= 1.5
    return np.sum(p["memory"] ** 2) * x


@program((0.4, integer(0)), (0.4, integer(5)), reference=memory_by_numpy, written=["memory"])
class ElementsOfAParameter(nn.Cell):
    """A ring buffer: one element is written, at a tensor's place."""

    def __init__(self):
        super().__init__()
        self.memory = weight([0.1, -0.7, 0.4])

    def construct(self, x, k):
        self.memory[k % 3] = x
        self.memory[0] *= 1.5
        return ops.sum(self.memory**2) * x


def nested_writes(p, x, n):
    for i in range(n):
        j = 0
        while j <= i:
            p["w"] = math.sin(p["w"] + x)
            if p["w"] > 0.9:
                p["w"] -= 1
                p["resets"] += 1
                break
            j += 1
        p["w"] *= 0.9
    return p["w"] * x + p["resets"]


@program(
    (0.7, integer(0)), (0.7, integer(1)), (0.7, integer(4)), reference=nested_writes, written=["w", "resets"]
)
class WritesInNestedLoops(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = weight(0.3)
        self.resets = weight(0.0)

    def construct(self, x, n):
        for i in range(n):
            j = 0
            while j <= i:
                self.w = ops.sin(self.w + x)
                if self.w > 0.9:
                    self.w -= 1
                    self.resets += 1
                    break
                j += 1
            self.w *= 0.9
        return self.w * x + self.resets


def set_data_by_floats(p, x):
    if x > 0:
        p["w"] = x * p["w"]
        y = p["w"]
    else:
        y = x
    p["w"] = y + 1
    return y * p["w"]


@program((0.7,), (-0.7,), reference=set_data_by_floats, written=["w"])
class SetDataInABranch(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = weight(0.3)

    def construct(self, x):
        if x > 0:
            self.w.set_data(x * self.w)
            y = self.w * 1
        else:
            y = x
        self.w.set_data(y + 1)
        return y * self.w
