"""Networks whose path depends on their data: recurrent cells, gates, early exits, experts, attention."""

import math

import numpy as np

from mindgrad import Parameter, Tensor, nn, ops
from tests.programs.control.program import integer, program, weight


def numbers(seed, *shape):
    """A Parameter of numbers that do not change from run to run."""
    return weight(np.random.default_rng(seed).normal(size=shape) * 0.6)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class Gru(nn.Cell):
    """A gated recurrent unit of two units."""

    def __init__(self):
        super().__init__()
        self.gate = numbers(1, 4, 3)
        self.reset = numbers(2, 2, 3)

    def construct(self, x, h):
        joined = ops.concat((x, h))
        z = ops.sigmoid(ops.matmul(self.gate, joined))
        new = ops.tanh(ops.matmul(self.reset, ops.concat((x, z[:2] * h))))
        return z[2:] * h + (1 - z[2:]) * new


def gru_by_numpy(p, path, x, h):
    z = sigmoid(p[f"{path}gate"] @ np.concatenate([x, h]))
    return z[2:] * h + (1 - z[2:]) * np.tanh(p[f"{path}reset"] @ np.concatenate([x, z[:2] * h]))


def sequence_by_numpy(p, xs, h):
    rows = []
    for x in xs:
        h = gru_by_numpy(p, "cell.", x, h)
        rows.append(h)
    return np.stack(rows), h.sum()


@program(([[0.4], [-0.9], [0.2]], [0.1, -0.3]), reference=sequence_by_numpy)
class RecurrentOverAnAxis(nn.Cell):
    """Every state is kept."""

    def __init__(self):
        super().__init__()
        self.cell = Gru()

    def construct(self, xs, h):
        states = []
        for x in xs:
            h = self.cell(x, h)
            states.append(h)
        return ops.stack(states), h.sum()


def masked_by_numpy(p, xs, length):
    h = np.zeros(2)
    for x in xs[:length]:
        h = gru_by_numpy(p, "cell.", x, h)
    return h


@program(
    ([[0.4], [-0.9], [0.2], [0.7]], integer(0)),
    ([[0.4], [-0.9], [0.2], [0.7]], integer(1)),
    ([[0.4], [-0.9], [0.2], [0.7]], integer(4)),
    reference=masked_by_numpy,
)
class SequencesOfAnyLength(nn.Cell):
    """The length is a tensor; rows are taken at a tensor's place."""

    def __init__(self):
        super().__init__()
        self.cell = Gru()
        self.zero = Tensor(np.zeros(2))

    def construct(self, xs, length):
        h = self.zero
        for t in range(length):
            h = self.cell(xs[t], h)
        return h


def halting_by_numpy(p, x):
    h, budget, total = np.zeros(2), 0.0, np.zeros(2)
    for _ in range(8):
        h = gru_by_numpy(p, "cell.", x, h)
        halt = sigmoid(p["halt"] @ h + 0.3)
        if budget + halt > 1.9:
            return total + (1.9 - budget) * h
        budget, total = budget + halt, total + halt * h
    return total


@program(([0.9],), ([-2.1],), reference=halting_by_numpy)
class AdaptiveComputationTime(nn.Cell):
    """The net decides how many steps it thinks; the last one counts with what is left."""

    def __init__(self):
        super().__init__()
        self.cell = Gru()
        self.halt = numbers(3, 2)

    def construct(self, x):
        h = ops.zeros_like(ops.concat((x, x)))
        budget, total = 0.0, h
        for _ in range(8):
            h = self.cell(x, h)
            halt = ops.sigmoid(ops.dot(self.halt, h) + 0.3)
            if budget + halt > 1.9:
                return total + (1.9 - budget) * h
            budget = budget + halt
            total = total + halt * h
        return total


def translate_by_numpy(p, x, limit):
    h, out = np.array([x, 0.0]), []
    for _ in range(limit):
        h = gru_by_numpy(p, "cell.", np.array([x]), h)
        x = h @ p["head"]
        out.append(x)
        if x < -0.4:
            break
    return np.array(out + [0.0] * (6 - len(out)))


@program((0.9, integer(6)), (-0.7, integer(6)), (0.9, integer(2)), reference=translate_by_numpy)
class WritesUntilTheEndSign(nn.Cell):
    """A decoder that reads what it wrote, until it writes something small or the package is used up."""

    def __init__(self):
        super().__init__()
        self.cell = Gru()
        self.head = numbers(5, 2)

    def construct(self, x, limit):
        h = ops.stack([x, 0.0 * x])
        out = ops.zeros_like(ops.concat((h, h, h)))
        k = 0
        while k < limit:
            h = self.cell(x.reshape(1), h)
            x = ops.dot(h, self.head)
            out[k] = x
            k += 1
            if x < -0.4:
                break
        return out


class Dense(nn.Cell):
    def __init__(self, seed, inputs, outputs, activation=None):
        super().__init__()
        self.w = numbers(seed, outputs, inputs)
        self.b = numbers(seed + 100, outputs)
        self.activation = activation

    def construct(self, x):
        y = ops.matmul(self.w, x) + self.b
        if self.activation is not None:
            y = self.activation(y)
        return y


def dense_by_numpy(p, path, x):
    return p[f"{path}.w"] @ x + p[f"{path}.b"]


def exits_by_numpy(p, x):
    for i in range(3):
        x = np.tanh(dense_by_numpy(p, f"layers.{i}", x))
        score = dense_by_numpy(p, f"exits.{i}", x)[0]
        if score > 0.5:
            return score * (i + 1)
    return score


@program(([0.9, -0.3],), ([-0.8, 0.6],), ([0.1, 1.9],), ([-1.5, -1.5],), reference=exits_by_numpy)
class EarlyExits(nn.Cell):
    """A head behind every layer; the first that is sure answers."""

    def __init__(self):
        super().__init__()
        self.layers = nn.CellList([Dense(k, 2, 2, ops.tanh) for k in range(3)])
        self.exits = nn.CellList([Dense(k + 10, 2, 1) for k in range(3)])

    def construct(self, x):
        score = None
        for i, (layer, head) in enumerate(zip(self.layers, self.exits, strict=True)):
            x = layer(x)
            score = head(x)[0]
            if score > 0.5:
                return score * (i + 1)
        return score


def experts_by_numpy(p, x):
    scores = dense_by_numpy(p, "router", x)
    best = int(np.argmax(scores))
    return np.tanh(dense_by_numpy(p, f"experts.{best}", x)) * scores[best]


@program(([0.9, -0.3],), ([-0.8, 0.6],), ([0.1, 1.9],), reference=experts_by_numpy)
class MixtureOfExperts(nn.Cell):
    """One of three nets runs, the one with the largest score."""

    def __init__(self):
        super().__init__()
        self.router = Dense(20, 2, 3)
        self.experts = nn.CellList([Dense(k + 21, 2, 2, ops.tanh) for k in range(3)])

    def construct(self, x):
        scores = self.router(x)
        best = ops.argmax(scores)
        y = x
        for k, expert in enumerate(self.experts):
            if best == k:
                y = expert(x) * scores[k]
        return y


def clipped_by_numpy(p, x, limit):
    y = dense_by_numpy(p, "layer", x)
    length = np.linalg.norm(y)
    return np.sin(y * (limit / length if length > limit else 1.0))


@program(([0.9, -0.3], 0.5), ([0.9, -0.3], 5.0), reference=clipped_by_numpy)
class ClippedByItsNorm(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layer = Dense(30, 2, 2)

    def construct(self, x, limit):
        y = self.layer(x)
        length = ops.norm(y)
        if length > limit:
            y = y * (limit / length)
        return ops.sin(y)


def attention_by_numpy(p, x, causal):
    scores = x @ p["w"] @ x.T
    if causal:
        scores = np.where(np.tri(3) > 0, scores, -np.inf)
    weights = np.exp(scores - scores.max(1, keepdims=True))
    return weights / weights.sum(1, keepdims=True) @ x


@program(
    ([[0.4, 0.1], [-0.9, 0.3], [0.2, 0.8]], True),
    ([[0.4, 0.1], [-0.9, 0.3], [0.2, 0.8]], False),
    reference=attention_by_numpy,
)
class AttentionInLoops(nn.Cell):
    """Softmax over the past, written with loops and running maxima."""

    def __init__(self):
        super().__init__()
        self.w = numbers(7, 2, 2)

    def construct(self, x, causal):
        rows = []
        for i, query in enumerate(x):
            largest = None
            scores = [ops.dot(ops.matmul(query, self.w), key) for key in (x[: i + 1] if causal else x)]
            for score in scores:
                if largest is None or score > largest:
                    largest = score
            parts = [ops.exp(score - largest) for score in scores]
            rows.append(sum(part * value for part, value in zip(parts, x, strict=False)) / sum(parts))
        return ops.stack(rows)


def routing_by_numpy(p, x, n):
    votes = np.stack([p["a"] @ x, p["b"] @ x])
    logits = np.zeros(2)
    for _ in range(n):
        share = np.exp(logits) / np.exp(logits).sum()
        total = share @ votes
        size = np.linalg.norm(total)
        out = total * (size / (1 + size * size)) if size > 0.1 else total
        logits = logits + votes @ out
    return out


@program(([0.9, -0.3], 1), ([0.9, -0.3], 3), ([0.03, -0.01], 2), reference=routing_by_numpy)
class DynamicRouting(nn.Cell):
    """Agreement between capsules, in a loop; a branch keeps the square root away from zero."""

    def __init__(self):
        super().__init__()
        self.a = numbers(8, 2, 2)
        self.b = numbers(9, 2, 2)

    def construct(self, x, n):
        votes = ops.stack([ops.matmul(self.a, x), ops.matmul(self.b, x)])
        logits = ops.zeros_like(x)
        out = x
        for _ in range(n):
            total = ops.matmul(ops.softmax(logits), votes)
            square = ops.sum(total * total)
            out = total
            if square > 0.01:
                size = ops.sqrt(square)
                out = total * (size / (1.0 + square))
            logits = logits + ops.matmul(votes, out)
        return out


class Unit(nn.Cell):
    """A pre-activation residual unit that is skipped when its gate is shut."""

    def __init__(self, seed, open_gate):
        super().__init__()
        self.body = Dense(seed, 2, 2, ops.tanh)
        self.gate = Parameter(Tensor(np.array(open_gate)), requires_grad=True)

    def construct(self, x):
        if self.gate <= 0:
            return x
        return x + self.gate * self.body(x)


def gated_by_numpy(p, x):
    for i in range(3):
        gate = p[f"net.{i}.gate"]
        x = x + gate * np.tanh(dense_by_numpy(p, f"net.{i}.body", x)) if gate > 0 else x
    return x * x


@program(([0.9, -0.3],), reference=gated_by_numpy)
class SkippedByParameters(nn.Cell):
    """The conditions are Parameters: known when the program runs, not when it is compiled."""

    def __init__(self):
        super().__init__()
        self.net = nn.SequentialCell(Unit(40, 0.7), Unit(41, -0.2), Unit(42, 1.3))

    def construct(self, x):
        return self.net(x) ** 2


def dropped_by_numpy(p, x, keep):
    y = p["w"] * x * keep / 0.5
    return y.sum() if keep.any() else x.prod()


@program(
    ([0.9, -0.3], np.array([True, False])),
    ([0.9, -0.3], np.array([False, False])),
    reference=dropped_by_numpy,
)
class DropsByAMask(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = numbers(50, 2)

    def construct(self, x, keep):
        if not keep.any():
            return ops.prod(x)
        return ops.sum(ops.where(keep, self.w * x / 0.5, ops.zeros_like(x)))


def tree_by_floats(p, x):
    w = p["w"]
    if x[0] > w[0]:
        return math.tanh(x[1] * w[1]) if x[1] > w[1] else x[0] * w[2] ** 2
    return math.exp(w[3] * x[1]) * x[0]


@program(([0.9, 0.8],), ([0.9, -0.9],), ([-1.9, 0.4],), reference=tree_by_floats)
class DecisionTree(nn.Cell):
    """Nodes are dictionaries, walked by a method that calls itself."""

    def __init__(self):
        super().__init__()
        self.w = numbers(60, 4)
        leaves = [
            lambda x, w: ops.tanh(x[1] * w[1]),
            lambda x, w: x[0] * w[2] ** 2,
            lambda x, w: ops.exp(w[3] * x[1]) * x[0],
        ]
        self.tree = {"at": 0, "yes": {"at": 1, "yes": leaves[0], "no": leaves[1]}, "no": leaves[2]}

    def walk(self, node, x):
        if callable(node):
            return node(x, self.w)
        if x[node["at"]] > self.w[node["at"]]:
            return self.walk(node["yes"], x)
        return self.walk(node["no"], x)

    def construct(self, x):
        return self.walk(self.tree, x)


def pondered_by_numpy(p, x, n):
    """Two cells that take turns; the second only when the first is large."""
    for k in range(n):
        y = np.tanh(dense_by_numpy(p, "left", x))
        x = np.sin(dense_by_numpy(p, "right", y)) if y.sum() > 0.2 * k else y
    return x


@program(
    ([0.9, -0.3], integer(0)),
    ([0.9, -0.3], integer(1)),
    ([0.3, 0.8], integer(5)),
    reference=pondered_by_numpy,
)
class CellsInATensorRange(nn.Cell):
    def __init__(self):
        super().__init__()
        self.left = Dense(70, 2, 2, ops.tanh)
        self.right = Dense(71, 2, 2, activation=ops.sin)

    def construct(self, x, n):
        for k in range(n):
            x = self.left(x)
            if ops.sum(x) > 0.2 * k:
                x = self.right(x)
        return x
