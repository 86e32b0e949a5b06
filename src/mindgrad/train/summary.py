"""``from mindspore.train.summary import SummaryRecord``, which is refused with what to use instead."""

from mindgrad.train.callback.summary import SummaryRecord

__all__ = ["SummaryRecord"]
