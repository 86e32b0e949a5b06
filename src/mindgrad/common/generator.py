"""Random number generators with separate states, and the default generator.

A function with an argument ``generator`` draws from this generator. If a data pipeline, for example, has a
separate generator, its random numbers do not depend on how many numbers the model draws. The state of a
generator is a Parameter, so compiled functions also advance it (``docs/decisions/0005-random-numbers.md``).
"""

from __future__ import annotations

import os
import weakref
from collections import Counter
from typing import Any

from mindgrad._base.checks import of_type
from mindgrad.common import seed as _seeds
from mindgrad.common.forking import restart_count
from mindgrad.common.parameter import Parameter
from mindgrad.common.seed import RANDOM_STATE, get_rng_state, set_rng_state, state_of
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.trace import references
from mindgrad.frontend import state

__all__ = [
    "Generator", "default_generator", "get_rng_state", "initial_seed", "manual_seed", "seed",
    "set_rng_state",
]  # fmt: skip


class Generator:
    """A random number generator with a separate state and a random initial seed.

    >>> import mindgrad as ms
    >>> from mindgrad import mint
    >>> generator = ms.Generator().manual_seed(5)
    >>> first = mint.rand(3, generator=generator)
    >>> print((mint.rand(3, generator=ms.Generator().manual_seed(5)) == first).all())
    True

    See Also:
        :func:`mindgrad.manual_seed`, :func:`mindgrad.set_seed`
    """

    def __init__(self) -> None:
        self._state = Parameter(_seeds.initial_state(None), name="random_state", requires_grad=False)
        self._register()

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        """Restore a copy or an unpickled generator, and register its state."""
        self.__dict__.update(attributes)
        self._register()

    def _register(self) -> None:
        identity = id(self._state)
        if not _holders[identity]:
            state.generators.append(self._state)
        _holders[identity] += 1  # after a shallow copy, several Generators share one state Parameter
        weakref.finalize(self, _forget, identity)

    @property
    def state(self) -> Parameter:
        """Parameter whose value is the state of the generator."""
        return self._state

    def manual_seed(self, seed: int) -> Generator:
        """Set the seed of this generator, and return the generator.

        Args:
            seed (int): seed from 0 to 2⁶⁴ − 1.

        Returns:
            Generator: the generator itself.

        Raises:
            TypeError: If ``seed`` is not an int.
            ValueError: If ``seed`` is negative or not below 2⁶⁴.

        >>> import mindgrad as ms
        >>> ms.Generator().manual_seed(5).initial_seed()
        5
        """
        references.write(self._state, state_of(seed, "manual_seed"))
        restart_count(self._state)
        return self

    def seed(self) -> int:
        """Choose a random seed for this generator, set it, and return it.

        >>> import mindgrad as ms
        >>> generator = ms.Generator()
        >>> generator.seed() == generator.initial_seed()
        True
        """
        found = int.from_bytes(os.urandom(4), "little")
        self.manual_seed(found)
        return found

    def initial_seed(self) -> int:
        """Return the seed of the generator.

        >>> import mindgrad as ms
        >>> ms.Generator().manual_seed(7).initial_seed()
        7
        """
        low, high = (int(word) for word in self.get_state().asnumpy()[:2])  # type: ignore[attr-defined]
        return low | high << 32

    def get_state(self) -> Tensor:
        """Return the current state of the generator as a Tensor, for :meth:`set_state`.

        >>> import mindgrad as ms
        >>> from mindgrad import mint
        >>> generator = ms.Generator()
        >>> kept = generator.get_state()
        >>> first = mint.randn(2, generator=generator)
        >>> generator.set_state(kept)
        >>> print((mint.randn(2, generator=generator) == first).all())
        True
        """
        return Tensor(self._state.value())

    def set_state(self, state: Tensor) -> None:
        """Restore a state of the generator that :meth:`get_state` returned.

        Args:
            state (Tensor): result of :meth:`get_state`.

        Raises:
            TypeError: If ``state`` does not have the shape and dtype of a result of :meth:`get_state`.
        """
        _seeds.restore(self._state, state, "set_state", "get_state")

    def __repr__(self) -> str:
        return f"Generator(initial_seed={self.initial_seed()})"


class _Default(Generator):
    """The default generator, which :func:`mindgrad.set_seed` seeds."""

    def __init__(self) -> None:
        self._state = RANDOM_STATE

    def manual_seed(self, seed: int) -> Generator:
        _seeds.set_seed(seed)
        return self

    def __reduce__(self) -> str:
        # pickle this generator by its name, because a process has only one: a copy must be the same object
        return "default_generator"


#: ``id`` of a state Parameter -> number of Generators that share it
_holders: Counter[int] = Counter()


def _forget(identity: int) -> None:
    _holders[identity] -= 1
    if _holders[identity]:
        return
    del _holders[identity]
    state.generators[:] = [each for each in state.generators if id(each) != identity]


#: random generator of all operators, layers, and functions without an argument ``generator``
default_generator = _Default()


def manual_seed(seed: int) -> Generator:
    """Set the seed of all random numbers, and return the default generator.

    Args:
        seed (int): seed from 0 to 2⁶⁴ − 1.

    Returns:
        Generator: the default generator.

    >>> import mindgrad as ms
    >>> ms.manual_seed(3)
    Generator(initial_seed=3)
    >>> ms.get_seed()
    3

    See Also:
        :func:`mindgrad.set_seed`, :class:`mindgrad.Generator`
    """
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Choose a random seed for the default generator, set it, and return it.

    Returns:
        int: seed of the default generator.

    >>> import mindgrad as ms
    >>> ms.seed() == ms.initial_seed()
    True

    See Also:
        :func:`mindgrad.initial_seed`, :func:`mindgrad.manual_seed`
    """
    return default_generator.seed()


def initial_seed() -> int:
    """Return the seed of the default generator.

    Returns:
        int: seed of the default generator.

    >>> import mindgrad as ms
    >>> ms.set_seed(7)
    >>> ms.initial_seed()
    7

    See Also:
        :func:`mindgrad.seed`, :func:`mindgrad.get_seed`
    """
    return default_generator.initial_seed()


def state_of_generator(generator: Any, operator: str) -> Parameter:
    """Return the state of ``generator``, or of the default generator for ``None``.

    Raises:
        TypeError: If ``generator`` is neither a Generator nor ``None``.
    """
    if generator is None:
        return RANDOM_STATE
    of_type(generator, Generator, operator, "generator", "a mindspore.Generator or None")
    return generator.state
