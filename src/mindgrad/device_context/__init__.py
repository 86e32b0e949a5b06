"""Options of devices that MindSpore has had since 2.5: they are accepted, and XLA chooses for itself.

``mindspore.device_context.cpu.op_tuning.threads_num(4)``.
"""

from mindgrad.device_context import ascend, cpu, gpu

__all__ = ["ascend", "cpu", "gpu"]
