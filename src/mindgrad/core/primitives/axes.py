"""Index maps and type rules that several primitives share.

An index map assigns a label and a kind, such as parallel or reduced, to each axis of an operator
(``ir.index_map``). An index map that only one primitive needs is defined in the module of the primitive.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mindgrad.core.ir.dtype import DType
from mindgrad.core.ir.index_map import (
    KINDS,
    OPAQUE,
    WINDOWED,
    Arrangement,
    Axes,
    IndexMap,
    Labels,
    Relabeling,
)
from mindgrad.core.ir.rules import Statics, TypeRule
from mindgrad.core.ir.types import Shape, TensorType
from mindgrad.core.primitives.kinds import same_type

__all__ = ["SIZE", "Along", "Core", "Entries", "along_axis", "permuted"]

#: placeholder for the size of the axis in ``Entries(defaults=…)``
SIZE = object()


def along_axis(name: str, accepts: str, result: DType | None = None, count: int = 1) -> TypeRule:
    """Return the type rule of operators along one axis, their parameter ``axis``.

    The ``count`` operands have the same type, of a kind that ``accepts`` permits (:func:`same_type`). The
    result has their shape, and the element type ``result``. Default: their element type.
    """
    same = same_type(name, accepts, count)

    def type_rule(*types: TensorType, axis: int, **_: object) -> TensorType:
        x = same(*types)
        if not 0 <= axis < x.rank:
            raise ValueError(
                f"For '{name}', the axis must be between 0 and {x.rank - 1} for an input of shape "
                f"{x.shape}, but got {axis}."
            )
        return x if result is None else x.with_dtype(result)

    return type_rule


def permuted(axes: Sequence[int], labels: Labels, old: Labels) -> tuple[int, ...]:
    """Map ``axes`` to the axes of a transposed array.

    ``old`` and ``labels`` are the axis labels before and after the transposition.
    """
    return tuple([labels.index(old[axis]) for axis in axes])


class Along(Axes):
    """Index map of an operator along given axes, such as ``sum``, ``cumsum``, ``fft``.

    Args:
        parameter: name of the operator's parameter that contains the given axis or tuple of axes.
        kind: kind of the given axes in the index map, such as ``REDUCED`` (``ir.index_map``). If the kind is
            ``ORDERED`` and the operator has a Boolean parameter ``reverse``, this parameter is the direction.
        keeps: whether the result also has the given axes.
        stays_last: whether given axes that are last must stay last. This is true for operators whose library
            kernels work only on the last axis. For any other axis, they transpose the operand and the result.
    """

    def __init__(self, parameter: str, kind: str, keeps: bool, stays_last: bool = False) -> None:
        if kind not in KINDS:
            raise ValueError(f"For 'Along', the kind must be one of {', '.join(KINDS)}, but got {kind!r}.")
        self._parameter, self._kind, self._keeps, self._stays_last = parameter, kind, keeps, stays_last

    def index_map(self, shapes: Sequence[Shape], parameters: Statics) -> IndexMap:
        labels = tuple(range(len(shapes[0])))
        axes = parameters[self._parameter]
        axes = (axes,) if isinstance(axes, int) else axes
        rest = labels if self._keeps else tuple([label for label in labels if label not in axes])
        return IndexMap((labels,), (rest,), dict.fromkeys(axes, self._kind))

    def relabeled(self, old: IndexMap, new: Arrangement) -> Relabeling | None:
        (labels,) = new.operands
        count = len(old.kinds)
        is_last = set(old.operands[0][-count:]) == old.kinds.keys()
        if self._stays_last and is_last and set(labels[-count:]) != old.kinds.keys():
            return None
        axes = tuple(sorted([labels.index(label) for label in old.kinds]))
        rest = labels if self._keeps else tuple([label for label in labels if label not in old.kinds])
        is_number = isinstance(new.parameters[self._parameter], int)
        return Relabeling({**new.parameters, self._parameter: axes[0] if is_number else axes}, (rest,))


class Entries(Axes):
    """Index map of an operator such as ``pad``, with one parameter entry per axis.

    An axis whose entries are the defaults is parallel. All other axes have the kind ``kind``.

    Args:
        defaults: for each parameter, the entry of an axis that the operator does not change. :data:`SIZE`
            means the size of the axis.
        kind: kind of the axes whose entries are not the defaults; ``None`` if they are parallel, too.
        moves: whether the axes may be reordered. If other operands depend on the order of the axes, they must
            not be reordered.
    """

    def __init__(self, defaults: Statics, kind: str | None = WINDOWED, moves: bool = True) -> None:
        self._defaults, self._kind, self._moves = defaults, kind, moves

    def index_map(self, shapes: Sequence[Shape], parameters: Statics) -> IndexMap:
        shape = shapes[0]
        labels = tuple(range(len(shape)))
        scalars = tuple([tuple(range(len(each))) for each in shapes[1:]])
        kinds = {}
        for label in labels:
            if self._kind is not None and any(
                parameters[name][label] != (shape[label] if default is SIZE else default)
                for name, default in self._defaults.items()
            ):
                kinds[label] = self._kind
        return IndexMap((labels, *scalars), (labels,), kinds)

    def relabeled(self, old: IndexMap, new: Arrangement) -> Relabeling | None:
        if not self._moves and new.operands[0] != old.operands[0]:
            return None
        changed = dict(new.parameters)
        for name, default in self._defaults.items():
            entries = []
            for label in new.operands[0]:
                is_default = label not in old.kinds and (default is SIZE or label not in old.operands[0])
                if is_default:
                    entries.append(new.sizes[label] if default is SIZE else default)
                else:
                    entries.append(new.parameters[name][old.operands[0].index(label)])
            changed[name] = tuple(entries)
        return Relabeling(changed, (new.operands[0],))


class Core(Axes):
    """Index map of an operator on the last axes (core axes), after batch axes.

    Args:
        signature: the core axes of operands and results, in the notation of NumPy's generalized ufuncs, such
            as ``"(i,j),(j,k)->(i,k)"``.
        parallel: names of core axes along which elements are independent, such as the right-hand sides of a
            linear system.

    >>> Core("(i,j),(j,k)->(i,k)", parallel="k").index_map([(5, 3, 3), (5, 3, 2)], {}).results
    ((0, 1, 3),)
    """

    def __init__(self, signature: str, parallel: str = "") -> None:
        operands, results = [
            [tuple(filter(None, core.split(","))) for core in re.findall(r"\((.*?)\)", side)]
            for side in signature.split("->")
        ]
        self._operands, self._results, self._parallel = operands, results, parallel

    def index_map(self, shapes: Sequence[Shape], parameters: Statics) -> IndexMap:
        batch = tuple(range(len(shapes[0]) - len(self._operands[0])))
        labels: dict[str, int] = {}
        for core in [*self._operands, *self._results]:
            for name in core:
                labels.setdefault(name, len(batch) + len(labels))
        kinds = {label: OPAQUE for name, label in labels.items() if name not in self._parallel}
        operands, results = [
            tuple([(*batch, *[labels[name] for name in core]) for core in side])
            for side in (self._operands, self._results)
        ]
        return IndexMap(operands, results, kinds)

    def relabeled(self, old: IndexMap, new: Arrangement) -> Relabeling | None:
        batches: list[Labels] = []
        for labels, core in zip(new.operands, self._operands, strict=True):
            count = len(labels) - len(core)
            if labels[count:] != old.operands[len(batches)][len(old.operands[len(batches)]) - len(core) :]:
                return None
            batches.append(labels[:count])
        if any(batch != batches[0] for batch in batches):
            return None
        cores = [labels[len(labels) - len(c) :] for labels, c in zip(old.results, self._results, strict=True)]
        return Relabeling(dict(new.parameters), tuple([(*batches[0], *core) for core in cores]))
