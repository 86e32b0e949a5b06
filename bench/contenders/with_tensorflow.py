"""TensorFlow: gradient tapes in a ``tf.function``, for XLA (*xla*) or its own executor (*graph*)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import problems
import tensorflow as tf
from job import Job, Unavailable

Layers = list[tuple[tf.Variable, tf.Variable]]
Tensors = tuple[tf.Tensor, ...]


def versions() -> dict[str, str]:
    """Versions of what does the work."""
    return {"tensorflow": tf.__version__}


def arrays(result: Tensors) -> list[np.ndarray]:
    """The tensors of a result."""
    return [tensor.numpy() for tensor in result]


def wait(result: Tensors) -> None:
    """One of the results as numbers: the program is one, and has then ended."""
    result[0].numpy()


def job(variant: str, step: Callable[..., Tensors], *inputs: np.ndarray) -> Job:
    """A call of ``step`` on the inputs as tensors; ``variant`` is "xla" or "graph"."""
    compiled = tf.function(step, jit_compile=variant == "xla")
    tensors = [tf.constant(each) for each in inputs]
    return Job(lambda: compiled(*tensors), wait, arrays)


def parameters(layers: problems.Layers) -> Layers:
    """The layers as variables."""
    return [(tf.Variable(weight), tf.Variable(bias)) for weight, bias in layers]


def flat(layers: Layers) -> list[tf.Variable]:
    """Weight, bias, weight, bias, ..."""
    return [variable for layer in layers for variable in layer]


def perceptron(layers: Layers, inputs: tf.Tensor) -> tf.Tensor:
    """Tanh layers and a linear one."""
    hidden = inputs
    for weight, bias in layers[:-1]:
        hidden = tf.tanh(hidden @ weight + bias)
    weight, bias = layers[-1]
    return hidden @ weight + bias


def t1(variant: str) -> Job:
    def gradient(x: tf.Tensor) -> Tensors:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.sin(x) * x**2)
        return (tape.gradient(y, x),)

    return job(variant, gradient, problems.t1())


def t2(variant: str) -> Job:
    problem = problems.t2()
    layers = parameters(problem.layers)

    def step(inputs: tf.Tensor, targets: tf.Tensor) -> Tensors:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(perceptron(layers, inputs) - targets))
        return (loss, *tape.gradient(loss, flat(layers)))

    return job(variant, step, problem.inputs, problem.targets)


def t3(variant: str) -> Job:
    problem = problems.t3()
    layers = parameters(problem.layers)

    def step(x: tf.Tensor, t: tf.Tensor) -> Tensors:
        with tf.GradientTape() as outermost:
            with tf.GradientTape() as outer:
                outer.watch(x)
                with tf.GradientTape() as inner:
                    inner.watch((x, t))
                    u = perceptron(layers, tf.concat([x, t], 1))
                u_x, u_t = inner.gradient(u, (x, t))
            u_xx = outer.gradient(u_x, x)
            loss = tf.reduce_mean(tf.square(u_t + u * u_x - problems.VISCOSITY * u_xx))
        return tuple(outermost.gradient(loss, flat(layers)))

    return job(variant, step, problem.x, problem.t)


TASKS: dict[str, Callable[[str], Job]] = {"t1": t1, "t2": t2, "t3": t3}


def prepare(task: str, variant: str) -> Job:
    """The job of one task, or Unavailable."""
    if task not in TASKS:
        raise Unavailable(f"no {task} with tensorflow")
    return TASKS[task](variant)
