"""One gradient of one call: what all gradient functions do, whatever they are called.

    derive(f, x) = (f(x), J_f(x)ᵀ sens)

The inputs are found by their positions, the tensors in containers that ``mutable`` made included;
the gradients have the structure of the inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad._base.tree import flatten, unflatten
from mindgrad.core.mutable import MutableFloat, MutableInt, is_container, is_mutable, plain_kind
from mindgrad.core.scope import open_scopes
from mindgrad.core.tensor import Tensor, make_tensor
from mindgrad.frontend import entry, state
from mindgrad.functional.arguments import (
    bind_keywords,
    check_count,
    check_inputs,
    check_outputs,
    match,
    warn_of_integers,
)
from mindgrad.functional.autodiff import pull
from mindgrad.functional.callables import Arity
from mindgrad.functional.record import Recorded, record

__all__ = ["Call", "Inputs", "Run", "derive", "holds_numbers", "numbers_as_tensors", "tensors_as_numbers"]

_NUMBERS = (MutableFloat, MutableInt)


class Call:
    """The arguments of a gradient function, checked.

    Attributes:
        args, kwargs: the arguments of the differentiated function; keyword arguments that name
            positional parameters stand at their positions.
        sens: a tuple of the one ``sens``, or ``None``.
        positions: what to differentiate with respect to.
    """

    __slots__ = ("args", "kwargs", "positions", "sens")

    def __init__(
        self,
        owner: str,
        fn: Callable[..., Any],
        known: Arity,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        positions: Sequence[int] | None,
        sens_param: bool = False,
        strict: bool = True,
    ) -> None:
        """``positions`` of ``None`` are all; ``strict``: one beyond the arguments is an error."""
        self.sens: tuple[Any, ...] | None = None
        if sens_param:
            if "sens" in kwargs:
                kwargs = dict(kwargs)
                self.sens = (kwargs.pop("sens"),)
            elif args:
                self.sens, args = (args[-1],), args[:-1]
        if kwargs:
            args, kwargs = bind_keywords(known, args, kwargs)
        if not kwargs or len(args) > known.most:
            check_count(fn, known, len(args), sens_param)
        if sens_param and self.sens is None:
            raise TypeError(
                f"For '{owner}', the 'sens' is missing: with sens_param=True it is the last argument."
            )
        check_inputs(owner, args)
        if positions is None:
            positions = range(len(args))
        elif positions and max(positions) >= len(args):
            if strict:
                raise IndexError(
                    f"For '{owner}', the grad_position {max(positions)} is out of range: the function "
                    f"was called with {len(args)} inputs, which are counted from 0."
                )
            positions = ()
        self.args = args
        self.kwargs = kwargs
        self.positions = positions


class Inputs:
    """The tensors of a call that are differentiated, and where they stand in its arguments.

    Args:
        args: the positional arguments.
        positions: the positions wanted; those that hold no Tensor and nothing ``mutable`` are left
            out, as constants.

    Attributes:
        tensors: the tensors in order, Parameters read.
        slots: for each position that is kept ``(position, structure, number of tensors)``; the
            structure of a plain Tensor is ``None``.
    """

    __slots__ = ("_others", "slots", "tensors")

    def __init__(self, args: Sequence[Any], positions: Sequence[int]) -> None:
        # Other tensors are passed as copies, Parameters as the values that they have outside: a
        # function never changes its caller's tensors, and what is an argument is no weight.
        self._others = [_copied(x) if isinstance(x, Tensor) else x for x in args]
        self.tensors: list[Tensor] = []
        self.slots: list[tuple[int, Any, int]] = []
        for position in positions:
            x = args[position]
            if isinstance(x, Tensor):
                self.slots.append((position, None, 1))
                self.tensors.append(state.read(x) if x.is_parameter else x)
            elif is_container(x):
                leaves, structure = flatten(x)
                tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
                self.slots.append((position, (structure, leaves), len(tensors)))
                self.tensors.extend(map(state.read, tensors))

    def arguments(self, traced: Sequence[Tensor]) -> list[Any]:
        """The positional arguments with ``traced`` in place of the tensors."""
        given = list(self._others)
        start = 0
        for position, form, count in self.slots:
            part = traced[start : start + count]
            start += count
            given[position] = part[0] if form is None else _rebuilt(form, part)
        return given

    def gradients(self, found: Sequence[Tensor]) -> list[Any]:
        """``found``, one per tensor, as one gradient per position: containers as plain ones."""
        made: list[Any] = []
        start = 0
        for _, form, count in self.slots:
            part = found[start : start + count]
            start += count
            made.append(part[0] if form is None else _rebuilt((_plain(form[0]), form[1]), part))
        return made


def _copied(x: Tensor) -> Tensor:
    found = state.read(x) if x.is_parameter else x
    return make_tensor(found._array, found._type, found._scope, found._atom)


def _rebuilt(form: tuple[Any, list[Any]], tensors: Sequence[Tensor]) -> Any:
    structure, leaves = form
    following = iter(tensors)
    return unflatten(structure, [next(following) if isinstance(leaf, Tensor) else leaf for leaf in leaves])


def _plain(structure: Any) -> Any:
    if not isinstance(structure, tuple):
        return structure
    kind, *names, items = structure
    return (plain_kind(kind), *names, tuple([_plain(each) for each in items]))


class Run:
    """A function's run under a derivative.

    Attributes:
        recorded: the run itself.
        inputs: what is differentiated.
        outputs: the tensors that carry a derivative: of the first output only, with ``has_aux``.
    """

    __slots__ = ("_has_aux", "_is_bare", "inputs", "outputs", "owner", "recorded")

    def __init__(
        self,
        owner: str,
        fn: Callable[..., Any],
        args: Sequence[Any],
        kwargs: dict[str, Any],
        positions: Sequence[int],
        parameters: Sequence[Any] = (),
        has_aux: bool = False,
    ) -> None:
        self.owner = owner
        self._has_aux = has_aux
        inputs = self.inputs = Inputs(args, positions)
        warn_of_integers(inputs.tensors)
        count = 0
        differentiated: Any = None

        def call(*traced: Tensor) -> Any:
            nonlocal count, differentiated
            differentiated = result = entry.run(fn, *inputs.arguments(traced), **kwargs)
            if has_aux:
                if not isinstance(result, tuple) or len(result) < 2:
                    raise ValueError(
                        f"For '{owner}', When has_aux is True, origin fn requires more than one "
                        f"outputs: the first is differentiated, the others are given back."
                    )
                differentiated = result[0]
                count = len(flatten(differentiated)[0])
            return result

        recorded: Recorded = record(call, inputs.tensors, parameters)
        self.recorded = recorded
        leaves = recorded.leaves[:count] if has_aux else recorded.leaves
        check_outputs(owner, fn, leaves)
        self.outputs = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        self._is_bare = isinstance(differentiated, Tensor)

    def result(self, outputs: Sequence[Tensor]) -> Any:
        """The function's result with the lifted ``outputs`` in it."""
        return self.recorded.result(outputs)

    def cotangents(self, name: str, sens: Any) -> list[Tensor]:
        """``sens`` as one tensor per differentiated output, checked against them."""
        if self._is_bare and type(sens) is Tensor and sens.type is self.outputs[0].type:
            return [sens]
        like = self.recorded.result(self.recorded.outputs)
        return match(self.owner, name, sens, like[0] if self._has_aux else like, "output")


def derive(
    owner: str,
    fn: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    positions: Sequence[int],
    parameters: Sequence[Any] = (),
    sens: tuple[Any, ...] | None = None,
    has_aux: bool = False,
    sens_name: str = "sens",
) -> tuple[Any, Inputs, list[Tensor], list[Tensor]]:
    """``(result, inputs, gradients of their tensors, gradients of parameters)``.

    ``sens`` is a tuple of one value, or ``None`` for ones.
    """
    run = Run(owner, fn, args, kwargs, positions, parameters, has_aux)
    cotangents: Sequence[Tensor | None]
    cotangents = [None] * len(run.outputs) if sens is None else run.cotangents(sens_name, sens[0])
    outputs, gradients = pull(run.recorded, cotangents, run.outputs)
    count = len(run.inputs.tensors)
    return run.result(outputs), run.inputs, gradients[:count], gradients[count:]


def holds_numbers(args: Sequence[Any]) -> bool:
    """Whether ``mutable`` made numbers among ``args`` or in containers among them."""
    return any(isinstance(leaf, _NUMBERS) for x in args if is_mutable(x) for leaf in flatten(x)[0])


def numbers_as_tensors(args: Sequence[Any]) -> list[Any]:
    """``args`` with 0-D tensors in place of the numbers that ``mutable`` made."""
    return [_as_tensor(x) for x in args]


def _as_tensor(x: Any) -> Any:
    if isinstance(x, _NUMBERS):
        return Tensor(float(x) if isinstance(x, float) else int(x))
    if not is_container(x):
        return x
    leaves, structure = flatten(x)
    return unflatten(structure, [_as_tensor(leaf) for leaf in leaves])


def tensors_as_numbers(gradient: Any, argument: Any) -> Any:
    """``gradient`` with numbers in place of tensors where ``argument`` holds mutable numbers.

    Inside a program that is being traced they stay tensors.
    """
    if open_scopes():
        return gradient
    found, structure = flatten(gradient)
    given = flatten(argument)[0]
    pairs = zip(found, given, strict=True)
    return unflatten(structure, [g.item() if isinstance(x, _NUMBERS) else g for g, x in pairs])
