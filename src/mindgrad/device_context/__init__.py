"""Device options of MindSpore 2.5 and later, which are accepted without effect.

For example, ``mindgrad.device_context.cpu.op_tuning.threads_num(4)``. XLA chooses such settings
automatically.
"""

from mindgrad.device_context import ascend, cpu, gpu

__all__ = ["ascend", "cpu", "gpu"]
