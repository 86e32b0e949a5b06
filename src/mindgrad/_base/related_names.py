"""Families of related public names, which fill "See Also" in docstrings.

Each line of ``FAMILIES`` is a family: a public module, a colon, and names in this module. A name in a
different module is written as a full path. An indented line continues the line above it. The docstring of
each name in a family refers to the other names of the family. A name can belong to several families.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any

__all__ = ["FAMILIES", "home_of", "references", "related"]

#: maximum number of related names in a docstring. The names after this name in its family are listed first,
#: followed by the names before it
_MOST = 6
_WIDTH = 104

FAMILIES = """
mindgrad.Tensor: add_ sub_ mul_ div_ pow_ neg_ abs_
mindgrad.Tensor: abs_ neg_ ceil_ floor_ round_ reciprocal_ square_ sqrt_
mindgrad.Tensor: exp_ log_ sin_ cos_ tanh_ sqrt_
mindgrad.Tensor: fill_ zero_ copy_ masked_fill_ clamp_
mindgrad.Tensor: index_add_ scatter_ scatter_add_ index_put
mindgrad.Tensor: astype to type_as float double half bfloat16 int long short byte bool
mindgrad.Tensor: clone copy contiguous
mindgrad.Tensor: is_contiguous stride storage_offset element_size nelement contiguous
mindgrad.Tensor: new_full new_tensor new_zeros new_ones
mindgrad.Tensor: reshape reshape_as resize view
mindgrad.Tensor: repeat tile sum_to_size
mindgrad.Tensor: index index_put choose itemset assign_value
mindgrad.Tensor: is_signed is_floating_point is_complex
mindgrad.Tensor: cumsum cumprod mindgrad.ops.cumsum
mindgrad.Tensor: set_const_arg assign_value
mindgrad.Tensor: flush_from_cache init_data contiguous
mindgrad: grad value_and_grad jvp vjp jacobian hessian hvp linearize jacfwd jacrev
mindgrad: hessian hvp vhp ggnvp second_order laplacian jacobian
mindgrad: laplacian biharmonic divergence directional_derivative second_order hessian
mindgrad: taylor jet derivative jvp
mindgrad: vmap jit recompute
mindgrad.ops: mean sum prod amax amin std var median logsumexp count_nonzero
mindgrad.ops: sum reduce_sum mean nansum cumsum
mindgrad.ops: prod reduce_prod cumprod sum
mindgrad.ops: all any count_nonzero logical_and logical_or
mindgrad.ops: max min argmax argmin amax amin argmax_with_value argmin_with_value aminmax topk
mindgrad.ops: std var std_mean var_mean reduce_std mean
mindgrad.ops: median nanmedian quantile nanquantile
mindgrad.ops: nansum nanmean nanmedian nanquantile nan_to_num
mindgrad.ops: norm vector_norm matrix_norm clip_by_norm clip_by_global_norm renorm
mindgrad.ops: cumsum cumprod cummax cummin logcumsumexp
mindgrad.ops: add sub mul div neg pow addcmul addcdiv lerp
mindgrad.ops: sub subtract add neg
mindgrad.ops: add addn accumulate_n
mindgrad.ops: div true_divide floor_div truncate_div div_no_nan floor_mod fmod reciprocal inv
mindgrad.ops: mul mul_no_nan xlogy div_no_nan xdivy
mindgrad.ops: pow float_power square sqrt exp
mindgrad.ops: positive neg abs
mindgrad.ops: addmm addmv addr baddbmm addbmm matmul
mindgrad.ops: matmul mm bmm mv dot inner outer tensordot batch_dot einsum vecdot multi_dot
mindgrad.ops: outer ger inner dot kron
mindgrad.ops: tensor_dot einsum batch_dot
mindgrad.ops: dense bidense bias_add matmul
mindgrad.ops: eq ne less le greater ge isclose
mindgrad.ops: isclose allclose approximate_equal eq
mindgrad.ops: equal not_equal less less_equal greater greater_equal isclose
mindgrad.ops: logical_and logical_or logical_xor logical_not all any
mindgrad.ops: bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift bitwise_right_shift
mindgrad.ops: maximum minimum fmax fmin clip_by_value
mindgrad.ops: clip_by_value clamp clip maximum minimum clip_by_norm
mindgrad.ops: floor ceil round trunc rint fix frac
mindgrad.ops: abs sign sgn signbit copysign heaviside
mindgrad.ops: isfinite isinf isnan isposinf isneginf isreal nan_to_num
mindgrad.ops: real imag conj complex angle polar view_as_real
mindgrad.ops: sin cos tan asin acos atan atan2 sinc
mindgrad.ops: sinh cosh tanh asinh acosh atanh
mindgrad.ops: deg2rad rad2deg sin cos
mindgrad.ops: exp expm1 exp2 log log1p log2 log10 logaddexp logaddexp2
mindgrad.ops: logaddexp logaddexp2 logsumexp logcumsumexp
mindgrad.ops: sqrt rsqrt cbrt square hypot reciprocal
mindgrad.ops: square squared_difference pow
mindgrad.ops: ldexp exp2 nextafter
mindgrad.ops: erf erfc erfinv lgamma digamma polygamma mvlgamma
mindgrad.ops: igamma igammac betainc lgamma
mindgrad.ops: bessel_j0 bessel_j1 bessel_y0 bessel_y1 bessel_i0 bessel_i1 bessel_k0 bessel_k1
mindgrad.ops: bessel_i0 bessel_i0e bessel_i1 bessel_i1e i0
mindgrad.ops: bessel_k0 bessel_k0e bessel_k1 bessel_k1e
mindgrad.ops: sigmoid logsigmoid logit softplus tanh
mindgrad.ops: softmax log_softmax softmin gumbel_softmax logsumexp
mindgrad.ops: relu relu6 leaky_relu prelu elu selu celu gelu silu
mindgrad.ops: gelu fast_gelu silu mish hardswish softplus
mindgrad.ops: hardsigmoid hardswish hardtanh hardshrink softshrink threshold
mindgrad.ops: glu swiglu silu sigmoid
mindgrad.ops: softsign tanhshrink tanh
mindgrad.ops: cross_entropy nll_loss binary_cross_entropy binary_cross_entropy_with_logits kl_div ctc_loss
mindgrad.ops: mse_loss l1_loss smooth_l1_loss huber_loss gaussian_nll_loss
mindgrad.ops: multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss soft_margin_loss
mindgrad.ops: margin_ranking_loss triplet_margin_loss hinge_embedding_loss cosine_embedding_loss
    cosine_similarity
mindgrad.ops: conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d unfold
mindgrad.ops: max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d
mindgrad.ops: adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d
    adaptive_max_pool2d adaptive_max_pool3d
mindgrad.ops: max_unpool1d max_unpool2d max_unpool3d max_pool1d max_pool2d max_pool3d
mindgrad.ops: fractional_max_pool2d fractional_max_pool3d lp_pool1d lp_pool2d max_pool2d
mindgrad.ops: batch_norm layer_norm group_norm rms_norm lrn
mindgrad.ops: dropout dropout1d dropout2d dropout3d
mindgrad.ops: interpolate grid_sample affine_grid crop_and_resize
mindgrad.ops: unfold fold conv2d pixel_shuffle
mindgrad.ops: pixel_shuffle pixel_unshuffle channel_shuffle space_to_depth depth_to_space space_to_batch_nd
    batch_to_space_nd
mindgrad.ops: pad padding concat interpolate
mindgrad.ops: iou check_valid bounding_box_encode bounding_box_decode crop_and_resize
mindgrad.ops: flash_attention_score softmax matmul
mindgrad.ops: fft ifft rfft irfft hfft ihfft fft2 fftn
mindgrad.ops: fft2 ifft2 rfft2 irfft2 hfft2 ihfft2 fft
mindgrad.ops: fftn ifftn rfftn irfftn hfftn ihfftn fft
mindgrad.ops: fftfreq rfftfreq fftshift ifftshift stft fft
mindgrad.ops: hann_window hamming_window blackman_window bartlett_window kaiser_window stft
mindgrad.ops: solve matrix_solve solve_triangular cholesky_solve lu_solve lstsq matrix_inverse inverse pinv
mindgrad.ops: cholesky qr svd eigh eig lu_unpack
mindgrad.ops: cholesky cholesky_solve cholesky_inverse
mindgrad.ops: eigh eigvalsh eig eigvals svd
mindgrad.ops: svd svdvals pinv cond matrix_norm
mindgrad.ops: det slogdet logdet log_matrix_determinant matrix_inverse
mindgrad.ops: matrix_power matrix_exp matrix_inverse multi_dot
mindgrad.ops: lu_unpack lu_solve cholesky
mindgrad.ops: kron outer block_diag
mindgrad.ops: diag diagonal diag_embed diagflat trace diagonal_scatter fill_diagonal
mindgrad.ops: matrix_diag matrix_diag_part matrix_set_diag diag_embed
mindgrad.ops: tril triu matrix_band_part tril_indices triu_indices
mindgrad.ops: t adjoint transpose swapaxes
mindgrad.ops: reshape view flatten ravel squeeze unsqueeze
mindgrad.ops: squeeze expand_dims unsqueeze atleast_1d atleast_2d atleast_3d
mindgrad.ops: transpose permute swapaxes swapdims moveaxis movedim t
mindgrad.ops: broadcast_to expand expand_as tile repeat_interleave
mindgrad.ops: tile repeat_interleave repeat_elements broadcast_to meshgrid cartesian_prod
mindgrad.ops: meshgrid cartesian_prod combinations linspace
mindgrad.ops: flip fliplr flipud rot90 roll reverse reverse_sequence
mindgrad.ops: concat cat concatenate stack hstack vstack dstack column_stack split
mindgrad.ops: split chunk tensor_split hsplit vsplit dsplit unstack unbind
mindgrad.ops: unstack unbind stack split
mindgrad.ops: shape size rank numel dyn_shape dtype is_sequence_value_unknown
mindgrad.ops: zeros ones full eye arange linspace zeros_like
mindgrad.ops: zeros_like ones_like full_like fills new_zeros new_ones zeros
mindgrad.ops: full fill fills full_like
mindgrad.ops: arange range linspace logspace
mindgrad.ops: scalar_to_tensor tuple_to_array tensor_to_tuple cast
mindgrad.ops: cast dtype mixed_precision_cast scalar_cast
mindgrad.ops: new_zeros new_ones zeros ones
mindgrad.ops: gather gather_elements gather_nd gather_d take index_select embedding
mindgrad.ops: where select masked_fill masked_select nonzero
mindgrad.ops: masked_select masked_fill masked_scatter where
mindgrad.ops: slice strided_slice narrow dynamic_slice dynamic_update_slice
mindgrad.ops: scatter tensor_scatter_elements tensor_scatter_update scatter_nd scatter_update index_add
    gather_elements
mindgrad.ops: tensor_scatter_update tensor_scatter_add tensor_scatter_sub tensor_scatter_mul
    tensor_scatter_div tensor_scatter_max tensor_scatter_min
mindgrad.ops: scatter_update scatter_add scatter_sub scatter_mul scatter_div scatter_max scatter_min
mindgrad.ops: scatter_nd_update scatter_nd_add scatter_nd_sub scatter_nd_mul scatter_nd_div scatter_nd_max
    scatter_nd_min
mindgrad.ops: index_add index_fill index_select scatter_add
mindgrad.ops: slice_scatter select_scatter diagonal_scatter masked_scatter
mindgrad.ops: inplace_update inplace_add inplace_sub inplace_index_add scatter_update
mindgrad.ops: unsorted_segment_sum unsorted_segment_max unsorted_segment_min unsorted_segment_prod
    sparse_segment_mean
mindgrad.ops: sort argsort topk msort searchsorted unique
mindgrad.ops: topk top_k sort intopk
mindgrad.ops: searchsorted bucketize sort histc
mindgrad.ops: unique unique_consecutive unique_with_pad isin bincount
mindgrad.ops: nonzero argwhere masked_select count_nonzero
mindgrad.ops: bincount histc unique
mindgrad.ops: sequence_mask reverse_sequence invert_permutation unravel_index
mindgrad.ops: gcd lcm floor_mod
mindgrad.ops: randn normal standard_normal rand uniform randint randperm
mindgrad.ops: rand_like randn_like randint_like bernoulli rand randn randint
mindgrad.ops: laplace standard_laplace normal gamma poisson
mindgrad.ops: gamma random_gamma poisson random_poisson normal
mindgrad.ops: multinomial multinomial_with_replacement random_categorical gumbel_softmax choice_with_mask
mindgrad.ops: shuffle randperm choice_with_mask
mindgrad.ops: Randperm randperm
mindgrad.ops: uniform_candidate_sampler log_uniform_candidate_sampler multinomial
mindgrad.ops: cross dot outer
mindgrad.ops: dist cdist pdist norm
mindgrad.ops: diff trapezoid cumulative_trapezoid trapz
mindgrad.ops: cov corrcoef var
mindgrad.ops: vander linspace
mindgrad.ops: stop_gradient stop_gradient_ custom_vjp mindgrad.grad
mindgrad.ops: assign assign_add assign_sub depend
mindgrad.ops: identity depend stop_gradient
mindgrad.ops: constexpr core add_flags
mindgrad.ops: estimate_laplacian estimate_divergence mindgrad.laplacian mindgrad.divergence
mindgrad: pure_callback mindgrad.ops.Custom mindgrad.ops.custom_vjp
mindgrad.ops: custom_vjp Custom stop_gradient HookBackward InsertGradientOf
mindgrad.ops: is_tensor is_floating_point is_complex is_nonzero typeof isreal
mindgrad.ops: same_type_shape dtype shape
mindgrad.ops: print_ typeof partial
mindgrad.ops: partial HyperMap Map
mindgrad.ops: HyperMap Map MultitypeFuncGraph core
mindgrad.ops: WhileLoop ForiLoop Scan
mindgrad.ops: zip_operation HyperMap make_tuple
mindgrad.ops: scalar_add scalar_sub scalar_mul scalar_div scalar_floordiv scalar_mod scalar_pow
mindgrad.ops: scalar_eq scalar_ne scalar_lt scalar_le scalar_gt scalar_ge
mindgrad.ops: scalar_uadd scalar_usub scalar_log scalar_max scalar_min scalar_cast
mindgrad.ops: make_range make_tuple make_list make_dict make_slice
mindgrad.ops: tuple_getitem list_getitem dict_getitem tuple_len list_len
mindgrad.ops: tuple_div tuple_equal tuple_reversed tuple_len
mindgrad.ops: bool_and bool_or bool_not bool_eq logical_and
mindgrad.ops: is_ is_not in_dict not_in_dict
mindgrad.ops: string_concat string_eq
mindgrad.ops: coo_add csr_add csr_mul csr_div
mindgrad.ops: csr_mv csr_mm csr_reduce_sum csr_gather csr_softmax
mindgrad.ops: csr_to_coo csr_to_dense dense_to_sparse_coo dense_to_sparse_csr
mindgrad.ops: coalesce coo_concat coo_add row_tensor_add
mindgrad.ops: coo_tensor_get_values coo_tensor_get_indices coo_tensor_get_dense_shape
mindgrad.ops: csr_tensor_get_values csr_tensor_get_indices csr_tensor_get_indptr csr_tensor_get_dense_shape
mindgrad.ops: row_tensor_get_values row_tensor_get_indices row_tensor_get_dense_shape
mindgrad.ops: AllReduce AllGather ReduceScatter Broadcast Reduce CollectiveGather CollectiveScatter AlltoAll
    Barrier ReduceOp
mindgrad.ops: Send Receive BatchISendIRecv NeighborExchange NeighborExchangeV2
mindgrad.ops: AlltoAllV AlltoAllVC AllGatherV ReduceScatterV
mindgrad.ops: Adam AdamWeightDecay ApplyAdaMax ApplyAdamWithAmsgrad FusedAdaFactor ApplyMomentum
    mindgrad.nn.Adam
mindgrad.ops: ApplyMomentum ApplyKerasMomentum SGD ApplyGradientDescent ApplyProximalGradientDescent
    LARSUpdate
mindgrad.ops: ApplyAdagrad ApplyAdagradDA ApplyAdadelta ApplyFtrl ApplyProximalAdagrad
mindgrad.ops: ApplyRMSProp ApplyCenteredRMSProp ApplyAddSign ApplyPowerSign ApplyMomentum
mindgrad.ops: CTCGreedyDecoder CTCLoss ctc_loss
mindgrad.ops: CumSum CumProd CumulativeLogsumexp cumsum cumprod logcumsumexp
mindgrad.ops: EmbeddingLookup embedding gather
mindgrad.ops: Eps FloatStatus NPUAllocFloatStatus NPUGetFloatStatus
mindgrad.ops: NMSWithMask ROIAlign iou
mindgrad.ops: Padding pad
mindgrad.ops: ScalarSummary TensorSummary ImageSummary HistogramSummary
mindgrad.ops: SoftmaxCrossEntropyWithLogits cross_entropy
mindgrad.ops: SparseToDense SparseTensorDenseMatmul SparseTensorDenseAdd SparseAddmm SparseReorder
    SparseReshape
mindgrad.ops: SparseSoftmax SparseDenseCwiseAdd SparseDenseCwiseMul SparseDenseCwiseDiv SparseSegmentSum
mindgrad: build_searched_strategy merge_sliced_parameter load_distributed_checkpoint transform_checkpoints
mindgrad: from_numpy from_dlpack frombuffer Tensor tensor
mindgrad.numpy: cumsum cumprod nancumsum mindgrad.ops.cumsum
mindgrad.ops: Barrier AllReduce Send
mindgrad.ops: DynamicRNN DynamicGRUV2 LSTM mindgrad.nn.LSTM mindgrad.nn.GRU
mindgrad.ops: CustomOpBuilder CustomRegOp DataType AiCPURegOp TBERegOp PyFunc Custom mindgrad.pure_callback
mindgrad.ops: Push Pull AllReduce
mindgrad.mint: zeros ones empty linspace
mindgrad.mint: clone mindgrad.Tensor.copy mindgrad.ops.stop_gradient
mindgrad.mint: vdot mindgrad.ops.vecdot mindgrad.ops.dot
mindgrad.mint.nn: ConvTranspose2d Conv2d mindgrad.nn.Conv2dTranspose
mindgrad.mint.nn.functional: normalize batch_norm softmax
mindgrad.numpy: array asarray asfarray copy full arange
mindgrad.numpy: append concatenate mindgrad.ops.concat
mindgrad.numpy: apply_along_axis apply_over_axes mindgrad.vmap
mindgrad.numpy: array_equal array_equiv isclose
mindgrad.numpy: array_str array
mindgrad.numpy: average mean nanmean nanvar nanstd
mindgrad.numpy: nanmax nanmin nansum nancumsum nanvar nanstd
mindgrad.numpy: broadcast_arrays broadcast_to
mindgrad.numpy: choose select where piecewise take_along_axis take
mindgrad.numpy: convolve correlate cov corrcoef mindgrad.ops.conv1d
mindgrad.numpy: diag_indices tril_indices triu_indices tril_indices_from triu_indices_from
mindgrad.numpy: digitize searchsorted histogram histogram_bin_edges
mindgrad.numpy: histogram histogram2d histogramdd histogram_bin_edges bincount
mindgrad.numpy: divmod floor_divide mod
mindgrad.numpy: ediff1d diff gradient unwrap interp
mindgrad.numpy: empty_like zeros_like ones_like full_like
mindgrad.numpy: float_power power abs absolute
mindgrad.numpy: geomspace logspace linspace arange
mindgrad.numpy: in1d isin intersect1d setdiff1d unique
mindgrad.numpy: indices ix_ meshgrid
mindgrad.numpy: isscalar result_type promote_types
mindgrad.numpy: polyadd polysub polymul polyval polyder polyint
mindgrad.numpy: ravel_multi_index unravel_index
mindgrad.numpy: rollaxis moveaxis transpose
mindgrad.numpy: sometrue mindgrad.ops.any mindgrad.ops.all
mindgrad.numpy: tri tril triu eye
mindgrad.ops: Primitive PrimitiveWithInfer PrimitiveWithCheck prim_attr_register Operation
mindgrad.ops: BufferAppend BufferGetItem BufferSample
mindgrad: Layout shard mindgrad.parallel.AutoParallel
mindgrad.ops: Conv2DBackpropInput Conv2DTranspose Conv2D
mindgrad.nn: Dense BiDense MatMul mindgrad.ops.matmul
mindgrad.nn: Conv1d Conv2d Conv3d Conv1dTranspose Conv2dTranspose Conv3dTranspose
mindgrad.nn: Conv2dBnAct DenseBnAct Conv2d Dense BatchNorm2d
mindgrad.nn: BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm LayerNorm GroupNorm
mindgrad.nn: LayerNorm GroupNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d BatchNorm2d
mindgrad.nn: RNN GRU LSTM RNNCell GRUCell LSTMCell
mindgrad.nn: MultiheadAttention Transformer TransformerEncoder TransformerDecoder
mindgrad.nn: TransformerEncoderLayer TransformerDecoderLayer MultiheadAttention TransformerEncoder Transformer
mindgrad.nn: Embedding EmbeddingLookup MultiFieldEmbeddingLookup OneHot
mindgrad.nn: Dropout Dropout1d Dropout2d Dropout3d mindgrad.ops.dropout
mindgrad.nn: PReLU RReLU ReLU LeakyReLU ELU GELU
mindgrad.nn: L1Regularizer ClipByNorm mindgrad.ops.clip_by_global_norm
mindgrad.nn: PSNR SSIM ImageGradients CentralCrop
mindgrad.nn: ResizeBilinear Upsample PixelShuffle ChannelShuffle Unfold
mindgrad.nn: SequentialCell CellList CellDict Cell
mindgrad.nn: Moments ReduceLogSumExp Range
mindgrad.nn: TimeDistributed SequentialCell
mindgrad.nn: Adam AdamWeightDecay SGD Momentum AdaMax Lamb
mindgrad.nn: SGD Momentum Adam ASGD Rprop Optimizer
mindgrad.nn: LazyAdam AdamOffload Adam AdamWeightDecay
mindgrad.nn: Adagrad Adadelta RMSProp FTRL ProximalAdagrad AdaFactor
mindgrad.nn: Optimizer Adam SGD ClosureOptimizer TrainOneStepCell
mindgrad.nn: ClosureOptimizer LBFGS NewtonCG Optimizer TrainOneStepCell
mindgrad.nn: LBFGS NewtonCG ClosureOptimizer Adam mindgrad.argmin mindgrad.scipy.optimize.minimize
mindgrad.nn: NewtonCG LBFGS ClosureOptimizer mindgrad.hvp mindgrad.argmin
mindgrad.nn: LevenbergMarquardt GaussNewton LBFGS ClosureOptimizer mindgrad.laplacian
mindgrad.nn: NaturalGradient GaussNewton ClosureOptimizer mindgrad.ggnvp
mindgrad.nn: GaussNewton LevenbergMarquardt LBFGS ClosureOptimizer mindgrad.ggnvp
mindgrad.nn: SOAP Muon Adam AdamWeightDecay LBFGS
mindgrad.nn: Muon SOAP AdamWeightDecay Momentum
mindgrad.nn: LARS Lamb Optimizer
mindgrad.nn: thor Lamb Adam mindgrad.hvp mindgrad.ggnvp
mindgrad.nn: AdaSumByGradWrapCell AdaSumByDeltaWeightWrapCell DistributedGradReducer Optimizer
mindgrad.nn: PoissonNLLLoss GaussianNLLLoss NLLLoss KLDivLoss
mindgrad.nn: LossBase MSELoss L1Loss CrossEntropyLoss
mindgrad.nn: DiceLoss MultiClassDiceLoss FocalLoss CrossEntropyLoss
mindgrad.nn: TripletMarginWithDistanceLoss TripletMarginLoss CosineEmbeddingLoss
mindgrad.nn: ExponentialDecayLR NaturalExpDecayLR InverseDecayLR CosineDecayLR PolynomialDecayLR WarmUpLR
mindgrad.nn: LearningRateSchedule ExponentialDecayLR CosineDecayLR WarmUpLR
mindgrad.nn: exponential_decay_lr natural_exp_decay_lr inverse_decay_lr cosine_decay_lr polynomial_decay_lr
mindgrad.nn: warmup_lr piecewise_constant_lr cosine_decay_lr exponential_decay_lr
mindgrad.nn: Accuracy Precision Recall F1 Fbeta ConfusionMatrix
mindgrad.nn: Top1CategoricalAccuracy Top5CategoricalAccuracy TopKCategoricalAccuracy Accuracy
mindgrad.nn: ConfusionMatrix ConfusionMatrixMetric ROC auc
mindgrad.nn: MAE MSE Loss
mindgrad.nn: HausdorffDistance MeanSurfaceDistance RootMeanSquareDistance Dice
mindgrad.nn: BleuScore Perplexity
mindgrad.nn: CosineSimilarity Dice OcclusionSensitivity
mindgrad.nn: Metric EvaluationBase rearrange_inputs get_metrics
mindgrad.nn: get_metric_fn get_metrics names
mindgrad.nn: WithLossCell WithEvalCell WithGradCell TrainOneStepCell TrainOneStepWithLossScaleCell
mindgrad.nn: DynamicLossScaleUpdateCell FixedLossScaleUpdateCell TrainOneStepWithLossScaleCell
mindgrad.nn: DistributedGradReducer TrainOneStepCell
mindgrad.nn: Jvp Vjp ForwardValueAndGrad mindgrad.jvp mindgrad.vjp mindgrad.value_and_grad
mindgrad.nn: SparseToDense SparseTensorDenseMatmul
mindgrad.nn: ParameterUpdate mindgrad.Parameter

"""


@lru_cache(maxsize=1)
def _families() -> tuple[dict[str, list[list[str]]], frozenset[str]]:
    """Parse ``FAMILIES``.

    Returns:
        A dict that maps each name, as a full path, to its families; and the set of public modules.
    """
    families: dict[str, list[list[str]]] = {}
    modules = set()
    for line in FAMILIES.replace("\n    ", " ").split("\n"):
        module, _, words = line.partition(": ")
        if words:
            modules.add(module)
            names = [word if word.startswith("mindgrad.") else f"{module}.{word}" for word in words.split()]
            for name in names:
                families.setdefault(name, []).append(names)
    return families, frozenset(modules)


def home_of(item: Any) -> str:
    """Return the path of a public object, as listed in ``FAMILIES``.

    The path consists of the innermost module in ``FAMILIES`` that contains the object, and the name of the
    object.
    """
    module = item.__module__
    modules = _families()[1]
    while module not in modules and "." in module:
        module = module.rpartition(".")[0]
    return f"{module}.{item.__name__}"


def related(path: str) -> list[str]:
    """List the paths of the names that are related to ``path``.

    >>> from mindgrad._base.related_names import related
    >>> related("mindgrad.ops.mean")[0]
    'mindgrad.ops.sum'
    """
    names_in_order: list[str] = []
    families = _families()[0]
    if path not in families:  # only the package exports this name, such as ``mindgrad.pure_callback``
        path = f"mindgrad.{path.rpartition('.')[2]}"
    for names in families.get(path, ()):
        position = names.index(path)
        names_in_order += [*names[position + 1 :], *names[:position]]
    return list(dict.fromkeys(names_in_order))[:_MOST]


def references(paths: Iterable[str], newline: str) -> str:
    """Format references to the public names ``paths``, separated by ``newline``."""
    line, width, lines = "", 0, []
    for path in dict.fromkeys(paths):
        reference = _reference(path)
        if width and width + len(reference) > _WIDTH:
            lines.append(line)
            line, width = "", 0
        line += f", {reference}" if width else reference
        width += len(reference) + 2
    return f",{newline}".join([*lines, line])


@cache  # a name can be in several families, so store its entry
def _reference(path: str) -> str:
    owner, _, name = path.rpartition(".")
    role = "meth" if owner.endswith(".Tensor") else "class" if name[:1].isupper() else "func"
    return f":{role}:`{path}`"
