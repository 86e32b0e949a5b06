"""Reverse-mode derivative of one call, for all gradient functions.

    derive(f, x) = (f(x), J_f(x)ᵀ sens)

The differentiated inputs are given by position. All tensors and floats of such an input are differentiated,
also in nested containers. The gradients have the structure of the inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.api.arguments import (
    bind_keywords,
    check_count,
    check_inputs,
    check_outputs,
    differentiable,
    warn_of_integers,
)
from mindgrad.api.callables import Arity, arity, describe
from mindgrad.api.matching import match
from mindgrad.core.api.pullback import pull
from mindgrad.core.base.location import ZeroGradientWarning, warn_user
from mindgrad.core.base.tree import flatten, paths, unflatten
from mindgrad.core.ir.constant_arguments import is_constant
from mindgrad.core.ir.mutable import is_mutable, plain_kind
from mindgrad.core.ir.scope import DeferredScope, GraphScope, innermost
from mindgrad.core.ir.tensor import Number, Tensor, make_number, make_tensor
from mindgrad.core.trace import references
from mindgrad.core.trace.numbers import number_tensor
from mindgrad.core.trace.record import Recorded, record, shadow
from mindgrad.frontend import user_calls
from mindgrad.frontend.tensor_hooks import behind_hooks

__all__ = ["Call", "Inputs", "Run", "derive", "further"]


class Call:
    """The checked arguments of one call of a gradient function.

    Attributes:
        args, kwargs: the arguments of the differentiated function. Keyword arguments that name positional
            parameters are moved to ``args``.
        sens: tuple whose only item is the argument ``sens``, or ``None`` if there is none.
        positions: the positions of the differentiated arguments.
    """

    __slots__ = ("args", "kwargs", "positions", "sens")

    def __init__(
        self,
        owner: str,
        fn: Callable[..., Any],
        signature: Arity,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        positions: Sequence[int] | None,
        sens_param: bool | None = None,
        strict: bool = True,
    ) -> None:
        """Check the arguments of a call.

        If ``positions`` is ``None``, all arguments are differentiated. ``sens_param`` is ``None`` if the API
        has no such option. With ``strict``, a position beyond the arguments raises ``IndexError``.
        """
        self.sens: tuple[Any, ...] | None = None
        if sens_param:
            if "sens" in kwargs:
                kwargs = dict(kwargs)
                self.sens = (kwargs.pop("sens"),)
            elif args:
                self.sens, args = (args[-1],), args[:-1]
        if kwargs:
            args, kwargs = bind_keywords(signature, args, kwargs)
        if not signature.least <= len(args) <= signature.most and (not kwargs or len(args) > signature.most):
            check_count(fn, signature, len(args), sens_param)
        if sens_param and self.sens is None:
            raise TypeError(
                f"For '{owner}', the 'sens' is missing: with sens_param=True it is the last argument."
            )
        for x in args:
            if type(x) is not Tensor:
                check_inputs(owner, args)
                break
        if positions is None:
            positions = range(len(args))
        elif positions and max(positions) >= len(args):
            if strict:
                raise IndexError(
                    f"For '{owner}', the grad_position {max(positions)} is out of range: the function "
                    f"was called with {len(args)} input{'' if len(args) == 1 else 's'}, counted from 0."
                    f"{_keywords_without_position(fn, signature, kwargs)}"
                )
            positions = ()
        self.args = args
        self.kwargs = kwargs
        self.positions = positions


def _keywords_without_position(fn: Any, signature: Arity, kwargs: dict[str, Any]) -> str:
    """Describe the keyword arguments that are not positional parameters of ``fn``."""
    if not kwargs:
        return ""
    names = [f"'{name}'" for name in signature.names if name]
    listed = ", ".join(map(repr, kwargs))
    known = f"its positional arguments are {', '.join(names)}" if names else "it has none"
    plural = "s" if len(kwargs) > 1 else ""
    return f" {describe(fn)} has no positional argument{plural} {listed}; {known}."


class Inputs:
    """The differentiated tensors of a call, and their positions in its arguments.

    Args:
        owner: name of the public function, such as ``"grad"``, for error messages.
        fn: the called function. Errors use the names of its arguments.
        args: positional arguments of ``fn``.
        positions: indices of the differentiated arguments, which are Tensors, numbers, or containers of
            Tensors and numbers.
        only_tensors: whether numbers and containers are treated as constants, unless ``mutable`` created
            them.

    Attributes:
        tensors: list of the differentiated tensors. A Parameter is replaced by its value, and a number by a
            0-D tensor.
        numbers: for each tensor in ``tensors``, whether the input is a number.
        parameters: dict that maps indices in ``tensors`` to the Parameters whose values they are.
        slots: ``(position, structure, number of tensors)`` for each differentiated position. The structure
            of a plain Tensor is ``None``.

    Raises:
        TypeError: If an argument in ``positions`` has no derivative, such as an int or a string.
    """

    __slots__ = ("_others", "numbers", "parameters", "slots", "tensors")

    def __init__(
        self,
        owner: str,
        fn: Callable[..., Any],
        args: Sequence[Any],
        positions: Sequence[int],
        only_tensors: bool = False,
    ) -> None:
        # Pass the other tensors as copies, so that the function cannot change tensors of its caller. Pass
        # Parameters as their values, so that a Parameter that is an argument does not count as a weight.
        self._others = [
            x if position in positions or type(x) is Number or not isinstance(x, Tensor) else _copied(x)
            for position, x in enumerate(args)
        ]
        self.tensors: list[Tensor] = []
        self.numbers: list[bool] = []
        self.parameters: dict[int, Any] = {}
        self.slots: list[tuple[int, Any, int]] = []
        for position in positions:
            x = args[position]
            if is_constant(x) and references.is_compiling():
                continue  # as in MindSpore, the result contains no gradient for a constant input
            if type(x) is Tensor or (isinstance(x, Tensor) and type(x) is not Number):
                self.slots.append((position, None, 1))
                if x.is_parameter:
                    self.parameters[len(self.tensors)] = x
                self.tensors.append(references.read(x) if x.is_parameter else x)
                self.numbers.append(False)
            elif not only_tensors or is_mutable(x) or type(x) is Number:
                leaves, structure = flatten(x)
                names = _Places(fn, position, structure)
                kinds = [
                    differentiable(owner, leaf, names, place, is_mutable(x))
                    for place, leaf in enumerate(leaves)
                ]
                tensors = [
                    references.read(leaf) if kind is Tensor else number_tensor(leaf)
                    for leaf, kind in zip(leaves, kinds, strict=True)
                    if kind is not None
                ]
                self.slots.append((position, (structure, leaves, kinds), len(tensors)))
                given = [leaf for leaf, kind in zip(leaves, kinds, strict=True) if kind is not None]
                start = len(self.tensors)
                self.parameters.update((start + k, p) for k, p in enumerate(given) if _is_parameter(p))
                self.tensors.extend(tensors)
                self.numbers.extend([kind is Number for kind in kinds if kind is not None])

    def originals(self, args: Sequence[Any]) -> list[Any]:
        """Return the leaf of ``args`` to which each element of ``tensors`` belongs."""
        listed: list[Any] = []
        for position, form, _ in self.slots:
            if form is None:
                listed.append(args[position])
            else:
                listed.extend([x for x, kind in zip(*form[1:], strict=True) if kind is not None])
        return listed

    def arguments(self, traced: Sequence[Tensor]) -> list[Any]:
        """Return the positional arguments with ``traced`` instead of ``tensors``."""
        args = self._others.copy()
        start = 0
        for position, form, count in self.slots:
            if form is None:
                args[position] = traced[start]
                start += 1
                continue
            part = traced[start : start + count]
            args[position] = _rebuilt(form, self._typed(part, start))
            start += count
        return args

    def _typed(self, tensors: Sequence[Tensor], start: int = 0) -> list[Tensor]:
        if True not in self.numbers:
            return list(tensors)
        kinds = self.numbers[start : start + len(tensors)]
        return [make_number(t) if is_one else t for t, is_one in zip(tensors, kinds, strict=True)]

    def like(self, tensors: Sequence[Tensor] | None = None) -> list[Tensor]:
        """Convert each tensor whose input is a number to a ``Number``.

        ``tensors`` are by default the tensors of the inputs. Tensors after the last input belong to
        Parameters and are returned unchanged.
        """
        templates = self.tensors if tensors is None else tensors
        if True not in self.numbers:
            return list(templates)
        count = len(self.tensors)
        return [*self._typed(templates[:count]), *templates[count:]]

    def gradients(self, by_tensor: Sequence[Any]) -> list[Any]:
        """Group the gradients, given by tensor, into one gradient per position.

        Containers made by ``mutable`` become plain tuples, lists, and dicts.
        """
        by_position: list[Any] = []
        start = 0
        for _, form, count in self.slots:
            if form is None:
                by_position.append(by_tensor[start])
            else:
                part = by_tensor[start : start + count]
                by_position.append(_rebuilt((_plain(form[0]), *form[1:]), part))
            start += count
        return by_position


class _Places:
    """Names of the leaves of one argument, such as ``p['w'] of argument 0 'p'``."""

    __slots__ = ("_fn", "_position", "_structure")

    def __init__(self, fn: Callable[..., Any], position: int, structure: Any) -> None:
        self._fn = fn
        self._position = position
        self._structure = structure

    @property
    def is_nested(self) -> bool:
        return isinstance(self._structure, tuple)

    def name(self, index: int) -> str:
        """Return the name of leaf number ``index``."""
        names = arity(self._fn).names
        own = names[self._position] if self._position < len(names) else ""
        argument = f"argument {self._position}" + f" '{own}'" * bool(own)
        if not self.is_nested:
            return argument
        return f"{paths(self._structure, own or f'args[{self._position}]')[index]} of {argument}"


def _is_parameter(x: Any) -> bool:
    return isinstance(x, Tensor) and x.is_parameter


def _copied(x: Tensor) -> Tensor:
    found = references.read(x) if x.is_parameter else x
    return make_tensor(found._array, found._type, found._scope, found._atom)


def _rebuilt(form: tuple[Any, list[Any], list[Any]], tensors: Sequence[Any]) -> Any:
    structure, leaves, kinds = form
    following = iter(tensors)
    filled = [leaf if kind is None else next(following) for leaf, kind in zip(leaves, kinds, strict=True)]
    return unflatten(structure, filled)


def _plain(structure: Any) -> Any:
    if not isinstance(structure, tuple):
        return structure
    kind, *names, items = structure
    return (plain_kind(kind), *names, tuple([_plain(each) for each in items]))


class Run:
    """A recorded call of the function that is differentiated.

    Attributes:
        recorded: recording of the operators of the call.
        inputs: the differentiated inputs.
        outputs: the differentiated output tensors. With ``has_aux``, only the tensors of the first output.
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
        only_tensors: bool = False,
    ) -> None:
        self.owner = owner
        self._has_aux = has_aux
        inputs = self.inputs = Inputs(owner, fn, args, positions, only_tensors)
        warn_of_integers(inputs.tensors)
        count = 0
        differentiated: Any = None

        reads = _Reads() if inputs.parameters else None

        def call(*traced: Tensor) -> Any:
            nonlocal count, differentiated
            if reads is not None:
                scope: Any = innermost()
                reads.update(scope.bindings)
                scope.bindings = reads
            differentiated = result = user_calls.run(fn, *inputs.arguments(traced), **kwargs)
            if has_aux:
                if not isinstance(result, tuple) or len(result) < 2:
                    raise ValueError(
                        f"For '{owner}', When has_aux is True, origin fn requires more than one "
                        f"outputs: the first is differentiated, and the others are returned unchanged."
                    )
                differentiated = result[0]
                count = len(flatten(differentiated)[0])
            return result

        hooked = behind_hooks(call, lambda: inputs.originals(args), parameters)
        recorded: Recorded = record(hooked, inputs.tensors, parameters)
        self.recorded = recorded
        if reads is not None:
            _warn_of_unused(owner, recorded, inputs.parameters, reads.outside)
        leaves = recorded.leaves[:count] if has_aux else recorded.leaves
        self.outputs = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        if not leaves or len(self.outputs) != len(leaves):
            check_outputs(owner, fn, leaves)
        self._is_bare = isinstance(differentiated, Tensor)

    def result(self, outputs: Sequence[Tensor]) -> Any:
        """Return the result of the function with its tensors replaced by ``outputs``."""
        return self.recorded.result(outputs)

    def cotangents(self, name: str, sens: Any) -> list[Tensor]:
        """Check ``sens``, and return one tensor for each differentiated output."""
        if self._is_bare and type(sens) is Tensor and sens.type is self.outputs[0].type:
            return [sens]
        like = self.recorded.result(self.recorded.outputs)
        return match(self.owner, name, sens, like[0] if self._has_aux else like, "output")


class _Reads(dict[int, Any]):
    """Bindings of a scope (values of Parameters by ``id``) that record missing keys.

    A missing key is a Parameter that the function reads from outside its arguments.
    """

    __slots__ = ("outside",)

    def __init__(self) -> None:
        self.outside: set[int] = set()

    def get(self, key: int, default: Any = None) -> Any:
        if key not in self:
            self.outside.add(key)
        return super().get(key, default)


def _warn_of_unused(owner: str, recorded: Recorded, arguments: dict[int, Any], read: set[int]) -> None:
    """Warn if the function ignores an argument that is a Parameter.

    Such a function reads the same Parameter from elsewhere, so the gradient is zero.

    Args:
        owner: name of the public function, such as ``"grad"``, for the warning.
        recorded: the run of the function.
        arguments: dict that maps indices of differentiated tensors to Parameters.
        read: set of the ``id`` of each Parameter that the function reads.
    """
    scope, inputs, outputs = recorded.scope, recorded.inputs, recorded.outputs
    if isinstance(scope, DeferredScope):
        recording = None if scope.deferral is None else scope.deferral.recording(scope)
        if recording is None:
            return  # the call is deferred. An earlier call with the same operators ran them, and was checked
        scope, inputs = recording
        outputs = [shadow(t) for t in outputs]
    ignored = {inputs[k]._atom: p for k, p in arguments.items() if id(p) in read}
    if not ignored:
        return
    if isinstance(scope, GraphScope):
        operands = [equation.inputs for equation in scope.builder.equations]
    else:
        operands = [numbers for _, numbers, *_ in scope.entries]
    used = {x for each in operands for x in each} | {t._atom for t in outputs if t._scope is scope}
    unused = [p.name for atom, p in ignored.items() if atom not in used]
    if unused:
        warn_user(
            f"'{owner}' differentiates with respect to an argument that contains the Parameter "
            f"'{unused[0]}', but the function does not use this argument and reads the Parameter from "
            "elsewhere, so the gradient is zero. Pass the Parameters as weights, ms.grad(fn, None, "
            "weights)(...), or let the function use the argument: ms.functional_call(net, params, args).",
            ZeroGradientWarning,
        )


def further(outputs: Sequence[Any]) -> Any:
    """Return the outputs after the first: a single output, or a tuple of several."""
    return outputs[1] if len(outputs) == 2 else tuple(outputs[1:])


def derive(
    run: Run, sens: tuple[Any, ...] | None = None, sens_name: str = "sens", with_result: bool = True
) -> tuple[Any, list[Tensor], list[Tensor]]:
    """Return the result of ``run`` and the gradients of its tensors and Parameters.

    ``sens`` is a tuple of one value, or ``None`` for ones. Without ``with_result``, the result is ``None``.
    """
    cotangents: Sequence[Tensor | None]
    cotangents = [None] * len(run.outputs) if sens is None else run.cotangents(sens_name, sens[0])
    outputs, gradients = pull(run.recorded, cotangents, run.outputs)
    count = len(run.inputs.tensors)
    result = run.result(outputs) if with_result else None
    return result, run.inputs.like(gradients[:count]), gradients[count:]
