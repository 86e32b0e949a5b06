"""Options of CPU devices, which are accepted, and how many there are."""

from mindgrad import hal
from mindgrad.device_context import cpu_tuning as op_tuning

__all__ = ["device_count", "is_available", "op_tuning"]


def device_count() -> int:
    """The number of CPU devices.

    >>> from mindgrad.device_context import cpu
    >>> cpu.device_count() >= 0
    True
    """
    return hal.device_count("CPU")


def is_available() -> bool:
    """Whether there is one.

    >>> from mindgrad.device_context import cpu
    >>> cpu.is_available() == (cpu.device_count() > 0)
    True
    """
    return hal.is_available("CPU")
