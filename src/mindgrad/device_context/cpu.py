"""Options of CPU devices, which are accepted, and how many there are."""

from mindgrad.device_context import cpu_tuning as op_tuning
from mindgrad.device_context.accepted import counting

__all__ = ["device_count", "is_available", "op_tuning"]

device_count, is_available = counting(__name__, "CPU")
