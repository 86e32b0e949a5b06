"""Evaluate a graph equation by equation, with NumPy kernels or on tensors.

Tests compare compiled functions with :func:`evaluate`, the reference executor.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

import numpy as np

from mindgrad.core.base.location import Located, user_location
from mindgrad.core.ir.build import building
from mindgrad.core.ir.graph import Atom, Constant, Graph, Variable
from mindgrad.core.ir.rules import Array, Stored
from mindgrad.core.ir.scope import GraphScope, apply, held_constant, innermost
from mindgrad.core.ir.tensor import Tensor, make_tensor

__all__ = ["evaluate", "inline", "inline_here"]


def evaluate(graph: Graph, inputs: Sequence[Array]) -> list[Array]:
    """Return the outputs of ``graph`` on NumPy ``inputs``.

    Raises:
        TypeError: If the type of an input differs from the type in the graph.
    """
    values: dict[Variable, Stored] = {}
    for variable, array in zip(graph.inputs, inputs, strict=True):
        array = np.asarray(array)
        if array.shape != variable.shape or array.dtype != variable.type.dtype.numpy:
            raise TypeError(
                f"the graph's input has type {variable.type}, but got an array of type "
                f"{array.dtype} and shape {array.shape}."
            )
        values[variable] = array
    with np.errstate(all="ignore"):
        for equation in graph.equations:
            operands = [values[x] if type(x) is Variable else x.array() for x in equation.inputs]
            result = equation.primitive.numpy(*operands, **equation.parameters)
            if equation.primitive.multiple:
                values.update(zip(equation.outputs, result, strict=True))
            else:
                values[equation.outputs[0]] = result
    return [np.asarray(values[y]) if type(y) is Variable else np.array(y.array()) for y in graph.outputs]


def inline(graph: Graph, tensors: Sequence[Tensor]) -> list[Tensor]:
    """Apply the operators of ``graph`` to ``tensors``, as a Python function would."""
    values: dict[Atom, Tensor] = dict(zip(graph.inputs, tensors, strict=True))

    def read(atom: Atom) -> Tensor:
        tensor = values.get(atom)
        if tensor is None:
            constant: Constant = atom  # type: ignore[assignment]  # all variables have values
            tensor = values[atom] = make_tensor(constant.value, constant.type)
        return tensor

    for equation in graph.equations:
        operands = [read(atom) for atom in equation.inputs]
        # keep the source line of an operator without a derivative, because the warning of
        # `transforms.zero_gradients` shows it
        is_named = equation.primitive.jvp is None and equation.source
        with Located(equation.source) if is_named else nullcontext():
            result = apply(equation.primitive, *operands, **equation.parameters)
        if equation.primitive.multiple:
            values.update(zip(equation.outputs, result, strict=True))
        else:
            values[equation.outputs[0]] = result
    return [read(atom) for atom in graph.outputs]


def inline_here(graph: Graph, tensors: Sequence[Tensor]) -> list[Tensor]:
    """Apply ``graph`` to ``tensors`` in the innermost scope.

    If this scope traces a graph, the equations of ``graph`` are emitted into the traced graph.
    """
    scope = innermost()
    if not isinstance(scope, GraphScope):
        return inline(graph, tensors)
    atoms = [scope.atom(t) for t in held_constant(tensors)]
    with building(scope.builder):
        # equations without a source line, such as the initial cotangent, get the line of the gradient call
        scope.builder.source = user_location()
        outputs = scope.builder.inline(graph, atoms)
        scope.builder.source = None
        return [scope.tensor(atom) for atom in outputs]
