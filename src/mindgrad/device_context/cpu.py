"""CPU devices: options, which have no effect, and the number of devices."""

from mindgrad.device_context import cpu_tuning as op_tuning
from mindgrad.device_context.accepted import counting

__all__ = ["device_count", "is_available", "op_tuning"]

device_count, is_available = counting(__name__, "CPU")
