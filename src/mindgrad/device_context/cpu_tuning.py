"""``device_context.cpu.op_tuning``: options of CPU devices, which have no effect."""

from mindgrad.device_context.accepted import accepting

__all__ = ["threads_num"]

threads_num = accepting("threads_num").threads_num
