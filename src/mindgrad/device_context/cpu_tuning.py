"""Options of CPU devices, which are accepted: ``mindspore.device_context.cpu.op_tuning``."""

from mindgrad.device_context.accepted import accepting

__all__ = ["threads_num"]

threads_num = accepting("threads_num").threads_num
