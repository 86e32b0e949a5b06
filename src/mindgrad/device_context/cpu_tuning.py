"""Options of CPU devices, which are accepted: ``from mindspore.device_context.cpu.op_tuning import threads_num``."""

from mindgrad.device_context.accepted import accepting

__all__ = ["threads_num"]

threads_num = accepting("threads_num").threads_num
