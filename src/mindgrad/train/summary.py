"""``SummaryRecord``, under the module name of MindSpore."""

from mindgrad.core.ir.tensor import Tensor
from mindgrad.train.callback.summary import SummaryRecord

__all__ = ["SummaryRecord"]


def _get_summary_tensor_data() -> dict[str, Tensor]:
    """Return an empty dict, because summary operators record nothing."""
    return {}
