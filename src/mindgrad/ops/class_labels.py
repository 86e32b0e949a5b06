"""Labels of classes are integers from 0 to c − 1; a label never counts from the end.

A label whose value is known is checked. A label that is known only when a compiled program runs reads NaN if
it is out of range, as every index does (``docs/graph_mode.md``).
"""

from __future__ import annotations

from mindgrad.ir.tensor import Tensor
from mindgrad.ops import comparison
from mindgrad.ops.index_checks import OutOfRangeError, known
from mindgrad.ops.operands import choose

__all__ = ["class_labels", "refuse_labels"]


def class_labels(labels: Tensor, classes: int, operator: str, advice: str = "") -> Tensor:
    """``labels``, of which those below 0 read as out of range too.

    Args:
        labels: integers.
        classes: the number of classes.
        operator: the operator's name for errors.
        advice: a sentence for the error.

    Raises:
        OutOfRangeError: a known label is out of range.
    """
    refuse_labels(labels, 0, classes, operator, advice)
    if known(labels) is not None or labels.dtype.kind == "uint":
        return labels
    return choose(comparison.less(labels, 0), classes, labels)


def refuse_labels(labels: Tensor, lowest: int, classes: int, operator: str, advice: str = "") -> None:
    """Raise if a label is known that is neither a class nor from ``lowest`` to −1."""
    values = known(labels)
    if values is None or not values.size or (lowest <= values.min() and values.max() < classes):
        return
    label = values[(values < lowest) | (values >= classes)].flat[0]
    raise OutOfRangeError(
        f"For '{operator}', the label {label} is out of range: there are {classes} classes, so labels must "
        f"be in range [{lowest}, {classes}).{advice and ' ' + advice}"
    )
