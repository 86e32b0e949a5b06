"""The door through which functions are traced: what it closes, captures and leaves behind."""

import numpy as np

import mindgrad as ms
from mindgrad import Parameter, Tensor, ops
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.scope import open_scopes
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.trace import references
from mindgrad.core.trace.closed_program import trace

VECTOR = tensor_type(ms.float32, (3,))


def values(*numbers):
    return np.array(numbers, np.float32)


def test_a_program_is_its_function():
    weight, offset = Parameter(Tensor(values(1, 2, 3)), name="weight"), Tensor(values(4, 5, 6))

    def function(x, y):
        return {"product": x * weight, "others": [y + offset, "text", 5]}

    program = trace(function, [VECTOR, VECTOR], values_are_inputs=True)
    assert [tensor is weight or tensor._array is offset._array for tensor in program.captured.values()] == [
        True
    ] * 2
    assert program.graph.inputs[2:] == tuple(program.captured)
    operands = [tensor.asnumpy() for tensor in program.captured.values()]
    results = evaluate(program.graph, [values(1, 1, 2), values(0, 1, 0), *operands])
    np.testing.assert_array_equal(results[0], [1, 2, 6])
    np.testing.assert_array_equal(results[1], [4, 6, 6])
    assert program.leaves[2:] == ["text", 5]
    assert not open_scopes()


def test_values_from_outside_are_constants_unless_they_are_inputs():
    offset = Tensor(values(4, 5, 6))
    assert not trace(lambda x: x + offset, [VECTOR]).captured
    assert len(trace(lambda x: x + offset, [VECTOR], values_are_inputs=True).captured) == 1


def test_what_a_function_writes_is_told_and_not_done():
    weight = Parameter(Tensor(values(1, 2, 3)), name="weight")

    def function(x):
        references.write(weight, x * 2)
        return x

    program = trace(function, [VECTOR])
    assert list(program.written.values()) == [weight]
    np.testing.assert_array_equal(weight.asnumpy(), [1, 2, 3])


def test_a_trace_inside_of_a_derivative_captures_what_is_differentiated():
    captured = []

    def loss(x):
        program = trace(lambda y: y * x, [VECTOR])
        captured.extend(program.captured.values())
        return ops.reduce_sum(x * x)

    np.testing.assert_array_equal(ms.grad(loss)(Tensor(values(1, 2, 3))), [2, 4, 6])
    assert [x.shape for x in captured] == [(3,)]
