"""Docstrings of operator forms, derived from the docstring of the function.

The class ``ops.ReLU`` is a form of the function ``ops.relu``. A form has its own argument names and defaults.
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from mindgrad._base.related_names import references, related
from mindgrad._base.shared_docs import argument_line, divided, entries_of, renamed
from mindgrad.ops.registry import names_of

__all__ = ["MEANINGS", "FunctionDoc", "path_of"]

_IGNORED = "accepted for compatibility and ignored"

#: argument name -> (type, description), for arguments that only an operator class such as ``ops.Adam`` has,
#: and not its function
MEANINGS: dict[str, tuple[str, str]] = {
    "Seed0": ("int", "seed of this operator; 0 uses the global seed"),
    "Seed1": ("int", "second seed of this operator"),
    "a": ("Tensor or array_like", "input tensor or array"),
    "accum": ("Parameter", "accumulator of the gradient or of its square"),
    "accum_update": ("Parameter", "accumulator of the squared updates"),
    "accumulation": ("Parameter", "accumulated gradient (momentum buffer)"),
    "adjoint": ("bool", "whether to use the conjugate transpose of the matrix"),
    "align_corners": (
        "bool",
        "whether to align the centers of the corner pixels of the input and the output",
    ),
    "argmax_type": ("mindgrad.dtype", "dtype of the returned indices"),
    "array": ("Tensor", "1-D tensor of nonnegative integers to count"),
    "axis": ("int or tuple of int", "axis or axes along which to apply the operator"),
    "batch_dims": ("int", "number of leading axes that are batch axes"),
    "batch_size": ("int", "number of rows to draw from the buffer"),
    "begin_norm_axis": (
        "int",
        "first normalized axis; mean and variance are computed over it and all later axes",
    ),
    "begin_params_axis": (
        "int",
        "axis b of the input ``x`` such that scale and shift have the shape ``x.shape[b:]``",
    ),
    "beta": ("Tensor", "shift of the normalized input"),
    "beta1": ("Tensor or float", "decay rate β₁ of the moving average of the gradient"),
    "beta1_power": ("Tensor or float", "β₁ to the power of the step number"),
    "beta2": ("Tensor or float", "decay rate β₂ of the moving average of the squared gradient"),
    "beta2_power": ("Tensor or float", "β₂ to the power of the step number"),
    "block_shape": ("int or tuple of int", "size of a block along each spatial axis"),
    "block_size": ("int", "number of elements per block; the counts of a call are numbers of blocks"),
    "buffer_dtype": ("tuple of mindgrad.dtype", "dtype of each tensor of the buffer"),
    "buffer_shape": ("tuple of tuple of int", "shape of one row, for each tensor of the buffer"),
    "capacity": ("int", "maximum number of rows in the buffer"),
    "check_index_bound": ("bool", _IGNORED),
    "clip_threshold": ("float", "upper bound of the root mean square of the update"),
    "compute_eigenvectors": ("bool", "whether to compute the eigenvectors"),
    "compute_mode": ("str", _IGNORED),
    "compute_v": ("bool", "whether to compute the eigenvectors"),
    "constant_value": ("int or float", "value of the added elements"),
    "coordinate_transformation_mode": (
        "str",
        'how output coordinates map to input coordinates: ``"align_corners"`` or ``"half_pixel"``',
    ),
    "count": ("int", "number of elements to choose"),
    "ctc_merge_repeated": ("bool", "whether to merge repeated outputs; only ``True`` is supported"),
    "dampening": ("float", "dampening d: the gradient is added to the momentum buffer with the factor 1 − d"),
    "data_format": ("str", 'layout of the axes, such as ``"NCHW"``'),
    "decay": ("Tensor or float", "weight decay, or decay rate of the moving average of the squared gradient"),
    "descending": ("bool", "whether to sort from the largest to the smallest element"),
    "dest_rank": ("int", "rank of the process that receives the result"),
    "device": ("str", _IGNORED),
    "diagonal": (
        "int",
        "index of the diagonal: 0 for the main diagonal, positive above it, negative below it",
    ),
    "dilation": ("int or tuple of int", "spacing between the elements of the kernel"),
    "dilations": ("int or tuple of int", "spacing between the elements of a window"),
    "dim": ("int or tuple of int", "axis or axes along which to apply the operator"),
    "dims": ("int or tuple of int", "axis or axes along which to apply the operator"),
    "dout": ("Tensor", "gradient with respect to the output of the convolution"),
    "dtype": ("mindgrad.dtype", "dtype of the result; ``None`` means the default dtype of the operator"),
    "enable_first_moment": ("bool", "whether to use the moving average of the gradient"),
    "enable_scale_parameter": (
        "bool",
        "whether to scale the learning rate by the root mean square of the variable",
    ),
    "enable_weight_decay": ("bool", "whether to apply weight decay"),
    "eps": ("float", "small constant that keeps the input away from singular points"),
    "epsilon": ("float", "small constant that prevents a division by zero"),
    "equation": ("str", "subscripts of the operands and the result, in Einstein notation"),
    "exclusive": ("bool", "whether the result at an index excludes the element at this index"),
    "exp_avg": ("Parameter", "moving average of the gradient"),
    "exp_avg_sq": ("Parameter", "moving average of the squared gradient"),
    "exp_avg_sq_col": ("Parameter", "moving average of the squared gradient, averaged over axis −2"),
    "exp_avg_sq_row": ("Parameter", "moving average of the squared gradient, averaged over axis −1"),
    "full_matrices": ("bool", "whether to return square orthogonal factors instead of reduced ones"),
    "gamma": ("Tensor", "scale of the normalized input"),
    "global_step": ("Tensor or int", "index of the optimizer step, counted from 1"),
    "grad": ("Tensor", "gradient of the loss with respect to the variable"),
    "gradient": ("Tensor", "gradient of the loss with respect to the variable"),
    "gradient_accumulator": ("Parameter", "sum of the gradients of all steps"),
    "gradient_scale": ("float", "scale factor of the gradient"),
    "gradient_squared_accumulator": ("Parameter", "sum of the squared gradients of all steps"),
    "groundtruth_box": ("Tensor", "ground-truth boxes, of shape (n, 4)"),
    "group": ("int", "number of groups of channels; each group has its own kernels"),
    "half_pixel_centers": ("bool", "whether pixel i has its center at the coordinate i + 0.5 instead of i"),
    "hyperpara": ("float", "trust coefficient of LARS"),
    "ignore_index": ("int", "class index whose samples do not contribute to the loss"),
    "ignore_longer_outputs_than_inputs": (
        "bool",
        "whether samples with more labels than time steps have the loss 0",
    ),
    "ignore_nan": ("bool", "whether to ignore NaN elements of the input"),
    "image": ("Tensor", "images, of shape (n, channels, height, width)"),
    "indexing": ("str", '``"xy"`` for Cartesian or ``"ij"`` for matrix order of the axes'),
    "indices": ("Tensor", "integer indices of the rows of the variable to update"),
    "inplace": ("bool", "whether to write the result into the input"),
    "input": ("Tensor", "input tensor"),
    "input_size": ("tuple of int", "shape of the input of the convolution"),
    "input_x": ("Tensor", "input tensor"),
    "input_y": ("Tensor", "second input tensor"),
    "inputs": ("tuple of Tensor", "input tensors"),
    "interpolation_mode": ("str", 'interpolation method: ``"bilinear"``, ``"nearest"``, or ``"bicubic"``'),
    "inverse": ("bool", "whether to compute the inverse transform"),
    "is_grad": ("bool", "whether to return the derivative with respect to the logits instead of the loss"),
    "is_training": ("bool", "whether to use the statistics of the batch instead of the running statistics"),
    "keep_dims": ("bool", "whether to keep the reduced axes with size 1"),
    "keep_prob": ("float", "probability that an element is not set to 0"),
    "kernel_size": ("int or tuple of int", "size of the convolution kernel along each spatial axis"),
    "ksizes": ("int or tuple of int", "size of the sliding window along each spatial axis"),
    "l1": ("Tensor or float", "coefficient of L1 regularization"),
    "l2": ("Tensor or float", "coefficient of L2 regularization"),
    "l2_shrinkage": ("float", "coefficient of L2 shrinkage regularization"),
    "labels": ("Tensor", "integer class indices, of shape (n,)"),
    "labels_indices": (
        "Tensor",
        "for each label, the index of its sequence and its position in it; shape (k, 2)",
    ),
    "labels_values": ("Tensor", "class index of each label; shape (k,)"),
    "learning_rate": ("Tensor or float", "learning rate of the optimizer step"),
    "linear": ("Parameter", "linear term of FTRL, updated in place"),
    "logbase": ("Tensor or float", "natural logarithm of the base of the exponential factor"),
    "logits": ("Tensor", "log-probabilities, of shape (n, classes)"),
    "loss_scale": ("Tensor or float", "loss scale that the gradient contains as a factor"),
    "lower": ("bool", "whether to use the lower triangle instead of the upper one"),
    "lr": ("Tensor or float", "learning rate of the optimizer step"),
    "lr_power": ("Tensor or float", "exponent (at most 0) of the accumulator in the learning rate"),
    "m": ("Parameter", "moving average of the gradient"),
    "mask": ("Tensor", "dropout mask that ``DropoutGenMask`` returned"),
    "max_length": ("int", "number of elements of the result"),
    "maxlen": ("int", "number of elements along the new axis of the result"),
    "mean": ("Tensor", "mean of each channel"),
    "mean_gradient": ("Parameter", "moving average of the gradient"),
    "mean_square": ("Parameter", "moving average of the squared gradient"),
    "means": ("Tensor or tuple of float", "mean of each of the four differences between box and anchor"),
    "mode": ("int", "mode of the operator; only 1, a convolution, is supported"),
    "mom": ("Parameter", "momentum buffer, updated in place"),
    "moment": ("Parameter", "momentum buffer, updated in place"),
    "momentum": ("Tensor or float", "momentum coefficient"),
    "ms": ("Parameter", "moving average of the squared gradient"),
    "n": ("int", "number of integers to permute"),
    "nesterov": ("bool", "whether to use Nesterov momentum"),
    "norm_gradient": ("Tensor", "sum of the squares of the gradient"),
    "norm_weight": ("Tensor", "sum of the squares of the weights"),
    "num": ("int", "expected number of outputs; must equal the size of ``axis``"),
    "num_segments": ("int or Tensor", "number of segments in the result"),
    "num_split": ("int", "expected number of parts; must equal the length of ``size_splits``"),
    "offset": ("int", "offset in the stream of random numbers"),
    "onesided": ("bool", "whether to use only the nonnegative frequencies of a real signal"),
    "out_channel": ("int", "number of output channels"),
    "out_int32": ("bool", "whether the result has dtype int32 instead of int64"),
    "output_num": ("int", "number of equal parts to split the tensor into"),
    "output_size": (
        "int or tuple of int",
        "size of each spatial axis of the output; ``None`` keeps the size of the input",
    ),
    "output_type": ("mindgrad.dtype", "dtype of the result"),
    "p": ("int or float", "order of the norm"),
    "pad": ("int or tuple of int", "number of zeros to add on each side of the spatial axes"),
    "pad_list": ("int or tuple of int", _IGNORED),
    "pad_mode": ("str", 'padding mode: ``"valid"``, ``"same"``, or ``"pad"``'),
    "paddings": ("tuple", "for each padded axis, the numbers of elements to add before and after it"),
    "paddings_contiguous": ("bool", "whether the two numbers of an axis are adjacent in ``paddings``"),
    "pads": ("int or tuple of int", "number of elements to add on each side of the spatial axes"),
    "param": ("Parameter", "variable to update"),
    "parameters": ("Parameter", "variable to update"),
    "perm": ("tuple of int", "permutation of the axes"),
    "pin_memory": ("bool", _IGNORED),
    "preprocess_collapse_repeated": (
        "bool",
        "whether to collapse repeated labels; only ``False`` is supported",
    ),
    "q": ("float or Tensor", "probabilities of the quantiles to compute, from 0 to 1"),
    "real": ("bool", "whether the transformed signal is real"),
    "recv_numel_list": (
        "list of int",
        "number of blocks of ``block_size`` elements to receive from each process",
    ),
    "reduction": ("str", 'reduction of the losses of all samples: ``"none"``, ``"mean"``, or ``"sum"``'),
    "return_idx": ("bool", "whether to also return, for each input element, its index in the output"),
    "reverse": ("bool", "whether to accumulate from the last element to the first"),
    "rho": ("float", "decay rate of the moving averages of squares"),
    "root_rank": ("int", "rank of the process whose tensor is sent to all processes"),
    "scale": ("Tensor", "scale of each channel"),
    "seed": ("int", "seed of this operator; 0 uses the global seed"),
    "seed2": ("int", "second seed of this operator"),
    "send_count_matrix": (
        "list of int",
        "number of blocks of ``block_size`` elements from process i to process j, at index ``i * size + j``",
    ),
    "send_numel_list": ("list of int", "number of blocks of ``block_size`` elements to send to each process"),
    "sequence_length": ("Tensor", "number of time steps of each sequence"),
    "shape": ("tuple of int", "shape of the result"),
    "shift": ("int or tuple of int", "shift of the elements, in positions"),
    "sign_decay": ("Tensor or float", "decay factor of the sign term"),
    "signal_ndim": ("int", "number of trailing axes to transform"),
    "signal_sizes": (
        "tuple of int",
        "sizes of the transformed axes of the real signal, for the inverse transform",
    ),
    "size": ("int or tuple of int", "size of the result"),
    "size_splits": ("tuple of int", "size of each part along the split axis"),
    "skip_mode": ("bool", "whether an empty ``axis`` leaves the input unreduced"),
    "sorted": ("bool", "whether to sort the selected elements"),
    "sparse": ("bool", "whether ``labels`` are integer class indices instead of probabilities"),
    "split_dim": ("int", "axis along which to split the tensor"),
    "src_rank": ("int", "rank of the sending process"),
    "stable": ("bool", "accepted for compatibility; sorting is always stable"),
    "stat": ("Parameter", "state, which is 1 before the first step and 0 after it"),
    "stds": (
        "Tensor or tuple of float",
        "standard deviation of each of the four differences between box and anchor",
    ),
    "strides": ("int or tuple of int", "step between neighboring windows along each spatial axis"),
    "transpose": ("bool", "whether to transpose ``send_count_matrix``"),
    "transpose_a": ("bool", "whether to swap the last two axes of the first operand"),
    "transpose_b": ("bool", "whether to swap the last two axes of the second operand"),
    "unbiased": ("bool", "whether to divide by n − 1 instead of n, the number of reduced elements"),
    "unique": ("bool", "whether to draw each row at most once"),
    "update_slots": ("bool", "whether to update the accumulator of the optimizer"),
    "use_clip": ("bool", "whether to divide the scale factor by the learning rate and limit it to 1"),
    "use_lock": ("bool", _IGNORED),
    "use_locking": ("bool", _IGNORED),
    "use_nesterov": ("bool", "whether to use Nesterov momentum"),
    "v": ("Parameter", "moving average of the squared gradient"),
    "var": ("Parameter", "variable to update"),
    "variable": ("Parameter", "variable to update"),
    "variance": ("Tensor", "variance of each channel"),
    "vhat": ("Parameter", "elementwise maximum of the values of ``v`` so far"),
    "weight": ("Tensor", "weight tensor"),
    "weight_decay": ("Tensor or float", "weight decay coefficient"),
    "x": ("Tensor", "input tensor"),
    "xs": ("tuple of Tensor", "input tensors"),
    "y": ("Tensor", "second input tensor"),
}


def path_of(function: Callable[..., Any]) -> str:
    """Return the dotted path of a function.

    If ``mindgrad.ops`` exports the function, the path is ``mindgrad.ops.<name>``.
    """
    name = function.__name__
    exported = getattr(sys.modules[function.__module__], "__all__", ())
    is_public = name in exported and name in vars(sys.modules["mindgrad.ops.functional"])
    return f"{'mindgrad.ops' if is_public else function.__module__}.{name}"


class FunctionDoc(NamedTuple):
    """The parts of a function's docstring, with the argument names of a form."""

    function: Callable[..., Any]
    summary: str
    notes: list[str]
    sections: dict[str, str]
    arguments: dict[str, tuple[str, str]]
    example: str

    @classmethod
    def of(cls, function: Callable[..., Any], parameters: Mapping[str, str]) -> FunctionDoc:
        """Split the docstring of a function into parts, for a form.

        Args:
            function: function whose docstring is split.
            parameters: dict that maps parameter names of the form to parameter names of the function.
        """
        before, sections, after = divided(inspect.getdoc(function) or "")
        names = {parameter: name for name, parameter in parameters.items() if name != parameter}
        arguments = {
            names.get(own, own): (entry.type, renamed(entry.text, names))
            for entry in entries_of(sections.get("Args", ""))
            for own in [name.lstrip("*") for name in entry.names]
        }
        gone = set(arguments) - set(parameters) if parameters else set()
        others = {
            header: renamed(text, names)
            for header, text in sections.items()
            if header not in ("Args", "See Also")
        }
        if "Raises" in others:
            others["Raises"] = _about(others["Raises"], set(parameters), gone)
        summary, *notes = [renamed(paragraph, names) for paragraph in before] or [""]
        return cls(function, summary, notes, others, arguments, "\n\n".join(after))

    def described(self, name: str, default: Any, kind: str = "", *, is_ignored: bool = False) -> str:
        """Write the entry of an argument.

        Args:
            name: name of the argument in the form.
            default: default value; ``inspect.Parameter.empty`` for a required argument.
            kind: type in the form, or "" for the type of the function's parameter.
            is_ignored: whether the form accepts the argument without using it.
        """
        own, text = self.arguments.get(name, ("", ""))
        if not text or is_ignored:
            own, text = MEANINGS.get(name, ("", "input of the operator"))
            text = f" {_IGNORED if is_ignored else text}."
        kind = kind or own
        if default is inspect.Parameter.empty or not kind:
            line = f"    {name}{f' ({kind})' if kind else ''}:{text}"
        else:
            line = argument_line(name, kind, text, default)
        return line if len(line) <= _WIDTH else _wrapped(line)

    def see_also(self, path: str) -> str:
        """Write the section "See Also" of ``path``: the function and its other names."""
        own = path_of(self.function)
        names = names_of(self.function)
        if own.count(".") == 2:  # the path is ``mindgrad.ops.<name>``
            names.insert(0, own)
        others = [name for name in (*names, *related(path)) if name != path]
        return f"See Also:\n    {references(others, chr(10) + '    ')}" if others else ""


def _about(raises: str, present: Iterable[str], gone: Iterable[str]) -> str:
    """Drop the entries of "Raises" that mention only parameters that the form lacks."""
    entries = []
    for entry in re.split(r"\n(?=    \S)", raises):
        mentioned = set(re.findall(r"``(\w+)``", entry))
        if not (mentioned & set(gone) and not mentioned & set(present)):
            entries.append(entry)
    return "\n".join(entries)


_WIDTH = 108


def _wrapped(entry: str) -> str:
    """Wrap an entry to lines of at most ``_WIDTH`` characters."""
    if all(len(line) <= _WIDTH for line in entry.split("\n")):
        return entry
    return textwrap.fill(
        " ".join(entry.split()),
        _WIDTH,
        initial_indent="    ",
        subsequent_indent="        ",
        break_long_words=False,
        break_on_hyphens=False,
    )
