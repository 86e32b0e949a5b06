"""The global seed and the state of the default random number generator.

The state is a Parameter. Operators that draw random numbers read and write it, in eager mode, in compiled
functions, and inside branches and loops. Therefore a compiled function draws new numbers in every call. From
the same seed, it draws the same numbers as in eager mode.
"""

from __future__ import annotations

import os

import numpy as np

from mindgrad.common.forking import restart_count
from mindgrad.common.parameter import Parameter
from mindgrad.core.base.refusal import refuse
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives.random import STATE_WORDS
from mindgrad.core.trace.references import is_compiling, write
from mindgrad.frontend.state import generators, stream

__all__ = [
    "RANDOM_STATE", "get_rng_state", "get_seed", "initial_state", "restore", "set_rng_state", "set_seed",
    "state_of", "times_seeded",
]  # fmt: skip

_seed: int | None = None
_times = 0


def _words(seed: int) -> list[int]:
    return [seed & 0xFFFFFFFF, seed >> 32]


def initial_state(seed: int | None) -> np.ndarray:
    """Return the generator state for ``seed``, before the first draw.

    If ``seed`` is ``None``, the state is random, except for the part that operators with a separate seed
    argument use.
    """
    start = _words(int.from_bytes(os.urandom(8), "little") if seed is None else seed)
    found = [*start, *_words(seed or 0), 0, stream()]
    assert len(found) == STATE_WORDS
    return np.array(found, np.uint32)


#: state of the default random generator, in the format of ``core.primitives.random``
RANDOM_STATE = Parameter(initial_state(None), name="random_state", requires_grad=False)
RANDOM_STATE.is_permanent = True
generators.append(RANDOM_STATE)


def set_seed(seed: int) -> None:
    """Set the seed of all random numbers: operators, layers, and initializers.

    This function also seeds NumPy's global generator, which initializers use. Without a seed, random numbers
    differ between runs, except in operators with a seed argument. A forked process draws different numbers
    from its parent until it sets a seed.

    Args:
        seed (int): seed from 0 to 2⁶⁴ − 1.

    Returns:
        Nothing.

    Raises:
        TypeError: If ``seed`` is not an int.
        ValueError: If ``seed`` is negative or not below 2⁶⁴.

    >>> import mindgrad as ms
    >>> ms.set_seed(7)
    >>> first = ms.ops.standard_normal((2,))
    >>> ms.set_seed(7)
    >>> print((ms.ops.standard_normal((2,)) == first).all())
    True

    See Also:
        :func:`mindgrad.get_seed`, :func:`mindgrad.manual_seed`, :func:`mindgrad.get_rng_state`
    """
    global _seed, _times
    start = state_of(seed, "set_seed")
    seed = int(seed)
    np.random.seed(seed if seed < 2**32 else _words(seed))  # noqa: NPY002 - user programs draw from it
    write(RANDOM_STATE, start)
    restart_count(RANDOM_STATE)
    _seed, _times = seed, _times + 1


def state_of(seed: int, operator: str) -> Tensor:
    """Check a seed, and return the initial state for it.

    Args:
        seed (int): seed from 0 to 2⁶⁴ − 1.
        operator (str): name of the public function, for messages.

    Raises:
        TypeError: If ``seed`` is not an int.
        ValueError: If ``seed`` is negative or not below 2⁶⁴.
        CompileError: If a function is being compiled.
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise TypeError(f"The argument 'seed' must be type of int, but got {seed!r}.")
    seed = int(seed)
    if not 0 <= seed < 2**64:
        raise ValueError(f"For '{operator}', the 'seed' must be between 0 and 2**64 - 1, but got {seed}.")
    if is_compiling():
        refuse(
            f"{operator}() is called inside a compiled function. The seed would be set once, at compile "
            "time, and not when the function runs",
            f"Call {operator} before the compiled function.",
        )
    return Tensor(initial_state(seed))


def get_seed() -> int | None:
    """Return the seed that :func:`set_seed` set last, or ``None``.

    Returns:
        int or None: the last argument of :func:`set_seed`, or ``None`` if it was never called.

    >>> import mindgrad as ms
    >>> ms.set_seed(7)
    >>> ms.get_seed()
    7

    See Also:
        :func:`mindgrad.set_seed`
    """
    return _seed


def get_rng_state() -> Tensor:
    """Return the state of the random number generator of operators and layers.

    NumPy's generator, which initializers use, has a separate state: ``numpy.random.get_state()``.

    Returns:
        Tensor: state of the generator, an argument for :func:`set_rng_state`.

    >>> import mindgrad as ms
    >>> kept = ms.get_rng_state()
    >>> first = ms.ops.rand(3)
    >>> ms.set_rng_state(kept)
    >>> print((ms.ops.rand(3) == first).all())
    True

    See Also:
        :func:`mindgrad.set_rng_state`, :func:`mindgrad.set_seed`
    """
    return Tensor(RANDOM_STATE.value())


def set_rng_state(state: Tensor) -> None:
    """Restore a state of the random number generator.

    Args:
        state (Tensor): result of :func:`get_rng_state`.

    Returns:
        Nothing.

    Raises:
        TypeError: If ``state`` does not have the shape and dtype of a result of :func:`get_rng_state`.

    >>> import mindgrad as ms
    >>> state = ms.get_rng_state()
    >>> first = ms.ops.rand(3)
    >>> ms.set_rng_state(state)
    >>> print((ms.ops.rand(3) == first).all())
    True

    See Also:
        :func:`mindgrad.get_rng_state`
    """
    restore(RANDOM_STATE, state, "set_rng_state", "get_rng_state")


def restore(generator: Parameter, state: Tensor, setter: str, getter: str) -> None:
    """Write the state of a generator.

    Raises:
        TypeError: If ``state`` does not have the type of a result of ``getter``.
    """
    if not isinstance(state, Tensor) or state.type is not generator.type:
        raise TypeError(
            f"For '{setter}', the 'state' must be a tensor that {getter} returned: "
            f"{generator.type}, but got {state.type if isinstance(state, Tensor) else state!r}."
        )
    write(generator, Tensor(state))


def times_seeded() -> int:
    """Return the number of calls of :func:`set_seed` in this process."""
    return _times
