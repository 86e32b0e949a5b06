"""mindgrad from the start of a process to the first result: one small program each, as a user writes it.

``mindgrad_start.py t1`` runs one and prints its result as JSON. It imports what the program uses, no more.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent.parent)]

import start_process  # noqa: E402

start_process.mark("interpreter")

import mindgrad as ms  # noqa: E402
from mindgrad import Parameter, Tensor, ops  # noqa: E402

start_process.mark("import")

ms.set_context(mode=ms.GRAPH_MODE)


def t1() -> Any:
    import problems

    gradient = ms.grad(lambda x: (ops.sin(x) * x**2).sum())
    return gradient(Tensor(problems.t1()))


def layers_of(layers: Any) -> list[tuple[Parameter, Parameter]]:
    return [
        (Parameter(Tensor(weight), name=f"weight{k}"), Parameter(Tensor(bias), name=f"bias{k}"))
        for k, (weight, bias) in enumerate(layers)
    ]


def perceptron(layers: list[tuple[Parameter, Parameter]], x: Tensor) -> Tensor:
    for weight, bias in layers[:-1]:
        x = ops.tanh(ops.matmul(x, weight) + bias)
    weight, bias = layers[-1]
    return ops.matmul(x, weight) + bias


def t2() -> Any:
    import problems

    problem = problems.t2()
    layers = layers_of(problem.layers)

    def loss(inputs, targets):
        return ops.square(perceptron(layers, inputs) - targets).mean()

    weights = [each for layer in layers for each in layer]
    return ms.value_and_grad(loss, None, weights)(Tensor(problem.inputs), Tensor(problem.targets))


def t3() -> Any:
    import problems

    problem = problems.t3()
    layers = layers_of(problem.layers)
    solution = lambda x, t: perceptron(layers, ops.concat((x, t), 1))
    first = ms.grad(solution, (0, 1))
    curvature = ms.grad(lambda x, t: ms.grad(solution, 0)(x, t), 0)

    def loss(x, t):
        u_x, u_t = first(x, t)
        residual = u_t + solution(x, t) * u_x - problems.VISCOSITY * curvature(x, t)
        return ops.square(residual).mean()

    weights = [each for layer in layers for each in layer]
    return ms.grad(loss, None, weights)(Tensor(problem.x), Tensor(problem.t))


def laplacian() -> Any:
    import problems

    points, layers = problems.laplacian()
    weights = [(Tensor(weight), Tensor(bias)) for weight, bias in layers]
    return ms.jit(ms.laplacian(lambda x: perceptron(weights, x)))(Tensor(points))


def gmm() -> Any:
    import problems

    ms.install()
    import mindspore_mixture

    problem = problems.gmm(*start_process.MIXTURE)
    mixture = mindspore_mixture.Mixture(problem.points)
    return ms.value_and_grad(mixture, (0, 1, 2, 3))(*map(Tensor, problem.parameters))


def hand() -> Any:
    import start_problems

    hand = start_problems.hand()
    vertices, weights, points = map(Tensor, (hand.vertices, hand.weights, hand.points))
    relative, inverse, nearest = map(Tensor, (hand.relative, hand.inverse, hand.nearest))
    one, zero = Tensor(1.0, ms.float64), Tensor(0.0, ms.float64)

    def matrix(*rows):
        return ops.stack([ops.stack(row) for row in rows])

    def rotation(angles):
        """The matrix (4, 4) that turns about x, then y, then z."""
        (a, b, c), (i, j, k) = ops.cos(angles), ops.sin(angles)
        x = matrix((one, zero, zero, zero), (zero, a, -i, zero), (zero, i, a, zero), (zero, zero, zero, one))
        y = matrix((b, zero, j, zero), (zero, one, zero, zero), (-j, zero, b, zero), (zero, zero, zero, one))
        z = matrix((c, -k, zero, zero), (k, c, zero, zero), (zero, zero, one, zero), (zero, zero, zero, one))
        return z @ y @ x

    def about(axis):
        """The matrix (3, 3) that turns about an axis by its length."""
        angle = ops.sqrt(ops.sum(axis * axis))
        x, y, z = axis / angle
        cross = matrix((zero, -z, y), (z, zero, -x), (-y, x, zero))
        return ops.eye(3, 3, ms.float64) + ops.sin(angle) * cross + (1 - ops.cos(angle)) * (cross @ cross)

    def residuals(unknowns):
        angles = [ops.stack([zero, zero, zero])] * 2
        for finger in range(5):
            bend = unknowns[6 + 4 * finger : 10 + 4 * finger]
            angles.append(ops.stack([bend[0], bend[1], zero]))
            angles += [ops.stack([bend[k], zero, zero]) for k in (2, 3)]
            angles.append(ops.stack([zero, zero, zero]))
        absolute = []
        for bone, parent in enumerate(hand.parents):
            place = relative[bone] @ rotation(angles[bone])
            absolute.append(place if parent < 0 else absolute[parent] @ place)
        transforms = ops.matmul(ops.stack(absolute), inverse)
        moved = ops.sum(ops.matmul(transforms, vertices)[:, :3] * weights[:, None], 0)
        moved = about(unknowns[:3]) @ moved + unknowns[3:6, None]
        return points - ops.gather(moved, nearest, 1)

    return ms.jit(ms.jacfwd(residuals))(Tensor(hand.unknowns))


def training(name: str) -> Callable[[], Any]:
    def step() -> Any:
        ms.install()
        import mindspore_training

        step, arguments, _, optimizer = mindspore_training.program(name, compiled=True)
        return step(*arguments), optimizer.parameters[-1].value()

    return step


def ode() -> Any:
    import start_problems

    problem = start_problems.ode()
    layers = layers_of(problem.layers)
    start, times = Tensor(problem.start), Tensor(problem.times)

    def loss():
        return ops.square(ms.odeint(lambda y, t: perceptron(layers, y), start, times)).mean()

    return ms.value_and_grad(loss, None, [each for layer in layers for each in layer])()


PROGRAMS = {
    "t1": t1, "t2": t2, "t3": t3, "laplacian": laplacian, "gmm": gmm, "hand": hand, "ode": ode,
    "lstm": training("lstm"), "resnet": training("resnet"), "gpt": training("gpt"),
}  # fmt: skip


def arrays(result: Any) -> list[Any]:
    if isinstance(result, (tuple, list)):
        return [array for part in result for array in arrays(part)]
    return [result.asnumpy()]


if __name__ == "__main__":
    result = arrays(PROGRAMS[sys.argv[1]]())
    start_process.finish(result)
