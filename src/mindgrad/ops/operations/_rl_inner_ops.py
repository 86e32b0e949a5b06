"""Recurrent operators of cuDNN, which MindSpore programs import for GPUs: refused when they are called."""

from mindgrad._base.absent import absent

_REASON = "is an operator of cuDNN or Ascend"

CudnnGRU = absent(__name__, "CudnnGRU", _REASON, "Use nn.GRU.")
GRUV2 = absent(__name__, "GRUV2", _REASON, "Use nn.GRU.")
LSTMV2 = absent(__name__, "LSTMV2", _REASON, "Use nn.LSTM.")

__all__ = ["GRUV2", "LSTMV2", "CudnnGRU"]
