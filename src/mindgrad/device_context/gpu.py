"""GPU devices: options, which have no effect, and the number of devices."""

from mindgrad.device_context.accepted import accepting, counting

__all__ = ["device_count", "is_available", "op_precision", "op_tuning"]

op_precision = accepting("conv_allow_tf32 matmul_allow_tf32")
op_tuning = accepting("conv_dgrad_algo conv_fprop_algo conv_wgrad_algo")

device_count, is_available = counting(__name__, "GPU")
