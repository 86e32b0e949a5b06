"""Class labels: integers from 0 to c − 1, which never count from the end.

If the value of a label is known, it is checked. If a label is unknown at compile time and out of range at run
time, the loss is NaN, as for every index (``docs/supported_python.md``).
"""

from __future__ import annotations

from mindgrad.core.arrays.index_checks import OutOfRangeError, known
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import comparison
from mindgrad.ops.operands import choose

__all__ = ["class_labels", "refuse_labels"]


def class_labels(labels: Tensor, classes: int, operator: str, advice: str = "") -> Tensor:
    """Check known labels; otherwise replace negative labels by an out-of-range index.

    Args:
        labels: integer tensor of class labels.
        classes: number of classes.
        operator: name of the operator for error messages.
        advice: sentence to append to the error message.

    Raises:
        OutOfRangeError: If a known label is out of range.
    """
    refuse_labels(labels, 0, classes, operator, advice)
    if known(labels) is not None or labels.dtype.kind == "uint":
        return labels
    return choose(comparison.less(labels, 0), classes, labels)


def refuse_labels(labels: Tensor, lowest: int, classes: int, operator: str, advice: str = "") -> None:
    """Raise an error for a known label that is not in [``lowest``, ``classes``)."""
    values = known(labels)
    if values is None or not values.size or (lowest <= values.min() and values.max() < classes):
        return
    label = values[(values < lowest) | (values >= classes)].flat[0]
    raise OutOfRangeError(
        f"For '{operator}', the label {label} is out of range: there are {classes} classes, so labels must "
        f"be in range [{lowest}, {classes}).{advice and ' ' + advice}"
    )
