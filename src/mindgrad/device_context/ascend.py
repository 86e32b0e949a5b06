"""Ascend devices: options, which have no effect, and the number of devices."""

from mindgrad.device_context.accepted import accepting, counting

__all__ = ["device_count", "is_available", "op_debug", "op_precision", "op_tuning"]

op_debug = accepting("aclinit_config debug_option execute_timeout")
op_precision = accepting("conv_allow_hf32 matmul_allow_hf32 op_precision_mode precision_mode")
op_tuning = accepting("aclnn_cache aoe_job_type aoe_tune_mode op_compile")

device_count, is_available = counting(__name__, "Ascend")
