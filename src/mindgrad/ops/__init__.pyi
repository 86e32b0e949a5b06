"""Functions and classes of ``mindgrad.ops``, for type checkers and editors.

Written by `scripts/stubs.py` from the names of `mindgrad.ops`; do not edit.
"""

from builtins import bool as _bool
from builtins import complex as _complex
from builtins import float as _float
from builtins import int as _int
from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.core.ir.dtype import DType as _DType
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops.operations.base import Operation as Operation
from mindgrad.api.gradient import GradOperation as GradOperation
from mindgrad.api.gradient import get_grad as get_grad
from mindgrad.api.gradient import grad as grad
from mindgrad.api.gradient import value_and_grad as value_and_grad
from mindgrad.api.hessian import ggnvp as ggnvp
from mindgrad.api.hessian import hessian as hessian
from mindgrad.api.hessian import hvp as hvp
from mindgrad.api.hessian import vhp as vhp
from mindgrad.api.jacobian import jacfwd as jacfwd
from mindgrad.api.jacobian import jacrev as jacrev
from mindgrad.api.jvp import jvp as jvp
from mindgrad.api.jvp import linearize as linearize
from mindgrad.api.laplacian import biharmonic as biharmonic
from mindgrad.api.laplacian import directional_derivative as directional_derivative
from mindgrad.api.laplacian import divergence as divergence
from mindgrad.api.laplacian import laplacian as laplacian
from mindgrad.api.laplacian import second_order as second_order
from mindgrad.api.taylor import derivative as derivative
from mindgrad.api.taylor import jet as jet
from mindgrad.api.taylor import taylor as taylor
from mindgrad.api.vjp import vjp as vjp
from mindgrad.api.vmap import vmap as vmap
from mindgrad.common.sparse_tensor import COOTensor as make_coo_tensor
from mindgrad.common.sparse_tensor import COOTensor as make_sparse_tensor
from mindgrad.common.sparse_tensor import CSRTensor as make_csr_tensor
from mindgrad.common.sparse_tensor import RowTensor as make_row_tensor
from mindgrad.common.sparse_tensor import RowTensor as make_row_tensor_inner
from mindgrad.core.trace.custom import custom_vjp as custom_vjp
from mindgrad.frontend.hooks import HookBackward as HookBackward
from mindgrad.frontend.hooks import InsertGradientOf as InsertGradientOf
from mindgrad.ops import _constants as _constants
from mindgrad.ops import auto_generate as auto_generate
from mindgrad.ops import composite as composite
from mindgrad.ops import functional as function
from mindgrad.ops import functional as functional
from mindgrad.ops import operations as operations
from mindgrad.ops import signature as signature
from mindgrad.ops.activation import fast_gelu as fast_gelu
from mindgrad.ops.activation import gelu as gelu
from mindgrad.ops.activation import glu as glu
from mindgrad.ops.activation import log_softmax as log_softmax
from mindgrad.ops.activation import logsigmoid as logsigmoid
from mindgrad.ops.activation import mish as mish
from mindgrad.ops.activation import silu as silu
from mindgrad.ops.activation import softmax as softmax
from mindgrad.ops.activation import softmin as softmin
from mindgrad.ops.activation import softplus as softplus
from mindgrad.ops.activation import softsign as softsign
from mindgrad.ops.activation import tanhshrink as tanhshrink
from mindgrad.ops.affine import addbmm as addbmm
from mindgrad.ops.affine import addmm as addmm
from mindgrad.ops.affine import addmv as addmv
from mindgrad.ops.affine import addr as addr
from mindgrad.ops.affine import baddbmm as baddbmm
from mindgrad.ops.affine import bias_add as bias_add
from mindgrad.ops.affine import bidense as bidense
from mindgrad.ops.affine import dense as dense
from mindgrad.ops.alignments import ctc_loss as ctc_loss
from mindgrad.ops.arithmetic import addcdiv as addcdiv
from mindgrad.ops.arithmetic import addcmul as addcmul
from mindgrad.ops.arithmetic import addn as addn
from mindgrad.ops.arithmetic import div as div
from mindgrad.ops.arithmetic import div_no_nan as div_no_nan
from mindgrad.ops.arithmetic import float_power as float_power
from mindgrad.ops.arithmetic import lerp as lerp
from mindgrad.ops.arithmetic import mul_no_nan as mul_no_nan
from mindgrad.ops.arithmetic import positive as positive
from mindgrad.ops.arithmetic import pow as pow
from mindgrad.ops.arithmetic import subtract as subtract
from mindgrad.ops.arithmetic import truncate_div as truncate_div
from mindgrad.ops.assigning import inplace_add as inplace_add
from mindgrad.ops.assigning import inplace_index_add as inplace_index_add
from mindgrad.ops.assigning import inplace_sub as inplace_sub
from mindgrad.ops.assigning import inplace_update as inplace_update
from mindgrad.ops.attention import flash_attention_score as flash_attention_score
from mindgrad.ops.boxes import bounding_box_decode as bounding_box_decode
from mindgrad.ops.boxes import bounding_box_encode as bounding_box_encode
from mindgrad.ops.boxes import check_valid as check_valid
from mindgrad.ops.boxes import crop_and_resize as crop_and_resize
from mindgrad.ops.boxes import iou as iou
from mindgrad.ops.candidates import log_uniform_candidate_sampler as log_uniform_candidate_sampler
from mindgrad.ops.candidates import uniform_candidate_sampler as uniform_candidate_sampler
from mindgrad.ops.classification import cross_entropy as cross_entropy
from mindgrad.ops.classification import multi_margin_loss as multi_margin_loss
from mindgrad.ops.classification import multilabel_margin_loss as multilabel_margin_loss
from mindgrad.ops.classification import multilabel_soft_margin_loss as multilabel_soft_margin_loss
from mindgrad.ops.classification import nll_loss as nll_loss
from mindgrad.ops.clipping import clamp as clamp
from mindgrad.ops.clipping import clip_by_value as clip_by_value
from mindgrad.ops.clipping import fmax as fmax
from mindgrad.ops.clipping import fmin as fmin
from mindgrad.ops.collectives import ReduceOp as ReduceOp
from mindgrad.ops.comparison import allclose as allclose
from mindgrad.ops.comparison import approximate_equal as approximate_equal
from mindgrad.ops.comparison import isclose as isclose
from mindgrad.ops.comparison import logical_not as logical_not
from mindgrad.ops.complexes import angle as angle
from mindgrad.ops.complexes import complex as complex
from mindgrad.ops.complexes import conj as conj
from mindgrad.ops.complexes import imag as imag
from mindgrad.ops.complexes import real as real
from mindgrad.ops.composite import HyperMap as HyperMap
from mindgrad.ops.composite import Map as Map
from mindgrad.ops.composite import MultitypeFuncGraph as MultitypeFuncGraph
from mindgrad.ops.composite import add_flags as add_flags
from mindgrad.ops.composite import core as core
from mindgrad.ops.composite import zip_operation as zip_operation
from mindgrad.ops.contraction import batch_dot as batch_dot
from mindgrad.ops.contraction import bmm as bmm
from mindgrad.ops.contraction import dot as dot
from mindgrad.ops.contraction import einsum as einsum
from mindgrad.ops.contraction import inner as inner
from mindgrad.ops.contraction import matmul as matmul
from mindgrad.ops.contraction import mm as mm
from mindgrad.ops.contraction import mv as mv
from mindgrad.ops.contraction import outer as outer
from mindgrad.ops.contraction import tensordot as tensordot
from mindgrad.ops.contraction import vecdot as vecdot
from mindgrad.ops.conversion import cast as cast
from mindgrad.ops.convolution import conv1d as conv1d
from mindgrad.ops.convolution import conv2d as conv2d
from mindgrad.ops.convolution import conv3d as conv3d
from mindgrad.ops.convolution import conv_transpose1d as conv_transpose1d
from mindgrad.ops.convolution import conv_transpose2d as conv_transpose2d
from mindgrad.ops.convolution import conv_transpose3d as conv_transpose3d
from mindgrad.ops.creation import arange as arange
from mindgrad.ops.creation import eye as eye
from mindgrad.ops.creation import fill as fill
from mindgrad.ops.creation import full as full
from mindgrad.ops.creation import full_like as full_like
from mindgrad.ops.creation import linspace as linspace
from mindgrad.ops.creation import logspace as logspace
from mindgrad.ops.creation import ones as ones
from mindgrad.ops.creation import ones_like as ones_like
from mindgrad.ops.creation import range as range
from mindgrad.ops.creation import scalar_to_tensor as scalar_to_tensor
from mindgrad.ops.creation import tril_indices as tril_indices
from mindgrad.ops.creation import triu_indices as triu_indices
from mindgrad.ops.creation import tuple_to_array as tuple_to_array
from mindgrad.ops.creation import zeros as zeros
from mindgrad.ops.creation import zeros_like as zeros_like
from mindgrad.ops.cumulative import cummax as cummax
from mindgrad.ops.cumulative import cummin as cummin
from mindgrad.ops.cumulative import cumprod as cumprod
from mindgrad.ops.cumulative import cumsum as cumsum
from mindgrad.ops.diagonals import matrix_diag as matrix_diag
from mindgrad.ops.diagonals import matrix_diag_part as matrix_diag_part
from mindgrad.ops.diagonals import matrix_set_diag as matrix_set_diag
from mindgrad.ops.divisors import gcd as gcd
from mindgrad.ops.divisors import lcm as lcm
from mindgrad.ops.dropping import dropout as dropout
from mindgrad.ops.dropping import dropout1d as dropout1d
from mindgrad.ops.dropping import dropout2d as dropout2d
from mindgrad.ops.dropping import dropout3d as dropout3d
from mindgrad.ops.estimators import estimate_divergence as estimate_divergence
from mindgrad.ops.estimators import estimate_laplacian as estimate_laplacian
from mindgrad.ops.exponential import matrix_exp as matrix_exp
from mindgrad.ops.extremes import amax as amax
from mindgrad.ops.extremes import amin as amin
from mindgrad.ops.extremes import argmax as argmax
from mindgrad.ops.extremes import argmax_with_value as argmax_with_value
from mindgrad.ops.extremes import argmin as argmin
from mindgrad.ops.extremes import argmin_with_value as argmin_with_value
from mindgrad.ops.extremes import max as max
from mindgrad.ops.extremes import min as min
from mindgrad.ops.factorization import cholesky as cholesky
from mindgrad.ops.factorization import cholesky_inverse as cholesky_inverse
from mindgrad.ops.factorization import cholesky_solve as cholesky_solve
from mindgrad.ops.factorization import eig as eig
from mindgrad.ops.factorization import eigh as eigh
from mindgrad.ops.factorization import eigvals as eigvals
from mindgrad.ops.factorization import eigvalsh as eigvalsh
from mindgrad.ops.factorization import lstsq as lstsq
from mindgrad.ops.factorization import pinv as pinv
from mindgrad.ops.factorization import qr as qr
from mindgrad.ops.factorization import svd as svd
from mindgrad.ops.factorization import svdvals as svdvals
from mindgrad.ops.flow import assign as assign
from mindgrad.ops.flow import assign_add as assign_add
from mindgrad.ops.flow import assign_sub as assign_sub
from mindgrad.ops.flow import constexpr as constexpr
from mindgrad.ops.flow import depend as depend
from mindgrad.ops.flow import identity as identity
from mindgrad.ops.flow import stop_gradient as stop_gradient
from mindgrad.ops.fourier import fftfreq as fftfreq
from mindgrad.ops.fourier import fftshift as fftshift
from mindgrad.ops.fourier import ifftshift as ifftshift
from mindgrad.ops.fourier import rfftfreq as rfftfreq
from mindgrad.ops.functional import dtype as dtype
from mindgrad.ops.functional import dyn_shape as dyn_shape
from mindgrad.ops.grid_sampling import affine_grid as affine_grid
from mindgrad.ops.grid_sampling import grid_sample as grid_sample
from mindgrad.ops.histograms import histc as histc
from mindgrad.ops.im2col import fold as fold
from mindgrad.ops.im2col import unfold as unfold
from mindgrad.ops.in_place import stop_gradient_ as stop_gradient_
from mindgrad.ops.incomplete import betainc as betainc
from mindgrad.ops.incomplete import igamma as igamma
from mindgrad.ops.incomplete import igammac as igammac
from mindgrad.ops.indexing import embedding as embedding
from mindgrad.ops.indexing import gather as gather
from mindgrad.ops.indexing import gather_d as gather_d
from mindgrad.ops.indexing import gather_elements as gather_elements
from mindgrad.ops.indexing import gather_nd as gather_nd
from mindgrad.ops.indexing import index_select as index_select
from mindgrad.ops.indexing import masked_fill as masked_fill
from mindgrad.ops.indexing import masked_select as masked_select
from mindgrad.ops.indexing import select as select
from mindgrad.ops.indexing import take as take
from mindgrad.ops.indexing import where as where
from mindgrad.ops.introspection import is_complex as is_complex
from mindgrad.ops.introspection import is_floating_point as is_floating_point
from mindgrad.ops.introspection import is_nonzero as is_nonzero
from mindgrad.ops.introspection import is_sequence_value_unknown as is_sequence_value_unknown
from mindgrad.ops.introspection import is_tensor as is_tensor
from mindgrad.ops.introspection import mixed_precision_cast as mixed_precision_cast
from mindgrad.ops.introspection import numel as numel
from mindgrad.ops.introspection import partial as partial
from mindgrad.ops.introspection import print_ as print_
from mindgrad.ops.introspection import same_type_shape as same_type_shape
from mindgrad.ops.introspection import scalar_cast as scalar_cast
from mindgrad.ops.introspection import scalar_log as scalar_log
from mindgrad.ops.introspection import scalar_max as scalar_max
from mindgrad.ops.introspection import scalar_min as scalar_min
from mindgrad.ops.introspection import scalar_uadd as scalar_uadd
from mindgrad.ops.introspection import scalar_usub as scalar_usub
from mindgrad.ops.introspection import typeof as typeof
from mindgrad.ops.joining import cat as cat
from mindgrad.ops.joining import chunk as chunk
from mindgrad.ops.joining import column_stack as column_stack
from mindgrad.ops.joining import concat as concat
from mindgrad.ops.joining import concatenate as concatenate
from mindgrad.ops.joining import dsplit as dsplit
from mindgrad.ops.joining import dstack as dstack
from mindgrad.ops.joining import hsplit as hsplit
from mindgrad.ops.joining import hstack as hstack
from mindgrad.ops.joining import split as split
from mindgrad.ops.joining import stack as stack
from mindgrad.ops.joining import tensor_split as tensor_split
from mindgrad.ops.joining import unbind as unbind
from mindgrad.ops.joining import unstack as unstack
from mindgrad.ops.joining import vsplit as vsplit
from mindgrad.ops.joining import vstack as vstack
from mindgrad.ops.layout import atleast_1d as atleast_1d
from mindgrad.ops.layout import atleast_2d as atleast_2d
from mindgrad.ops.layout import atleast_3d as atleast_3d
from mindgrad.ops.layout import expand_dims as expand_dims
from mindgrad.ops.layout import flatten as flatten
from mindgrad.ops.layout import moveaxis as moveaxis
from mindgrad.ops.layout import movedim as movedim
from mindgrad.ops.layout import permute as permute
from mindgrad.ops.layout import rank as rank
from mindgrad.ops.layout import ravel as ravel
from mindgrad.ops.layout import reshape as reshape
from mindgrad.ops.layout import shape as shape
from mindgrad.ops.layout import size as size
from mindgrad.ops.layout import squeeze as squeeze
from mindgrad.ops.layout import swapaxes as swapaxes
from mindgrad.ops.layout import swapdims as swapdims
from mindgrad.ops.layout import transpose as transpose
from mindgrad.ops.layout import unsqueeze as unsqueeze
from mindgrad.ops.layout import view as view
from mindgrad.ops.likelihoods import binary_cross_entropy as binary_cross_entropy
from mindgrad.ops.likelihoods import binary_cross_entropy_with_logits as binary_cross_entropy_with_logits
from mindgrad.ops.likelihoods import gaussian_nll_loss as gaussian_nll_loss
from mindgrad.ops.likelihoods import kl_div as kl_div
from mindgrad.ops.linalg import det as det
from mindgrad.ops.linalg import inverse as inverse
from mindgrad.ops.linalg import kron as kron
from mindgrad.ops.linalg import logdet as logdet
from mindgrad.ops.linalg import matrix_inverse as matrix_inverse
from mindgrad.ops.linalg import matrix_power as matrix_power
from mindgrad.ops.linalg import matrix_solve as matrix_solve
from mindgrad.ops.linalg import slogdet as slogdet
from mindgrad.ops.linalg import solve as solve
from mindgrad.ops.linalg import solve_triangular as solve_triangular
from mindgrad.ops.losses import cosine_embedding_loss as cosine_embedding_loss
from mindgrad.ops.losses import cosine_similarity as cosine_similarity
from mindgrad.ops.losses import hinge_embedding_loss as hinge_embedding_loss
from mindgrad.ops.losses import huber_loss as huber_loss
from mindgrad.ops.losses import l1_loss as l1_loss
from mindgrad.ops.losses import margin_ranking_loss as margin_ranking_loss
from mindgrad.ops.losses import mse_loss as mse_loss
from mindgrad.ops.losses import smooth_l1_loss as smooth_l1_loss
from mindgrad.ops.losses import soft_margin_loss as soft_margin_loss
from mindgrad.ops.losses import triplet_margin_loss as triplet_margin_loss
from mindgrad.ops.lu_factors import lu_solve as lu_solve
from mindgrad.ops.lu_factors import lu_unpack as lu_unpack
from mindgrad.ops.math import deg2rad as deg2rad
from mindgrad.ops.math import inv as inv
from mindgrad.ops.math import logaddexp2 as logaddexp2
from mindgrad.ops.math import rad2deg as rad2deg
from mindgrad.ops.math import sinc as sinc
from mindgrad.ops.math import square as square
from mindgrad.ops.math import squared_difference as squared_difference
from mindgrad.ops.math import xdivy as xdivy
from mindgrad.ops.matrices import diag as diag
from mindgrad.ops.matrices import diag_embed as diag_embed
from mindgrad.ops.matrices import diagflat as diagflat
from mindgrad.ops.matrices import diagonal as diagonal
from mindgrad.ops.matrices import one_hot as one_hot
from mindgrad.ops.matrices import trace as trace
from mindgrad.ops.matrices import tril as tril
from mindgrad.ops.matrices import triu as triu
from mindgrad.ops.matrix_bands import adjoint as adjoint
from mindgrad.ops.matrix_bands import block_diag as block_diag
from mindgrad.ops.matrix_bands import cond as cond
from mindgrad.ops.matrix_bands import diagonal_scatter as diagonal_scatter
from mindgrad.ops.matrix_bands import fill_diagonal as fill_diagonal
from mindgrad.ops.matrix_bands import matrix_band_part as matrix_band_part
from mindgrad.ops.matrix_bands import multi_dot as multi_dot
from mindgrad.ops.matrix_bands import t as t
from mindgrad.ops.matrix_bands import view_as_real as view_as_real
from mindgrad.ops.movement import broadcast_to as broadcast_to
from mindgrad.ops.movement import expand as expand
from mindgrad.ops.movement import expand_as as expand_as
from mindgrad.ops.movement import flip as flip
from mindgrad.ops.movement import fliplr as fliplr
from mindgrad.ops.movement import flipud as flipud
from mindgrad.ops.movement import narrow as narrow
from mindgrad.ops.movement import roll as roll
from mindgrad.ops.movement import rot90 as rot90
from mindgrad.ops.normalization import batch_norm as batch_norm
from mindgrad.ops.normalization import group_norm as group_norm
from mindgrad.ops.normalization import layer_norm as layer_norm
from mindgrad.ops.normalization import lrn as lrn
from mindgrad.ops.normalization import rms_norm as rms_norm
from mindgrad.ops.operations.collective_ops import Barrier as Barrier
from mindgrad.ops.operations.collective_ops import Receive as Receive
from mindgrad.ops.operations.collective_ops import Send as Send
from mindgrad.ops.operations.custom_ops import Custom as Custom
from mindgrad.ops.operations.loop_ops import ForiLoop as ForiLoop
from mindgrad.ops.operations.loop_ops import Scan as Scan
from mindgrad.ops.operations.loop_ops import WhileLoop as WhileLoop
from mindgrad.ops.operations.primitive import Primitive as Primitive
from mindgrad.ops.operations.primitive import PrimitiveWithCheck as PrimitiveWithCheck
from mindgrad.ops.operations.primitive import PrimitiveWithInfer as PrimitiveWithInfer
from mindgrad.ops.operations.primitive import prim_attr_register as prim_attr_register
from mindgrad.ops.operations.uneven_collective_ops import BatchISendIRecv as BatchISendIRecv
from mindgrad.ops.operations.uneven_collective_ops import NeighborExchange as NeighborExchange
from mindgrad.ops.operations.uneven_collective_ops import NeighborExchangeV2 as NeighborExchangeV2
from mindgrad.ops.ordering import argsort as argsort
from mindgrad.ops.ordering import argwhere as argwhere
from mindgrad.ops.ordering import bincount as bincount
from mindgrad.ops.ordering import msort as msort
from mindgrad.ops.ordering import nonzero as nonzero
from mindgrad.ops.ordering import searchsorted as searchsorted
from mindgrad.ops.ordering import sort as sort
from mindgrad.ops.ordering import topk as topk
from mindgrad.ops.ordering import unique as unique
from mindgrad.ops.padding import pad as pad
from mindgrad.ops.quantiles import aminmax as aminmax
from mindgrad.ops.quantiles import logcumsumexp as logcumsumexp
from mindgrad.ops.quantiles import nanmean as nanmean
from mindgrad.ops.quantiles import nanmedian as nanmedian
from mindgrad.ops.quantiles import nanquantile as nanquantile
from mindgrad.ops.quantiles import nansum as nansum
from mindgrad.ops.quantiles import quantile as quantile
from mindgrad.ops.random import bernoulli as bernoulli
from mindgrad.ops.random import laplace as laplace
from mindgrad.ops.random import normal as normal
from mindgrad.ops.random import rand as rand
from mindgrad.ops.random import rand_like as rand_like
from mindgrad.ops.random import randint as randint
from mindgrad.ops.random import randint_like as randint_like
from mindgrad.ops.random import randn as randn
from mindgrad.ops.random import randn_like as randn_like
from mindgrad.ops.random import standard_laplace as standard_laplace
from mindgrad.ops.random import standard_normal as standard_normal
from mindgrad.ops.random import uniform as uniform
from mindgrad.ops.rectifiers import celu as celu
from mindgrad.ops.rectifiers import elu as elu
from mindgrad.ops.rectifiers import hardshrink as hardshrink
from mindgrad.ops.rectifiers import hardsigmoid as hardsigmoid
from mindgrad.ops.rectifiers import hardswish as hardswish
from mindgrad.ops.rectifiers import hardtanh as hardtanh
from mindgrad.ops.rectifiers import leaky_relu as leaky_relu
from mindgrad.ops.rectifiers import prelu as prelu
from mindgrad.ops.rectifiers import selu as selu
from mindgrad.ops.rectifiers import softshrink as softshrink
from mindgrad.ops.rectifiers import swiglu as swiglu
from mindgrad.ops.rectifiers import threshold as threshold
from mindgrad.ops.reduction import all as all
from mindgrad.ops.reduction import any as any
from mindgrad.ops.reduction import count_nonzero as count_nonzero
from mindgrad.ops.reduction import logsumexp as logsumexp
from mindgrad.ops.reduction import mean as mean
from mindgrad.ops.reduction import prod as prod
from mindgrad.ops.reduction import reduce_prod as reduce_prod
from mindgrad.ops.reduction import reduce_sum as reduce_sum
from mindgrad.ops.reduction import sum as sum
from mindgrad.ops.rejection_samplers import gamma as gamma
from mindgrad.ops.rejection_samplers import poisson as poisson
from mindgrad.ops.rejection_samplers import random_gamma as random_gamma
from mindgrad.ops.rejection_samplers import random_poisson as random_poisson
from mindgrad.ops.repeating import cartesian_prod as cartesian_prod
from mindgrad.ops.repeating import meshgrid as meshgrid
from mindgrad.ops.repeating import repeat_elements as repeat_elements
from mindgrad.ops.repeating import repeat_interleave as repeat_interleave
from mindgrad.ops.repeating import tile as tile
from mindgrad.ops.resizing import interpolate as interpolate
from mindgrad.ops.rounding import frac as frac
from mindgrad.ops.rounding import heaviside as heaviside
from mindgrad.ops.rounding import nan_to_num as nan_to_num
from mindgrad.ops.rounding import round as round
from mindgrad.ops.sampling import choice_with_mask as choice_with_mask
from mindgrad.ops.sampling import gumbel_softmax as gumbel_softmax
from mindgrad.ops.sampling import multinomial as multinomial
from mindgrad.ops.sampling import multinomial_with_replacement as multinomial_with_replacement
from mindgrad.ops.sampling import random_categorical as random_categorical
from mindgrad.ops.sampling import randperm as randperm
from mindgrad.ops.sampling import shuffle as shuffle
from mindgrad.ops.scattering import index_add as index_add
from mindgrad.ops.scattering import index_fill as index_fill
from mindgrad.ops.scattering import masked_scatter as masked_scatter
from mindgrad.ops.scattering import scatter as scatter
from mindgrad.ops.scattering import scatter_add as scatter_add
from mindgrad.ops.scattering import scatter_nd as scatter_nd
from mindgrad.ops.scattering import scatter_update as scatter_update
from mindgrad.ops.scattering import select_scatter as select_scatter
from mindgrad.ops.scattering import slice_scatter as slice_scatter
from mindgrad.ops.scattering import tensor_scatter_add as tensor_scatter_add
from mindgrad.ops.scattering import tensor_scatter_div as tensor_scatter_div
from mindgrad.ops.scattering import tensor_scatter_elements as tensor_scatter_elements
from mindgrad.ops.scattering import tensor_scatter_max as tensor_scatter_max
from mindgrad.ops.scattering import tensor_scatter_min as tensor_scatter_min
from mindgrad.ops.scattering import tensor_scatter_mul as tensor_scatter_mul
from mindgrad.ops.scattering import tensor_scatter_sub as tensor_scatter_sub
from mindgrad.ops.scattering import tensor_scatter_update as tensor_scatter_update
from mindgrad.ops.segments import unsorted_segment_max as unsorted_segment_max
from mindgrad.ops.segments import unsorted_segment_min as unsorted_segment_min
from mindgrad.ops.segments import unsorted_segment_prod as unsorted_segment_prod
from mindgrad.ops.segments import unsorted_segment_sum as unsorted_segment_sum
from mindgrad.ops.sequences import bucketize as bucketize
from mindgrad.ops.sequences import combinations as combinations
from mindgrad.ops.sequences import intopk as intopk
from mindgrad.ops.sequences import invert_permutation as invert_permutation
from mindgrad.ops.sequences import isin as isin
from mindgrad.ops.sequences import reverse as reverse
from mindgrad.ops.sequences import reverse_sequence as reverse_sequence
from mindgrad.ops.sequences import sequence_mask as sequence_mask
from mindgrad.ops.sequences import unique_consecutive as unique_consecutive
from mindgrad.ops.sequences import unique_with_pad as unique_with_pad
from mindgrad.ops.sequences import unravel_index as unravel_index
from mindgrad.ops.shuffling import batch_to_space_nd as batch_to_space_nd
from mindgrad.ops.shuffling import channel_shuffle as channel_shuffle
from mindgrad.ops.shuffling import depth_to_space as depth_to_space
from mindgrad.ops.shuffling import pixel_shuffle as pixel_shuffle
from mindgrad.ops.shuffling import pixel_unshuffle as pixel_unshuffle
from mindgrad.ops.shuffling import space_to_batch_nd as space_to_batch_nd
from mindgrad.ops.shuffling import space_to_depth as space_to_depth
from mindgrad.ops.signs import copysign as copysign
from mindgrad.ops.signs import isneginf as isneginf
from mindgrad.ops.signs import isposinf as isposinf
from mindgrad.ops.signs import isreal as isreal
from mindgrad.ops.signs import ldexp as ldexp
from mindgrad.ops.signs import polar as polar
from mindgrad.ops.signs import sgn as sgn
from mindgrad.ops.signs import signbit as signbit
from mindgrad.ops.slices import dynamic_slice as dynamic_slice
from mindgrad.ops.slices import dynamic_update_slice as dynamic_update_slice
from mindgrad.ops.slices import slice as slice
from mindgrad.ops.slices import strided_slice as strided_slice
from mindgrad.ops.sparse import coalesce as coalesce
from mindgrad.ops.sparse import coo_add as coo_add
from mindgrad.ops.sparse import coo_concat as coo_concat
from mindgrad.ops.sparse import csr_add as csr_add
from mindgrad.ops.sparse import csr_div as csr_div
from mindgrad.ops.sparse import csr_gather as csr_gather
from mindgrad.ops.sparse import csr_mm as csr_mm
from mindgrad.ops.sparse import csr_mul as csr_mul
from mindgrad.ops.sparse import csr_mv as csr_mv
from mindgrad.ops.sparse import csr_reduce_sum as csr_reduce_sum
from mindgrad.ops.sparse import csr_softmax as csr_softmax
from mindgrad.ops.sparse import csr_to_coo as csr_to_coo
from mindgrad.ops.sparse import csr_to_dense as csr_to_dense
from mindgrad.ops.sparse import dense_to_sparse_coo as dense_to_sparse_coo
from mindgrad.ops.sparse import dense_to_sparse_csr as dense_to_sparse_csr
from mindgrad.ops.sparse import row_tensor_add as row_tensor_add
from mindgrad.ops.sparse_values import sparse_segment_mean as sparse_segment_mean
from mindgrad.ops.special import bessel_i0 as bessel_i0
from mindgrad.ops.special import bessel_i1 as bessel_i1
from mindgrad.ops.special import bessel_k0 as bessel_k0
from mindgrad.ops.special import bessel_k1 as bessel_k1
from mindgrad.ops.special import i0 as i0
from mindgrad.ops.special import logit as logit
from mindgrad.ops.special import mvlgamma as mvlgamma
from mindgrad.ops.special import polygamma as polygamma
from mindgrad.ops.spectrograms import stft as stft
from mindgrad.ops.statistics import clip_by_global_norm as clip_by_global_norm
from mindgrad.ops.statistics import clip_by_norm as clip_by_norm
from mindgrad.ops.statistics import matrix_norm as matrix_norm
from mindgrad.ops.statistics import median as median
from mindgrad.ops.statistics import norm as norm
from mindgrad.ops.statistics import reduce_std as reduce_std
from mindgrad.ops.statistics import std as std
from mindgrad.ops.statistics import std_mean as std_mean
from mindgrad.ops.statistics import var as var
from mindgrad.ops.statistics import var_mean as var_mean
from mindgrad.ops.statistics import vector_norm as vector_norm
from mindgrad.ops.tensor_members import new_ones as new_ones
from mindgrad.ops.tensor_members import new_zeros as new_zeros
from mindgrad.ops.tuples import dict_getitem as dict_getitem
from mindgrad.ops.tuples import list_getitem as list_getitem
from mindgrad.ops.tuples import list_len as list_len
from mindgrad.ops.tuples import make_dict as make_dict
from mindgrad.ops.tuples import make_list as make_list
from mindgrad.ops.tuples import make_range as make_range
from mindgrad.ops.tuples import make_slice as make_slice
from mindgrad.ops.tuples import make_tuple as make_tuple
from mindgrad.ops.tuples import tensor_to_tuple as tensor_to_tuple
from mindgrad.ops.tuples import tuple_div as tuple_div
from mindgrad.ops.tuples import tuple_getitem as tuple_getitem
from mindgrad.ops.tuples import tuple_len as tuple_len
from mindgrad.ops.tuples import tuple_reversed as tuple_reversed
from mindgrad.ops.vectors import cdist as cdist
from mindgrad.ops.vectors import corrcoef as corrcoef
from mindgrad.ops.vectors import cov as cov
from mindgrad.ops.vectors import cross as cross
from mindgrad.ops.vectors import cumulative_trapezoid as cumulative_trapezoid
from mindgrad.ops.vectors import diff as diff
from mindgrad.ops.vectors import dist as dist
from mindgrad.ops.vectors import pdist as pdist
from mindgrad.ops.vectors import renorm as renorm
from mindgrad.ops.vectors import trapz as trapz
from mindgrad.ops.window_functions import bartlett_window as bartlett_window
from mindgrad.ops.window_functions import blackman_window as blackman_window
from mindgrad.ops.window_functions import hamming_window as hamming_window
from mindgrad.ops.window_functions import hann_window as hann_window
from mindgrad.ops.window_functions import kaiser_window as kaiser_window
from mindgrad.ops.window_functions import vander as vander

__all__: list[str]

class ACos(Operation): ...
class Abs(Operation): ...
class AccumulateNV2(Operation): ...
class Acosh(Operation): ...
class Adam(Operation): ...
class AdamWeightDecay(Operation): ...
class AdaptiveAvgPool2D(Operation): ...
class AdaptiveAvgPool3D(Operation): ...
class AdaptiveMaxPool2D(Operation): ...
class Add(Operation): ...
class AddN(Operation): ...
class Addcdiv(Operation): ...
class Addcmul(Operation): ...
class AffineGrid(Operation): ...
AiCPURegOp: type[Any]
class AllGather(Operation): ...
class AllGatherV(Operation): ...
class AllReduce(Operation): ...
class AlltoAll(Operation): ...
class AlltoAllV(Operation): ...
class AlltoAllVC(Operation): ...
class Angle(Operation): ...
class ApplyAdaMax(Operation): ...
class ApplyAdadelta(Operation): ...
class ApplyAdagrad(Operation): ...
class ApplyAdagradDA(Operation): ...
class ApplyAdagradV2(Operation): ...
class ApplyAdamWithAmsgrad(Operation): ...
class ApplyAdamWithAmsgradV2(Operation): ...
class ApplyAddSign(Operation): ...
class ApplyCenteredRMSProp(Operation): ...
class ApplyFtrl(Operation): ...
class ApplyGradientDescent(Operation): ...
class ApplyKerasMomentum(Operation): ...
class ApplyMomentum(Operation): ...
class ApplyPowerSign(Operation): ...
class ApplyProximalAdagrad(Operation): ...
class ApplyProximalGradientDescent(Operation): ...
class ApplyRMSProp(Operation): ...
class ApproximateEqual(Operation): ...
class ArgMaxWithValue(Operation): ...
class ArgMinWithValue(Operation): ...
class Argmax(Operation): ...
class Argmin(Operation): ...
class Asin(Operation): ...
class Asinh(Operation): ...
class Assign(Operation): ...
class AssignAdd(Operation): ...
class AssignSub(Operation): ...
class Atan(Operation): ...
class Atan2(Operation): ...
class Atanh(Operation): ...
class AvgPool(Operation): ...
class AvgPool3D(Operation): ...
class BCEWithLogitsLoss(Operation): ...
class BartlettWindow(Operation): ...
class BatchMatMul(Operation): ...
class BatchNorm(Operation): ...
class BatchToSpace(Operation): ...
class BatchToSpaceND(Operation): ...
class Bernoulli(Operation): ...
class BesselI0(Operation): ...
class BesselI0e(Operation): ...
class BesselI1(Operation): ...
class BesselI1e(Operation): ...
class BesselJ0(Operation): ...
class BesselJ1(Operation): ...
class BesselK0(Operation): ...
class BesselK0e(Operation): ...
class BesselK1(Operation): ...
class BesselK1e(Operation): ...
class BesselY0(Operation): ...
class BesselY1(Operation): ...
class Betainc(Operation): ...
class BiasAdd(Operation): ...
class BinaryCrossEntropy(Operation): ...
class Bincount(Operation): ...
class BitwiseAnd(Operation): ...
class BitwiseOr(Operation): ...
class BitwiseXor(Operation): ...
class BlackmanWindow(Operation): ...
class BoundingBoxDecode(Operation): ...
class BoundingBoxEncode(Operation): ...
class Broadcast(Operation): ...
class BroadcastTo(Operation): ...
class Bucketize(Operation): ...
class BufferAppend(Operation): ...
class BufferGetItem(Operation): ...
class BufferSample(Operation): ...
class CTCGreedyDecoder(Operation): ...
class CTCLoss(Operation): ...
class Cast(Operation): ...
class Cdist(Operation): ...
class CeLU(Operation): ...
class Ceil(Operation): ...
class CheckValid(Operation): ...
class Cholesky(Operation): ...
class CholeskyInverse(Operation): ...
class CholeskySolve(Operation): ...
class Col2Im(Operation): ...
class CollectiveGather(Operation): ...
class CollectiveScatter(Operation): ...
class Complex(Operation): ...
class ComplexAbs(Operation): ...
class Concat(Operation): ...
class Conj(Operation): ...
class ConjugateTranspose(Operation): ...
class Conv2D(Operation): ...
class Conv2DBackpropInput(Operation): ...
class Conv2DTranspose(Operation): ...
class Conv3D(Operation): ...
class Cos(Operation): ...
class Cosh(Operation): ...
class CountNonZero(Operation): ...
class CropAndResize(Operation): ...
class Cross(Operation): ...
class CumProd(Operation): ...
class CumSum(Operation): ...
class Cummax(Operation): ...
class Cummin(Operation): ...
class CumulativeLogsumexp(Operation): ...
CustomOpBuilder: type[Any]
CustomRegOp: type[Any]
class DType(Operation): ...
DataType: type[Any]
class Dense(Operation): ...
class Depend(Operation): ...
class DepthToSpace(Operation): ...
class Diag(Operation): ...
class DiagPart(Operation): ...
class Digamma(Operation): ...
class Div(Operation): ...
class DivNoNan(Operation): ...
class Dropout(Operation): ...
class Dropout2D(Operation): ...
class Dropout3D(Operation): ...
class DropoutDoMask(Operation): ...
class DropoutGenMask(Operation): ...
DynamicGRUV2: type[Any]
DynamicRNN: type[Any]
class DynamicShape(Operation): ...
class Eig(Operation): ...
class Eigh(Operation): ...
class Einsum(Operation): ...
class Elu(Operation): ...
class EmbeddingLookup(Operation): ...
class Eps(Operation): ...
class Equal(Operation): ...
class EqualCount(Operation): ...
class Erf(Operation): ...
class Erfc(Operation): ...
class Erfinv(Operation): ...
class EuclideanNorm(Operation): ...
class Exp(Operation): ...
class ExpandDims(Operation): ...
class Expm1(Operation): ...
class Eye(Operation): ...
class FFTWithSize(Operation): ...
class FastGeLU(Operation): ...
class FastGelu(Operation): ...
class Fill(Operation): ...
class FillDiagonal(Operation): ...
class Fills(Operation): ...
class FlashAttentionScore(Operation): ...
class Flatten(Operation): ...
class FloatStatus(Operation): ...
class Floor(Operation): ...
class FloorDiv(Operation): ...
class FloorMod(Operation): ...
class Fmax(Operation): ...
class Fmin(Operation): ...
class FusedAdaFactor(Operation): ...
class FusedSparseAdam(Operation): ...
class FusedSparseFtrl(Operation): ...
class FusedSparseLazyAdam(Operation): ...
class FusedSparseProximalAdagrad(Operation): ...
class FusedWeightScaleApplyMomentum(Operation): ...
class GLU(Operation): ...
class Gamma(Operation): ...
class Gather(Operation): ...
class GatherD(Operation): ...
class GatherNd(Operation): ...
class GatherV2(Operation): ...
class Gcd(Operation): ...
class GeLU(Operation): ...
class Gelu(Operation): ...
class Ger(Operation): ...
class Greater(Operation): ...
class GreaterEqual(Operation): ...
class GridSampler2D(Operation): ...
class GridSampler3D(Operation): ...
class HShrink(Operation): ...
class HSigmoid(Operation): ...
class HSwish(Operation): ...
class HammingWindow(Operation): ...
class Heaviside(Operation): ...
class HistogramSummary(Operation): ...
class Hypot(Operation): ...
class IOU(Operation): ...
class Identity(Operation): ...
class IdentityN(Operation): ...
class Igamma(Operation): ...
class Igammac(Operation): ...
class Im2Col(Operation): ...
class Imag(Operation): ...
class ImageSummary(Operation): ...
class InTopK(Operation): ...
class IndexAdd(Operation): ...
class IndexFill(Operation): ...
class InplaceAdd(Operation): ...
class InplaceSub(Operation): ...
class InplaceUpdate(Operation): ...
class InplaceUpdateV2(Operation): ...
class Inv(Operation): ...
class Invert(Operation): ...
class InvertPermutation(Operation): ...
class IsClose(Operation): ...
class IsFinite(Operation): ...
class IsInf(Operation): ...
class IsNan(Operation): ...
class KLDivLoss(Operation): ...
class L2Loss(Operation): ...
class L2Normalize(Operation): ...
class LARSUpdate(Operation): ...
class LRN(Operation): ...
LSTM: type[Any]
class LayerNorm(Operation): ...
class Lcm(Operation): ...
class LeftShift(Operation): ...
class Lerp(Operation): ...
class Less(Operation): ...
class LessEqual(Operation): ...
class Lgamma(Operation): ...
class LinSpace(Operation): ...
class Log(Operation): ...
class Log1p(Operation): ...
class LogMatrixDeterminant(Operation): ...
class LogSoftmax(Operation): ...
class LogSpace(Operation): ...
class LogUniformCandidateSampler(Operation): ...
class LogicalAnd(Operation): ...
class LogicalNot(Operation): ...
class LogicalOr(Operation): ...
class LogicalXor(Operation): ...
class Logit(Operation): ...
class LpNorm(Operation): ...
class Lstsq(Operation): ...
class LuSolve(Operation): ...
class LuUnpack(Operation): ...
class MaskedFill(Operation): ...
class MaskedSelect(Operation): ...
class MatMul(Operation): ...
class MatrixBandPart(Operation): ...
class MatrixDeterminant(Operation): ...
class MatrixDiagPartV3(Operation): ...
class MatrixDiagV3(Operation): ...
class MatrixExp(Operation): ...
class MatrixInverse(Operation): ...
class MatrixPower(Operation): ...
class MatrixSetDiagV3(Operation): ...
class MatrixSolve(Operation): ...
class MatrixTriangularSolve(Operation): ...
class MaxPool(Operation): ...
class MaxPool3D(Operation): ...
class MaxPoolWithArgmax(Operation): ...
class MaxPoolWithArgmaxV2(Operation): ...
class Maximum(Operation): ...
class Meshgrid(Operation): ...
class Minimum(Operation): ...
class MirrorPad(Operation): ...
class Mish(Operation): ...
class Mod(Operation): ...
class Mul(Operation): ...
class MulNoNan(Operation): ...
class MultiMarginLoss(Operation): ...
class Multinomial(Operation): ...
class Mvlgamma(Operation): ...
class NLLLoss(Operation): ...
class NMSWithMask(Operation): ...
class NPUAllocFloatStatus(Operation): ...
class NPUClearFloatStatus(Operation): ...
class NPUGetFloatStatus(Operation): ...
class NanToNum(Operation): ...
class Neg(Operation): ...
class NextAfter(Operation): ...
class NonZero(Operation): ...
class NotEqual(Operation): ...
class OneHot(Operation): ...
class Ones(Operation): ...
class OnesLike(Operation): ...
class PReLU(Operation): ...
class Pack(Operation): ...
class Pad(Operation): ...
class PadV3(Operation): ...
class Padding(Operation): ...
class ParallelConcat(Operation): ...
class Partial(Operation): ...
class Pdist(Operation): ...
class Poisson(Operation): ...
class Polar(Operation): ...
class Polygamma(Operation): ...
class Pow(Operation): ...
class Print(Operation): ...
Pull: type[Any]
Push: type[Any]
PyFunc: type[Any]
class Qr(Operation): ...
class Quantile(Operation): ...
class ROIAlign(Operation): ...
class RandomCategorical(Operation): ...
class RandomChoiceWithMask(Operation): ...
class RandomPoisson(Operation): ...
class RandomShuffle(Operation): ...
class Randperm(Operation): ...
class Range(Operation): ...
class Rank(Operation): ...
class ReLU(Operation): ...
class ReLU6(Operation): ...
class Real(Operation): ...
class RealDiv(Operation): ...
class Reciprocal(Operation): ...
class Reduce(Operation): ...
class ReduceAll(Operation): ...
class ReduceAny(Operation): ...
class ReduceMax(Operation): ...
class ReduceMean(Operation): ...
class ReduceMin(Operation): ...
class ReduceProd(Operation): ...
class ReduceScatter(Operation): ...
class ReduceScatterV(Operation): ...
class ReduceStd(Operation): ...
class ReduceSum(Operation): ...
class Renorm(Operation): ...
class Reshape(Operation): ...
class ResizeBilinear(Operation): ...
class ResizeBilinearV2(Operation): ...
class ResizeLinear1D(Operation): ...
class ResizeNearestNeighbor(Operation): ...
class ResizeNearestNeighborV2(Operation): ...
class ReverseSequence(Operation): ...
class ReverseV2(Operation): ...
class RightShift(Operation): ...
class Rint(Operation): ...
class RmsNorm(Operation): ...
class Roll(Operation): ...
class Round(Operation): ...
class Rsqrt(Operation): ...
class SGD(Operation): ...
class STFT(Operation): ...
class SameTypeShape(Operation): ...
class ScalarCast(Operation): ...
class ScalarSummary(Operation): ...
class ScalarToArray(Operation): ...
class ScalarToTensor(Operation): ...
class ScatterAdd(Operation): ...
class ScatterDiv(Operation): ...
class ScatterMax(Operation): ...
class ScatterMin(Operation): ...
class ScatterMul(Operation): ...
class ScatterNd(Operation): ...
class ScatterNdAdd(Operation): ...
class ScatterNdDiv(Operation): ...
class ScatterNdMax(Operation): ...
class ScatterNdMin(Operation): ...
class ScatterNdMul(Operation): ...
class ScatterNdSub(Operation): ...
class ScatterNdUpdate(Operation): ...
class ScatterNonAliasingAdd(Operation): ...
class ScatterSub(Operation): ...
class ScatterUpdate(Operation): ...
class SeLU(Operation): ...
class SearchSorted(Operation): ...
class Select(Operation): ...
class Shape(Operation): ...
class Sigmoid(Operation): ...
class SigmoidCrossEntropyWithLogits(Operation): ...
class Sign(Operation): ...
class Sin(Operation): ...
class Sinc(Operation): ...
class Sinh(Operation): ...
class Size(Operation): ...
class Slice(Operation): ...
class SmoothL1Loss(Operation): ...
class SoftMarginLoss(Operation): ...
class SoftShrink(Operation): ...
class Softmax(Operation): ...
class SoftmaxCrossEntropyWithLogits(Operation): ...
class Softplus(Operation): ...
class Softsign(Operation): ...
class Sort(Operation): ...
class SpaceToBatch(Operation): ...
class SpaceToBatchND(Operation): ...
class SpaceToDepth(Operation): ...
class SparseAddmm(Operation): ...
class SparseApplyAdadelta(Operation): ...
class SparseApplyAdagrad(Operation): ...
class SparseApplyAdagradV2(Operation): ...
class SparseApplyFtrl(Operation): ...
class SparseApplyFtrlV2(Operation): ...
class SparseApplyProximalAdagrad(Operation): ...
class SparseApplyRMSProp(Operation): ...
class SparseDenseCwiseAdd(Operation): ...
class SparseDenseCwiseDiv(Operation): ...
class SparseDenseCwiseMul(Operation): ...
class SparseGatherV2(Operation): ...
class SparseReorder(Operation): ...
class SparseReshape(Operation): ...
class SparseSegmentMean(Operation): ...
class SparseSegmentMeanWithNumSegments(Operation): ...
class SparseSegmentSqrtN(Operation): ...
class SparseSegmentSqrtNWithNumSegments(Operation): ...
class SparseSegmentSum(Operation): ...
class SparseSegmentSumWithNumSegments(Operation): ...
class SparseSoftmax(Operation): ...
class SparseSoftmaxCrossEntropyWithLogits(Operation): ...
class SparseTensorDenseAdd(Operation): ...
class SparseTensorDenseMatmul(Operation): ...
class SparseToDense(Operation): ...
class Split(Operation): ...
class SplitV(Operation): ...
class Sqrt(Operation): ...
class Square(Operation): ...
class SquareSumAll(Operation): ...
class SquaredDifference(Operation): ...
class Squeeze(Operation): ...
class Stack(Operation): ...
class StandardLaplace(Operation): ...
class StandardNormal(Operation): ...
class StopGradient(Operation): ...
class StridedSlice(Operation): ...
class Sub(Operation): ...
class Svd(Operation): ...
TBERegOp: type[Any]
class Tan(Operation): ...
class Tanh(Operation): ...
class TensorAdd(Operation): ...
class TensorScatterAdd(Operation): ...
class TensorScatterDiv(Operation): ...
class TensorScatterElements(Operation): ...
class TensorScatterMax(Operation): ...
class TensorScatterMin(Operation): ...
class TensorScatterMul(Operation): ...
class TensorScatterSub(Operation): ...
class TensorScatterUpdate(Operation): ...
class TensorShape(Operation): ...
class TensorSummary(Operation): ...
class TensorToTuple(Operation): ...
class Tile(Operation): ...
class TopK(Operation): ...
class Trace(Operation): ...
class Transpose(Operation): ...
class TransposeView(Operation): ...
class Tril(Operation): ...
class TrilIndices(Operation): ...
class TripletMarginLoss(Operation): ...
class Triu(Operation): ...
class TriuIndices(Operation): ...
class Trunc(Operation): ...
class TruncateDiv(Operation): ...
class TruncateMod(Operation): ...
class TupleToArray(Operation): ...
class UniformCandidateSampler(Operation): ...
class UniformInt(Operation): ...
class UniformReal(Operation): ...
class Unique(Operation): ...
class UniqueConsecutive(Operation): ...
class UniqueWithPad(Operation): ...
class Unpack(Operation): ...
class UnravelIndex(Operation): ...
class UnsortedSegmentMax(Operation): ...
class UnsortedSegmentMin(Operation): ...
class UnsortedSegmentProd(Operation): ...
class UnsortedSegmentSum(Operation): ...
class Unstack(Operation): ...
class Xdivy(Operation): ...
class Xlogy(Operation): ...
class Zeros(Operation): ...
class ZerosLike(Operation): ...
def abs(input: Any) -> Tensor:
    """Compute the absolute value |x|; its derivative is sign x, which is 0 at 0."""
def absolute(input: Any) -> Tensor:
    """Compute the absolute value |x|; its derivative is sign x, which is 0 at 0."""
def accumulate_n(x: Any) -> Tensor:
    """Add several tensors of the same shape and dtype."""
def acos(input: Any) -> Tensor:
    """Compute the inverse cosine in [0, π]; its derivative is −1 / √(1 − x²)."""
def acosh(input: Any) -> Tensor:
    """Compute the inverse hyperbolic cosine; its derivative is 1 / √(x² − 1)."""
def adaptive_avg_pool1d(input: Any, output_size: Any) -> Tensor:
    """Return the average of each of ``output_size`` windows over one axis."""
def adaptive_avg_pool2d(input: Any, output_size: Any) -> Tensor:
    """Return the average of each of ``output_size`` windows over two axes."""
def adaptive_avg_pool3d(input: Any, output_size: Any) -> Tensor:
    """Return the average of each of ``output_size`` windows over three axes."""
def adaptive_max_pool1d(input: Any, output_size: Any, return_indices: _bool = False) -> Any:
    """Return the largest element of each of ``output_size`` windows over one axis."""
def adaptive_max_pool2d(input: Any, output_size: Any, return_indices: _bool = False) -> Any:
    """Return the largest element of each of ``output_size`` windows over two axes."""
def adaptive_max_pool3d(input: Any, output_size: Any, return_indices: _bool = False) -> Any:
    """Return the largest element of each of ``output_size`` windows over three axes."""
def add(input: Any, other: Any) -> Tensor:
    """Add two tensors; the derivatives are 1 and 1."""
def arccos(input: Any) -> Tensor:
    """Compute the inverse cosine in [0, π]; its derivative is −1 / √(1 − x²)."""
def arccosh(input: Any) -> Tensor:
    """Compute the inverse hyperbolic cosine; its derivative is 1 / √(x² − 1)."""
def arcsin(input: Any) -> Tensor:
    """Compute the inverse sine in [−π/2, π/2]; its derivative is 1 / √(1 − x²)."""
def arcsinh(input: Any) -> Tensor:
    """Compute the inverse hyperbolic sine; its derivative is 1 / √(1 + x²)."""
def arctan(input: Any) -> Tensor:
    """Compute the inverse tangent in [−π/2, π/2]; its derivative is 1 / (1 + x²)."""
def arctan2(input: Any, other: Any) -> Tensor:
    """Compute the angle atan(x / y) of the point (``y``, ``x``) in (−π, π]."""
def arctanh(input: Any) -> Tensor:
    """Compute the inverse hyperbolic tangent; its derivative is 1 / (1 − x²)."""
def asin(input: Any) -> Tensor:
    """Compute the inverse sine in [−π/2, π/2]; its derivative is 1 / √(1 − x²)."""
def asinh(input: Any) -> Tensor:
    """Compute the inverse hyperbolic sine; its derivative is 1 / √(1 + x²)."""
def atan(input: Any) -> Tensor:
    """Compute the inverse tangent in [−π/2, π/2]; its derivative is 1 / (1 + x²)."""
def atan2(input: Any, other: Any) -> Tensor:
    """Compute the angle atan(x / y) of the point (``y``, ``x``) in (−π, π]."""
def atanh(input: Any) -> Tensor:
    """Compute the inverse hyperbolic tangent; its derivative is 1 / (1 − x²)."""
def avg_pool1d(input_x: Any, kernel_size: Any = 1, stride: Any = 1, padding: Any = 0, ceil_mode: _bool = False, count_include_pad: _bool = True, divisor_override: _int = 0) -> Tensor:
    """Average the elements of each window over one axis."""
def avg_pool2d(input_x: Any, kernel_size: Any = 1, stride: Any = 1, padding: Any = 0, ceil_mode: _bool = False, count_include_pad: _bool = True, divisor_override: _int = 0) -> Tensor:
    """Average the elements of each window over two axes."""
def avg_pool3d(input_x: Any, kernel_size: Any = 1, stride: Any = 1, padding: Any = 0, ceil_mode: _bool = False, count_include_pad: _bool = True, divisor_override: _int = 0) -> Tensor:
    """Average the elements of each window over three axes."""
def bessel_i0e(input: Any) -> Tensor:
    """Compute the scaled modified Bessel function exp(−|x|) I₀(x)."""
def bessel_i1e(input: Any) -> Tensor:
    """Compute the scaled modified Bessel function exp(−|x|) I₁(x)."""
def bessel_j0(input: Any) -> Tensor:
    """Compute the Bessel function of the first kind J₀(x)."""
def bessel_j1(input: Any) -> Tensor:
    """Compute the Bessel function of the first kind J₁(x)."""
def bessel_k0e(input: Any) -> Tensor:
    """Compute the scaled modified Bessel function exp(x) K₀(x)."""
def bessel_k1e(input: Any) -> Tensor:
    """Compute the scaled modified Bessel function exp(x) K₁(x)."""
def bessel_y0(input: Any) -> Tensor:
    """Compute the Bessel function of the second kind Y₀(x)."""
def bessel_y1(input: Any) -> Tensor:
    """Compute the Bessel function of the second kind Y₁(x)."""
def bitwise_and(input: Any, other: Any) -> Tensor:
    """Compute the bitwise AND of integers."""
def bitwise_left_shift(input: Any, other: Any) -> Tensor:
    """Shift bits to the left: x · 2ʸ without the bits that overflow."""
def bitwise_not(input: Any) -> Tensor:
    """Compute the bitwise NOT of integers: −1 − x for signed integers."""
def bitwise_or(input: Any, other: Any) -> Tensor:
    """Compute the bitwise OR of integers."""
def bitwise_right_shift(input: Any, other: Any) -> Tensor:
    """Shift bits to the right: x / 2ʸ rounded down."""
def bitwise_xor(input: Any, other: Any) -> Tensor:
    """Compute the bitwise XOR of integers."""
def bool_and(x: Any, y: Any) -> Any:
    """Check whether both operands are true."""
def bool_eq(x: Any, y: Any) -> _bool:
    """Check whether both operands are true or both are false."""
def bool_not(x: Any) -> _bool:
    """Check whether an operand is false."""
def bool_or(x: Any, y: Any) -> Any:
    """Check whether at least one operand is true."""
def cbrt(input: Any) -> Tensor:
    """Compute the real cube root; its derivative is 1 / (3 ∛x²)."""
def ceil(input: Any) -> Tensor:
    """Round up to an integer; the derivative is 0."""
def clip(input: Any, min: Any = None, max: Any = None) -> Any:
    """Clip values to an interval; another name of `clip_by_value`."""
def coo_abs(x: Any) -> Any:
    """Apply `abs` to the stored values of a COOTensor."""
def coo_acos(x: Any) -> Any:
    """Apply `acos` to the stored values of a COOTensor."""
def coo_acosh(x: Any) -> Any:
    """Apply `acosh` to the stored values of a COOTensor."""
def coo_asin(x: Any) -> Any:
    """Apply `asin` to the stored values of a COOTensor."""
def coo_asinh(x: Any) -> Any:
    """Apply `asinh` to the stored values of a COOTensor."""
def coo_atan(x: Any) -> Any:
    """Apply `atan` to the stored values of a COOTensor."""
def coo_atanh(x: Any) -> Any:
    """Apply `atanh` to the stored values of a COOTensor."""
def coo_ceil(x: Any) -> Any:
    """Apply `ceil` to the stored values of a COOTensor."""
def coo_cos(x: Any) -> Any:
    """Apply `cos` to the stored values of a COOTensor."""
def coo_cosh(x: Any) -> Any:
    """Apply `cosh` to the stored values of a COOTensor."""
def coo_exp(x: Any) -> Any:
    """Apply `exp` to the stored values of a COOTensor."""
def coo_expm1(x: Any) -> Any:
    """Apply `expm1` to the stored values of a COOTensor."""
def coo_floor(x: Any) -> Any:
    """Apply `floor` to the stored values of a COOTensor."""
def coo_inv(x: Any) -> Any:
    """Apply `inv` to the stored values of a COOTensor."""
def coo_isfinite(x: Any) -> Any:
    """Apply `isfinite` to the stored values of a COOTensor."""
def coo_isinf(x: Any) -> Any:
    """Apply `isinf` to the stored values of a COOTensor."""
def coo_isnan(x: Any) -> Any:
    """Apply `isnan` to the stored values of a COOTensor."""
def coo_log(x: Any) -> Any:
    """Apply `log` to the stored values of a COOTensor."""
def coo_log1p(x: Any) -> Any:
    """Apply `log1p` to the stored values of a COOTensor."""
def coo_neg(x: Any) -> Any:
    """Apply `neg` to the stored values of a COOTensor."""
def coo_relu(x: Any) -> Any:
    """Apply `relu` to the stored values of a COOTensor."""
def coo_relu6(x: Any) -> Any:
    """Apply `relu6` to the stored values of a COOTensor."""
def coo_round(x: Any) -> Any:
    """Apply `round` to the stored values of a COOTensor."""
def coo_sigmoid(x: Any) -> Any:
    """Apply `sigmoid` to the stored values of a COOTensor."""
def coo_sin(x: Any) -> Any:
    """Apply `sin` to the stored values of a COOTensor."""
def coo_sinh(x: Any) -> Any:
    """Apply `sinh` to the stored values of a COOTensor."""
def coo_softsign(x: Any) -> Any:
    """Apply `softsign` to the stored values of a COOTensor."""
def coo_sqrt(x: Any) -> Any:
    """Apply `sqrt` to the stored values of a COOTensor."""
def coo_square(x: Any) -> Any:
    """Apply `square` to the stored values of a COOTensor."""
def coo_tan(x: Any) -> Any:
    """Apply `tan` to the stored values of a COOTensor."""
def coo_tanh(x: Any) -> Any:
    """Apply `tanh` to the stored values of a COOTensor."""
def coo_tensor_get_dense_shape(x: Any) -> Any:
    """Return the shape of a COOTensor."""
def coo_tensor_get_indices(x: Any) -> Any:
    """Return the indices of a COOTensor."""
def coo_tensor_get_values(x: Any) -> Any:
    """Return the values of a COOTensor."""
def cos(input: Any) -> Tensor:
    """Compute the cosine of angles in radians; its derivative is −sin x."""
def cosh(input: Any) -> Tensor:
    """Compute the hyperbolic cosine; its derivative is sinh x."""
def csr_abs(x: Any) -> Any:
    """Apply `abs` to the stored values of a CSRTensor."""
def csr_acos(x: Any) -> Any:
    """Apply `acos` to the stored values of a CSRTensor."""
def csr_acosh(x: Any) -> Any:
    """Apply `acosh` to the stored values of a CSRTensor."""
def csr_asin(x: Any) -> Any:
    """Apply `asin` to the stored values of a CSRTensor."""
def csr_asinh(x: Any) -> Any:
    """Apply `asinh` to the stored values of a CSRTensor."""
def csr_atan(x: Any) -> Any:
    """Apply `atan` to the stored values of a CSRTensor."""
def csr_atanh(x: Any) -> Any:
    """Apply `atanh` to the stored values of a CSRTensor."""
def csr_ceil(x: Any) -> Any:
    """Apply `ceil` to the stored values of a CSRTensor."""
def csr_cos(x: Any) -> Any:
    """Apply `cos` to the stored values of a CSRTensor."""
def csr_cosh(x: Any) -> Any:
    """Apply `cosh` to the stored values of a CSRTensor."""
def csr_exp(x: Any) -> Any:
    """Apply `exp` to the stored values of a CSRTensor."""
def csr_expm1(x: Any) -> Any:
    """Apply `expm1` to the stored values of a CSRTensor."""
def csr_floor(x: Any) -> Any:
    """Apply `floor` to the stored values of a CSRTensor."""
def csr_inv(x: Any) -> Any:
    """Apply `inv` to the stored values of a CSRTensor."""
def csr_isfinite(x: Any) -> Any:
    """Apply `isfinite` to the stored values of a CSRTensor."""
def csr_isinf(x: Any) -> Any:
    """Apply `isinf` to the stored values of a CSRTensor."""
def csr_isnan(x: Any) -> Any:
    """Apply `isnan` to the stored values of a CSRTensor."""
def csr_log(x: Any) -> Any:
    """Apply `log` to the stored values of a CSRTensor."""
def csr_log1p(x: Any) -> Any:
    """Apply `log1p` to the stored values of a CSRTensor."""
def csr_neg(x: Any) -> Any:
    """Apply `neg` to the stored values of a CSRTensor."""
def csr_relu(x: Any) -> Any:
    """Apply `relu` to the stored values of a CSRTensor."""
def csr_relu6(x: Any) -> Any:
    """Apply `relu6` to the stored values of a CSRTensor."""
def csr_round(x: Any) -> Any:
    """Apply `round` to the stored values of a CSRTensor."""
def csr_sigmoid(x: Any) -> Any:
    """Apply `sigmoid` to the stored values of a CSRTensor."""
def csr_sin(x: Any) -> Any:
    """Apply `sin` to the stored values of a CSRTensor."""
def csr_sinh(x: Any) -> Any:
    """Apply `sinh` to the stored values of a CSRTensor."""
def csr_softsign(x: Any) -> Any:
    """Apply `softsign` to the stored values of a CSRTensor."""
def csr_sqrt(x: Any) -> Any:
    """Apply `sqrt` to the stored values of a CSRTensor."""
def csr_square(x: Any) -> Any:
    """Apply `square` to the stored values of a CSRTensor."""
def csr_tan(x: Any) -> Any:
    """Apply `tan` to the stored values of a CSRTensor."""
def csr_tanh(x: Any) -> Any:
    """Apply `tanh` to the stored values of a CSRTensor."""
def csr_tensor_get_dense_shape(x: Any) -> Any:
    """Return the shape of a CSRTensor."""
def csr_tensor_get_indices(x: Any) -> Any:
    """Return the column indices of a CSRTensor."""
def csr_tensor_get_indptr(x: Any) -> Any:
    """Return the row pointers of a CSRTensor."""
def csr_tensor_get_values(x: Any) -> Any:
    """Return the values of a CSRTensor."""
def digamma(input: Any) -> Tensor:
    """Compute the digamma function Γ'(x) / Γ(x), the derivative of ``lgamma``."""
def divide(input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """Divide ``input`` by ``other``, and optionally round the quotient."""
def eq(input: Any, other: Any) -> Tensor:
    """Check elementwise whether x = y; NaN is not equal to itself."""
def equal(input: Any, other: Any) -> Tensor:
    """Check elementwise whether x = y; NaN is not equal to itself."""
def erf(input: Any) -> Tensor:
    """Compute the error function 2/√π ∫₀ˣ exp(−t²) dt."""
def erfc(input: Any) -> Tensor:
    """Compute 1 − erf(x), accurate for large x."""
def erfinv(input: Any) -> Tensor:
    """Compute the inverse error function."""
def exp(input: Any) -> Tensor:
    """Compute the exponential eˣ; it is its own derivative."""
def exp2(input: Any) -> Tensor:
    """Compute 2ˣ; its derivative is 2ˣ log 2."""
def expm1(input: Any) -> Tensor:
    """Compute eˣ − 1, accurate for small x; its derivative is eˣ."""
def fft(input: Any, n: _int | None = None, dim: _int = -1, norm: Any = None) -> Tensor:
    """Compute the discrete Fourier transform over one axis."""
def fft2(input: Any, s: Any = None, dim: Any = ..., norm: Any = None) -> Tensor:
    """Compute the discrete Fourier transform over two axes."""
def fftn(input: Any, s: Any = None, dim: Any = None, norm: Any = None) -> Tensor:
    """Compute the discrete Fourier transform over several axes."""
def fills(input: Any = ..., fill_value: Any = ..., *, dtype: Any = None, x: Any = ..., value: Any = ...) -> Tensor:
    """Create a tensor filled with one value, in the shape of another tensor."""
def fix(input: Any) -> Tensor:
    """Round towards 0 to an integer; the derivative is 0."""
def floor(input: Any) -> Tensor:
    """Round down to an integer; the derivative is 0."""
def floor_div(input: Any, other: Any) -> Tensor:
    """Compute x / y rounded down, as Python's ``//``; the derivatives are 0."""
def floor_divide(input: Any, other: Any) -> Tensor:
    """Compute x / y rounded down, as Python's ``//``; the derivatives are 0."""
def floor_mod(input: Any, other: Any) -> Tensor:
    """Compute the remainder x − y · floor(x / y), with the sign of y."""
def fmod(input: Any, other: Any) -> Tensor:
    """Compute the remainder x − y · trunc(x / y), with the sign of x."""
def fractional_max_pool2d(input: Any, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: _bool = False, _random_samples: Any = None) -> Any:
    """Return the largest element of each of several windows at random positions."""
def fractional_max_pool3d(input: Any, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: _bool = False, _random_samples: Any = None) -> Any:
    """Return the largest element of each of several windows at random positions."""
def ge(input: Any, other: Any) -> Tensor:
    """Check elementwise whether x ≥ y; false if an element is NaN."""
def ger(input: Any, vec2: Any) -> Tensor:
    """Compute the outer product y_ij = a_i b_j of two vectors."""
def greater(input: Any, other: Any) -> Tensor:
    """Check elementwise whether x > y; false if an element is NaN."""
def greater_equal(input: Any, other: Any) -> Tensor:
    """Check elementwise whether x ≥ y; false if an element is NaN."""
def gt(input: Any, other: Any) -> Tensor:
    """Check elementwise whether x > y; false if an element is NaN."""
def hfft(input: Any, n: _int | None = None, dim: _int = -1, norm: Any = None) -> Tensor:
    """Compute the real spectrum of a Hermitian signal over one axis."""
def hfft2(input: Any, s: Any = None, dim: Any = ..., norm: Any = None) -> Tensor:
    """Compute the real spectrum of a Hermitian signal over two axes."""
def hfftn(input: Any, s: Any = None, dim: Any = None, norm: Any = None) -> Tensor:
    """Compute the real spectrum of a Hermitian signal over several axes."""
def hsigmoid(input: Any) -> Tensor:
    """Compute min(max(x + 3, 0), 6) / 6; the derivative is 0 at −3 and 3."""
def hswish(input: Any) -> Tensor:
    """Compute x · min(max(x + 3, 0), 6) / 6."""
def hypot(input: Any, other: Any) -> Tensor:
    """Compute r = √(x² + y²) without overflow."""
def ifft(input: Any, n: _int | None = None, dim: _int = -1, norm: Any = None) -> Tensor:
    """Compute the inverse Fourier transform over one axis."""
def ifft2(input: Any, s: Any = None, dim: Any = ..., norm: Any = None) -> Tensor:
    """Compute the inverse Fourier transform over two axes."""
def ifftn(input: Any, s: Any = None, dim: Any = None, norm: Any = None) -> Tensor:
    """Compute the inverse Fourier transform over several axes."""
def ihfft(input: Any, n: _int | None = None, dim: _int = -1, norm: Any = None) -> Tensor:
    """Compute half a Hermitian signal from its real spectrum over one axis."""
def ihfft2(input: Any, s: Any = None, dim: Any = ..., norm: Any = None) -> Tensor:
    """Compute half a Hermitian signal from its real spectrum over two axes."""
def ihfftn(input: Any, s: Any = None, dim: Any = None, norm: Any = None) -> Tensor:
    """Compute half a Hermitian signal from its real spectrum over several axes."""
def in_dict(key: Any, mapping: Any) -> _bool:
    """Check whether a dict has a key."""
def invert(input: Any) -> Tensor:
    """Compute the bitwise NOT of integers: −1 − x for signed integers."""
def irfft(input: Any, n: _int | None = None, dim: _int = -1, norm: Any = None) -> Tensor:
    """Compute a real signal from one half of its spectrum over one axis."""
def irfft2(input: Any, s: Any = None, dim: Any = ..., norm: Any = None) -> Tensor:
    """Compute a real signal from one half of its spectrum over two axes."""
def irfftn(input: Any, s: Any = None, dim: Any = None, norm: Any = None) -> Tensor:
    """Compute a real signal from one half of its spectrum over several axes."""
def is_(x: Any, y: Any) -> _bool:
    """Check whether both operands are the same object."""
def is_not(x: Any, y: Any) -> _bool:
    """Check whether the operands are different objects."""
def isfinite(input: Any) -> Tensor:
    """Check elementwise for finite numbers, neither infinite nor NaN."""
def isinf(input: Any) -> Tensor:
    """Check elementwise for inf and −inf."""
def isnan(input: Any) -> Tensor:
    """Check elementwise for NaN."""
def le(input: Any, other: Any) -> Tensor:
    """Check elementwise whether x ≤ y; false if an element is NaN."""
def less(input: Any, other: Any) -> Tensor:
    """Check elementwise whether x < y; false if an element is NaN."""
def less_equal(input: Any, other: Any) -> Tensor:
    """Check elementwise whether x ≤ y; false if an element is NaN."""
def lgamma(input: Any) -> Tensor:
    """Compute log |Γ(x)|, the logarithm of the gamma function."""
def log(input: Any) -> Tensor:
    """Compute the natural logarithm; its derivative is 1 / x."""
def log10(input: Any) -> Tensor:
    """Compute the logarithm to base 10; its derivative is 1 / (x log 10)."""
def log1p(input: Any) -> Tensor:
    """Compute log(1 + x), accurate for small x; its derivative is 1 / (1 + x)."""
def log2(input: Any) -> Tensor:
    """Compute the logarithm to base 2; its derivative is 1 / (x log 2)."""
def log_matrix_determinant(input: Any) -> tuple[Tensor, Tensor]:
    """Compute the sign and the logarithm of the absolute determinant."""
def logaddexp(input: Any, other: Any) -> Tensor:
    """Compute log(eˣ + eʸ) without overflow."""
def logical_and(x: Any = ..., y: Any = ..., *, input: Any = ..., other: Any = ...) -> Tensor:
    """Compute the logical AND; nonzero elements are true."""
def logical_or(x: Any = ..., y: Any = ..., *, input: Any = ..., other: Any = ...) -> Tensor:
    """Compute the logical OR; nonzero elements are true."""
def logical_xor(x: Any = ..., y: Any = ..., *, input: Any = ..., other: Any = ...) -> Tensor:
    """Compute the logical XOR; nonzero elements are true."""
def lp_pool1d(x: Any, norm_type: _float, kernel_size: Any, stride: Any = None, ceil_mode: _bool = False) -> Tensor:
    """Compute the power sum (Σ xᵖ)^(1/p) of each window, with p = ``norm_type``."""
def lp_pool2d(x: Any, norm_type: _float, kernel_size: Any, stride: Any = None, ceil_mode: _bool = False) -> Tensor:
    """Compute the power sum (Σ xᵖ)^(1/p) of each window, with p = ``norm_type``."""
def lt(input: Any, other: Any) -> Tensor:
    """Check elementwise whether x < y; false if an element is NaN."""
def matrix_determinant(input: Any) -> Tensor:
    """Compute the determinant; it is differentiable at singular matrices too."""
def max_pool1d(x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, return_indices: _bool = False, ceil_mode: _bool = False) -> Any:
    """Return the largest element of each window over one axis."""
def max_pool2d(x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, return_indices: _bool = False, ceil_mode: _bool = False) -> Any:
    """Return the largest element of each window over two axes."""
def max_pool3d(x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, return_indices: _bool = False, ceil_mode: _bool = False) -> Any:
    """Return the largest element of each window over three axes."""
def max_unpool1d(x: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None) -> Tensor:
    """Invert `max_pool1d`: put maxima at their indices, and 0 elsewhere."""
def max_unpool2d(x: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None) -> Tensor:
    """Invert `max_pool2d`: put maxima at their indices, and 0 elsewhere."""
def max_unpool3d(x: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None) -> Tensor:
    """Invert `max_pool3d`: put maxima at their indices, and 0 elsewhere."""
def maximum(input: Any, other: Any) -> Tensor:
    """Return the elementwise maximum, or NaN; equal elements share the derivative."""
def minimum(input: Any, other: Any) -> Tensor:
    """Return the elementwise minimum, or NaN; equal elements share the derivative."""
def mod(input: Any, other: Any) -> Tensor:
    """Compute the remainder x − y · trunc(x / y), with the sign of x."""
def mul(input: Any, other: Any) -> Tensor:
    """Multiply two tensors; the derivatives are y and x."""
def multiply(input: Any, other: Any) -> Tensor:
    """Multiply two tensors; the derivatives are y and x."""
def ne(input: Any, other: Any) -> Tensor:
    """Check elementwise whether x ≠ y."""
def neg(input: Any) -> Tensor:
    """Negate a tensor; the derivative is −1."""
def neg_tensor(input: Any) -> Tensor:
    """Negate a tensor; the derivative is −1."""
def negative(input: Any) -> Tensor:
    """Negate a tensor; the derivative is −1."""
def nextafter(input: Any, other: Any) -> Tensor:
    """Return the next floating-point number after x in the direction of y."""
def not_equal(input: Any, other: Any) -> Tensor:
    """Check elementwise whether x ≠ y."""
def not_in_dict(key: Any, mapping: Any) -> _bool:
    """Check whether a dict does not have a key."""
def pack(tensors: Any, axis: _int = 0) -> Tensor:
    """Join tensors of equal shape along a new axis."""
def pows(input: Any, exponent: Any) -> Tensor:
    """Raise ``input`` to a power; the derivatives are n xⁿ⁻¹ and xⁿ log x."""
def reciprocal(input: Any) -> Tensor:
    """Compute the reciprocal 1 / x; its derivative is −1 / x²."""
def reduce_all(input: Any, axis: Any = None, keep_dims: _bool = False) -> Tensor:
    """Check whether all elements along axes are true (nonzero)."""
def reduce_any(input: Any, axis: Any = None, keep_dims: _bool = False) -> Tensor:
    """Check whether any element along axes is true (nonzero)."""
def reduce_max(input: Any = ..., axis: Any = None, keepdims: _bool = False, *, initial: Any = None, where: Any = None, x: Any = ...) -> Tensor:
    """Return the largest element along axes; tied elements share the derivative."""
def reduce_mean(x: Any, axis: Any = None, keep_dims: _bool = False) -> Tensor:
    """Average the elements along axes."""
def reduce_min(input: Any = ..., axis: Any = None, keepdims: _bool = False, *, initial: Any = None, where: Any = None, x: Any = ...) -> Tensor:
    """Return the smallest element along axes; tied elements share the derivative."""
def relu(input: Any) -> Tensor:
    """Compute max(x, 0); its derivative at 0 is 0."""
def relu6(input: Any) -> Tensor:
    """Compute min(max(x, 0), 6); its derivative is 0 at 0 and 1 at 6."""
def remainder(input: Any, other: Any) -> Tensor:
    """Compute the remainder x − y · floor(x / y), with the sign of y."""
def rfft(input: Any, n: _int | None = None, dim: _int = -1, norm: Any = None) -> Tensor:
    """Compute the nonnegative half of a real signal's spectrum over one axis."""
def rfft2(input: Any, s: Any = None, dim: Any = ..., norm: Any = None) -> Tensor:
    """Compute the nonnegative half of a real signal's spectrum over two axes."""
def rfftn(input: Any, s: Any = None, dim: Any = None, norm: Any = None) -> Tensor:
    """Compute the nonnegative half of a real signal's spectrum over several axes."""
def rint(input: Any) -> Tensor:
    """Round to the nearest integer, ties to even; the derivative is 0."""
def row_stack(tensors: Any = ..., *, inputs: Any = ...) -> Tensor:
    """Join tensors along the first axis; vectors become rows."""
def row_tensor_get_dense_shape(x: Any) -> Any:
    """Return the shape of a RowTensor."""
def row_tensor_get_indices(x: Any) -> Any:
    """Return the row indices of a RowTensor."""
def row_tensor_get_values(x: Any) -> Any:
    """Return the values of a RowTensor."""
def rsqrt(input: Any) -> Tensor:
    """Compute 1 / √x; its derivative is −1 / (2 x √x)."""
def scalar_add(x: Any, y: Any) -> Any:
    """Compute ``x + y`` of two Python numbers, as in MindSpore 1.x."""
def scalar_div(x: Any, y: Any) -> Any:
    """Compute ``x / y`` of two Python numbers, as in MindSpore 1.x."""
def scalar_eq(x: Any, y: Any) -> Any:
    """Compute ``x == y`` of two Python numbers, as in MindSpore 1.x."""
def scalar_floordiv(x: Any, y: Any) -> Any:
    """Compute ``x // y`` of two Python numbers, as in MindSpore 1.x."""
def scalar_ge(x: Any, y: Any) -> Any:
    """Compute ``x >= y`` of two Python numbers, as in MindSpore 1.x."""
def scalar_gt(x: Any, y: Any) -> Any:
    """Compute ``x > y`` of two Python numbers, as in MindSpore 1.x."""
def scalar_le(x: Any, y: Any) -> Any:
    """Compute ``x <= y`` of two Python numbers, as in MindSpore 1.x."""
def scalar_lt(x: Any, y: Any) -> Any:
    """Compute ``x < y`` of two Python numbers, as in MindSpore 1.x."""
def scalar_mod(x: Any, y: Any) -> Any:
    """Compute ``x % y`` of two Python numbers, as in MindSpore 1.x."""
def scalar_mul(x: Any, y: Any) -> Any:
    """Compute ``x * y`` of two Python numbers, as in MindSpore 1.x."""
def scalar_ne(x: Any, y: Any) -> Any:
    """Compute ``x != y`` of two Python numbers, as in MindSpore 1.x."""
def scalar_pow(x: Any, y: Any) -> Any:
    """Compute ``x ** y`` of two Python numbers, as in MindSpore 1.x."""
def scalar_sub(x: Any, y: Any) -> Any:
    """Compute ``x - y`` of two Python numbers, as in MindSpore 1.x."""
def scalar_to_array(input_x: Any, dtype: Any = ...) -> Tensor:
    """Convert a Python number to a 0-D tensor."""
def scatter_div(input_x: Any, indices: Any, updates: Any, use_locking: _bool = False) -> Tensor:
    """Divide by updates at indices along the first axis."""
def scatter_max(input_x: Any, indices: Any, updates: Any, use_locking: _bool = False) -> Tensor:
    """Take the maximum with updates at indices along the first axis."""
def scatter_min(input_x: Any, indices: Any, updates: Any, use_locking: _bool = False) -> Tensor:
    """Take the minimum with updates at indices along the first axis."""
def scatter_mul(input_x: Any, indices: Any, updates: Any, use_locking: _bool = False) -> Tensor:
    """Multiply by updates at indices along the first axis."""
def scatter_nd_add(input_x: Any, indices: Any, updates: Any, use_locking: _bool = False) -> Tensor:
    """Add updates at multi-dimensional indices."""
def scatter_nd_div(input_x: Any, indices: Any, updates: Any, use_locking: _bool = False) -> Tensor:
    """Divide by updates at multi-dimensional indices."""
def scatter_nd_max(input_x: Any, indices: Any, updates: Any, use_locking: _bool = False) -> Tensor:
    """Take the maximum with updates at multi-dimensional indices."""
def scatter_nd_min(input_x: Any, indices: Any, updates: Any, use_locking: _bool = False) -> Tensor:
    """Take the minimum with updates at multi-dimensional indices."""
def scatter_nd_mul(input_x: Any, indices: Any, updates: Any, use_locking: _bool = False) -> Tensor:
    """Multiply by updates at multi-dimensional indices."""
def scatter_nd_sub(input_x: Any, indices: Any, updates: Any, use_locking: _bool = False) -> Tensor:
    """Subtract updates at multi-dimensional indices."""
def scatter_nd_update(input_x: Any, indices: Any, updates: Any, use_locking: _bool = False) -> Tensor:
    """Write updates at multi-dimensional indices."""
def scatter_sub(input_x: Any, indices: Any, updates: Any, use_locking: _bool = False) -> Tensor:
    """Subtract updates at indices along the first axis."""
def sigmoid(input: Any) -> Tensor:
    """Compute the sigmoid 1 / (1 + exp(−x)); its derivative is y (1 − y)."""
def sign(input: Any) -> Tensor:
    """Compute the sign: −1, 0, or 1; its derivative is 0."""
def sin(input: Any) -> Tensor:
    """Compute the sine of angles in radians; its derivative is cos x."""
def sinh(input: Any) -> Tensor:
    """Compute the hyperbolic sine; its derivative is cosh x."""
def soft_shrink(x: Any = ..., lambd: _float = 0.5, *, input: Any = ...) -> Tensor:
    """Compute x − λ above λ, x + λ below −λ, and 0 between them."""
def sqrt(input: Any) -> Tensor:
    """Compute the square root; its derivative is 1 / (2 √x), infinite at 0."""
def string_concat(x: str, y: str) -> str:
    """Concatenate two strings."""
def string_eq(x: str, y: str) -> _bool:
    """Check whether two strings are equal."""
def sub(input: Any, other: Any) -> Tensor:
    """Subtract two tensors; the derivatives are 1 and −1."""
def swish(x: Any = ..., *, input: Any = ...) -> Tensor:
    """Compute x · sigmoid(x), also called swish."""
def tan(input: Any) -> Tensor:
    """Compute the tangent of angles in radians; its derivative is 1 + tan² x."""
def tanh(input: Any) -> Tensor:
    """Compute the hyperbolic tangent; its derivative is 1 − tanh² x."""
def tensor_add(input: Any, other: Any) -> Tensor:
    """Add two tensors; the derivatives are 1 and 1."""
def tensor_div(input: Any = ..., other: Any = ..., *, dividend: Any = ..., divisor: Any = ...) -> Tensor:
    """Divide two tensors; the derivatives are 1 / y and −x / y²."""
def tensor_dot(x1: Any, x2: Any, axes: Any) -> Tensor:
    """Sum products over pairs of axes, one of each tensor."""
def tensor_floordiv(input: Any, other: Any) -> Tensor:
    """Compute x / y rounded down, as Python's ``//``; the derivatives are 0."""
def tensor_ge(input: Any, other: Any) -> Tensor:
    """Check elementwise whether x ≥ y; false if an element is NaN."""
def tensor_gt(input: Any, other: Any) -> Tensor:
    """Check elementwise whether x > y; false if an element is NaN."""
def tensor_le(input: Any, other: Any) -> Tensor:
    """Check elementwise whether x ≤ y; false if an element is NaN."""
def tensor_lt(input: Any, other: Any) -> Tensor:
    """Check elementwise whether x < y; false if an element is NaN."""
def tensor_mod(input: Any, other: Any) -> Tensor:
    """Compute the remainder x − y · floor(x / y), with the sign of y."""
def tensor_mul(input: Any, other: Any) -> Tensor:
    """Multiply two tensors; the derivatives are y and x."""
def tensor_pow(input: Any, exponent: Any) -> Tensor:
    """Raise ``input`` to a power; the derivatives are n xⁿ⁻¹ and xⁿ log x."""
def tensor_range(start: Any, end: Any, step: Any, maxlen: _int = 1000000) -> Tensor:
    """Return ``start``, ``start + step``, … up to ``end``, with a length limit."""
def tensor_sub(input: Any, other: Any) -> Tensor:
    """Subtract two tensors; the derivatives are 1 and −1."""
def top_k(input: Any = ..., k: _int = ..., dim: _int | None = None, largest: _bool = True, sorted: _bool = True, *, input_x: Any = ...) -> tuple[Tensor, Tensor]:
    """Return the ``k`` largest elements along an axis, and their indices."""
def trapezoid(y: Any, x: Any = None, *, dx: _float = 1.0, dim: _int = -1) -> Tensor:
    """Integrate along an axis by the trapezoidal rule."""
def true_divide(input: Any = ..., other: Any = ..., *, dividend: Any = ..., divisor: Any = ...) -> Tensor:
    """Divide two tensors; the derivatives are 1 / y and −x / y²."""
def trunc(input: Any) -> Tensor:
    """Round towards 0 to an integer; the derivative is 0."""
def truncate_mod(input: Any, other: Any) -> Tensor:
    """Compute the remainder x − y · trunc(x / y), with the sign of x."""
def tuple_equal(x: Any, y: Any) -> _bool:
    """Check whether two tuples are equal."""
def upsample(input: Any, size: Any = None, scale_factor: Any = None, mode: str = 'nearest', align_corners: _bool | None = None, recompute_scale_factor: _bool | None = None) -> Tensor:
    """Resize sequences, images, or volumes by interpolation."""
def xlogy(input: Any, other: Any) -> Tensor:
    """Compute x · log y, and 0 where x is 0; the derivatives are log y and x / y."""
