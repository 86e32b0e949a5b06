"""Options of GPU devices, which are accepted, and how many there are."""

from mindgrad import hal
from mindgrad.device_context.accepted import accepting

__all__ = ["device_count", "is_available", "op_precision", "op_tuning"]

op_precision = accepting("conv_allow_tf32 matmul_allow_tf32")
op_tuning = accepting("conv_dgrad_algo conv_fprop_algo conv_wgrad_algo")


def device_count() -> int:
    """The number of GPU devices.

    >>> from mindgrad.device_context import gpu
    >>> gpu.device_count() >= 0
    True
    """
    return hal.device_count("GPU")


def is_available() -> bool:
    """Whether there is one.

    >>> from mindgrad.device_context import gpu
    >>> gpu.is_available() == (gpu.device_count() > 0)
    True
    """
    return hal.is_available("GPU")
