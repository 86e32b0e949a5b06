"""Names of ``mindgrad.mint.nn.functional``, for type checkers and editors.

Written by `scripts/stubs.py` from the registry of public names; do not edit.
"""

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.core.ir.tensor import Tensor
from mindgrad.mint.nn.pooling import avg_pool1d as avg_pool1d
from mindgrad.mint.nn.pooling import avg_pool3d as avg_pool3d
from mindgrad.mint.nn.pooling import conv_transpose2d as conv_transpose2d
from mindgrad.mint.nn.pooling import dropout2d as dropout2d
from mindgrad.mint.reducing import log_softmax as log_softmax
from mindgrad.ops.activation import gelu as gelu
from mindgrad.ops.activation import logsigmoid as logsigmoid
from mindgrad.ops.activation import mish as mish
from mindgrad.ops.activation import sigmoid as sigmoid
from mindgrad.ops.activation import softplus as softplus
from mindgrad.ops.activation import softsign as softsign
from mindgrad.ops.classification import cross_entropy as cross_entropy
from mindgrad.ops.grid_sampling import grid_sample as grid_sample
from mindgrad.ops.im2col import fold as fold
from mindgrad.ops.im2col import unfold as unfold
from mindgrad.ops.indexing import embedding as embedding
from mindgrad.ops.losses import cosine_embedding_loss as cosine_embedding_loss
from mindgrad.ops.losses import l1_loss as l1_loss
from mindgrad.ops.losses import mse_loss as mse_loss
from mindgrad.ops.losses import soft_margin_loss as soft_margin_loss
from mindgrad.ops.math import tanh as tanh
from mindgrad.ops.normalization import group_norm as group_norm
from mindgrad.ops.normalization import layer_norm as layer_norm
from mindgrad.ops.pooling import adaptive_avg_pool1d as adaptive_avg_pool1d
from mindgrad.ops.pooling import adaptive_avg_pool2d as adaptive_avg_pool2d
from mindgrad.ops.pooling import adaptive_avg_pool3d as adaptive_avg_pool3d
from mindgrad.ops.pooling import adaptive_max_pool1d as adaptive_max_pool1d
from mindgrad.ops.pooling import adaptive_max_pool2d as adaptive_max_pool2d
from mindgrad.ops.rectifiers import celu as celu
from mindgrad.ops.rectifiers import hardshrink as hardshrink
from mindgrad.ops.rectifiers import hardsigmoid as hardsigmoid
from mindgrad.ops.rectifiers import hardswish as hardswish
from mindgrad.ops.rectifiers import prelu as prelu
from mindgrad.ops.rectifiers import selu as selu
from mindgrad.ops.rectifiers import softshrink as softshrink
from mindgrad.ops.resizing import interpolate as interpolate
from mindgrad.ops.resizing import interpolate as upsample
from mindgrad.ops.shuffling import pixel_shuffle as pixel_shuffle
from mindgrad.ops.unpooling import max_unpool2d as max_unpool2d

__all__: list[str]

def avg_pool2d(input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None) -> Tensor:
    """Average the elements of each window over two axes."""
def batch_norm(input: Any, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-05) -> Tensor:
    """Normalize each channel with statistics of the batch or running statistics."""
def binary_cross_entropy(input: Any, target: Any, weight: Any = None, reduction: str = 'mean') -> Tensor:
    """Compute the binary cross entropy of probabilities p and targets t."""
def binary_cross_entropy_with_logits(input: Any, target: Any, weight: Any = None, reduction: str = 'mean', pos_weight: Any = None) -> Tensor:
    """Compute the binary cross entropy of logits x and targets t."""
def conv1d(input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1) -> Tensor:
    """Compute a cross-correlation along one axis."""
def conv2d(input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1) -> Tensor:
    """Compute a cross-correlation along two axes."""
def conv3d(input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1) -> Tensor:
    """Compute a cross-correlation along three axes."""
def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: Any = False) -> Tensor:
    """Set elements to zero with probability ``p`` and divide the others by 1 − p."""
def elu(input: Any, alpha: float = 1.0, inplace: Any = False) -> Tensor:
    """Compute x for positive x, and α (exp(x) − 1) otherwise."""
def elu_(self: Tensor, args: Any, kwargs: Any) -> Tensor:
    """Replace the tensor, in place, with the exponential linear unit."""
def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Merge axes of a tensor into one."""
def glu(input: Any, dim: int = -1) -> Tensor:
    """Compute the gated linear unit a · sigmoid(b) of two halves a and b."""
def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: Any = False) -> Tensor:
    """Clip values to [``min_val``, ``max_val``]; the derivative is 1 at both bounds."""
def hardtanh_(self: Tensor, args: Any, kwargs: Any) -> Tensor:
    """Replace the tensor, in place, with its values clipped to an interval."""
def kl_div(input: Any, target: Any, reduction: str = 'mean', log_target: bool = False) -> Tensor:
    """Compute the Kullback–Leibler divergence Σ t (log t − x)."""
def leaky_relu(input: Any, negative_slope: float = 0.01) -> Tensor:
    """Compute x for positive x, and α x otherwise; the derivative at 0 is α."""
def linear(input: Any, weight: Any, bias: Any = None) -> Tensor:
    """Compute the fully connected layer input · weightᵀ + bias."""
def max_pool2d(input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False, return_indices: bool = False) -> Any:
    """Return the largest element of each window over two axes."""
def nll_loss(input: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = 'mean') -> Tensor:
    """Compute the negative log-likelihood loss −w[t] x[t]."""
def normalize(input: Any, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Tensor:
    """Divide a tensor by its p-norm along an axis."""
def one_hot(tensor: Any, num_classes: int = -1) -> Tensor:
    """Encode indices as one-hot vectors along a new last axis."""
def pad(input: Any, pad: Any, mode: str = 'constant', value: Any = None) -> Tensor:
    """Add elements before and after the trailing dimensions of a tensor."""
def relu(input: Any, inplace: Any = False) -> Tensor:
    """Compute max(x, 0); its derivative at 0 is 0."""
def relu6(input: Any, inplace: Any = False) -> Tensor:
    """Compute min(max(x, 0), 6); its derivative is 0 at 0 and 1 at 6."""
def relu_(self: Tensor, args: Any, kwargs: Any) -> Tensor:
    """Replace the tensor, in place, with max(x, 0)."""
def sigmoid_(self: Tensor, args: Any, kwargs: Any) -> Tensor:
    """Replace the tensor, in place, with 1 / (1 + exp(−x))."""
def silu(input: Any, inplace: Any = False) -> Tensor:
    """Compute x · sigmoid(x), also called swish."""
def smooth_l1_loss(input: Any, target: Any, reduction: str = 'mean', beta: float = 1.0) -> Tensor:
    """Compute the smooth L1 loss of d = input − target (Girshick, 2015)."""
def softmax(input: Any, dim: int | None = None, dtype: Any = None) -> Tensor:
    """Compute the softmax exp x / Σ exp x along an axis."""
def threshold(input: Any, threshold: float, value: float, inplace: Any = False) -> Tensor:
    """Compute x above a threshold, and another value elsewhere."""
def threshold_(self: Tensor, args: Any, kwargs: Any) -> Tensor:
    """Replace the tensor, in place, with x above a threshold, else ``value``."""
