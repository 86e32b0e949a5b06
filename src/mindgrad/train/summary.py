"""``from mindspore.train.summary import SummaryRecord``, a writer that warns once and writes nothing."""

from mindgrad.ir.tensor import Tensor
from mindgrad.train.callback.summary import SummaryRecord

__all__ = ["SummaryRecord"]


def _get_summary_tensor_data() -> dict[str, Tensor]:
    """The values that operators of summaries noted: none, because these operators record nothing."""
    return {}
