"""Options of Ascend devices, which are accepted, and how many there are."""

from mindgrad import hal
from mindgrad.device_context.accepted import accepting

__all__ = ["device_count", "is_available", "op_debug", "op_precision", "op_tuning"]

op_debug = accepting("aclinit_config debug_option execute_timeout")
op_precision = accepting("conv_allow_hf32 matmul_allow_hf32 op_precision_mode precision_mode")
op_tuning = accepting("aclnn_cache aoe_job_type aoe_tune_mode op_compile")


def device_count() -> int:
    """The number of Ascend devices.

    >>> from mindgrad.device_context import ascend
    >>> ascend.device_count() >= 0
    True
    """
    return hal.device_count("Ascend")


def is_available() -> bool:
    """Whether there is one.

    >>> from mindgrad.device_context import ascend
    >>> ascend.is_available() == (ascend.device_count() > 0)
    True
    """
    return hal.is_available("Ascend")
