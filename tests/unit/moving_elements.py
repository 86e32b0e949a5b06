"""How the tests judge an operator that moves elements: by what NumPy does with their numbers.

The operator's NumPy counterpart is applied to the numbers 0, 1, 2, … of the input's elements. That says
which element stands where in the result, so the value and the gradient are known exactly: the
gradient of an element is the sum of the cotangents at the places where it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindgrad import Tensor, ops
from mindgrad.frontend.programs.compiled import Compiled

GRADIENT = ops.GradOperation(get_all=True, sens_param=True)


def sample(shape: Sequence[int], dtype: Any = np.float32, seed: int = 0) -> np.ndarray:
    """Distinct numbers of either sign, or truth values."""
    size = int(np.prod(shape))
    if np.dtype(dtype) == bool:
        return (np.arange(size) % 3 == 0).reshape(shape)
    numbers = np.random.default_rng(seed).permutation(size) - size // 2
    return numbers.reshape(shape).astype(dtype)


def sources(moved: Callable[..., Any], *arrays: np.ndarray) -> list[np.ndarray]:
    """For each result of ``moved`` the number of the element of ``arrays`` that stands at each place.

    Elements of the second array count on from those of the first, and so on; −1 is filled in.
    """
    numbers, start = [], 0
    for array in arrays:
        numbers.append(np.arange(start, start + array.size).reshape(array.shape))
        start += array.size
    found = moved(*numbers)
    return [np.asarray(each) for each in (found if isinstance(found, (tuple, list)) else [found])]


def as_arrays(found: Any) -> list[np.ndarray]:
    listed = found if isinstance(found, (tuple, list)) else [found]
    return [each.asnumpy() for each in listed]


def check_moves(
    ours: Callable[..., Any],
    moved: Callable[..., Any],
    *arrays: np.ndarray,
    fill: float = 0,
    compiled: bool = True,
    given: Sequence[Tensor] = (),
) -> None:
    """``ours`` moves elements as ``moved`` does: value and gradient, eagerly and compiled.

    Args:
        ours: takes the tensors, and then those in ``given``, which become inputs when it is compiled.
        moved: takes arrays; elements of the result that come from none are −1.
        arrays: the inputs.
        fill: what stands where ``moved`` has −1.
        compiled: whether to compile it too.
        given: further tensors, whose values are unknown while compiling.
    """
    places = sources(moved, *arrays)
    pool = np.concatenate([a.ravel() for a in arrays])
    filled = np.append(pool, np.asarray(fill, pool.dtype))
    expected = [filled[each] for each in places]
    weights = [
        np.random.default_rng(k).integers(-4, 5, each.shape).astype(pool.dtype)
        for k, each in enumerate(places)
    ]
    slopes = np.zeros(pool.size + 1, pool.dtype)
    for each, weight in zip(places, weights, strict=True):
        np.add.at(slopes, each, weight)
    starts = np.cumsum([0, *(a.size for a in arrays)])
    wanted = [
        slopes[start : start + a.size].reshape(a.shape) for start, a in zip(starts, arrays, strict=False)
    ]
    tensors = [Tensor(a) for a in arrays]
    cotangents: Any = tuple(Tensor(weight) for weight in weights)

    def value(*inputs: Tensor) -> Any:
        found = ours(*inputs)
        return tuple(found) if isinstance(found, list) else found

    single = not isinstance(value(*tensors, *given), tuple)
    cotangents = cotangents[0] if single else cotangents

    def both(*inputs: Tensor) -> Any:
        free, fixed = inputs[: len(arrays)], inputs[len(arrays) :]
        return value(*inputs), GRADIENT(lambda *xs: value(*xs, *fixed))(*free, cotangents)

    for run in [both, Compiled(both)] if compiled else [both]:
        values, gradients = run(*tensors, *given)
        for found, array in zip(as_arrays(values), expected, strict=True):
            assert found.dtype == array.dtype
            np.testing.assert_array_equal(found, array)
        for found, array in zip(as_arrays(gradients), wanted, strict=True):
            np.testing.assert_array_equal(found, array)
