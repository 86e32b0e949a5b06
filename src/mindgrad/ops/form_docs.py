"""Docstrings of forms, derived from the docstring of the function."""

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

#: types and descriptions of arguments that the function of a form does not have
MEANINGS: dict[str, tuple[str, str]] = {
    "Seed0": ("int", "seed of this operator; 0 uses the global seed"),
    "Seed1": ("int", "second seed of this operator"),
    "a": ("Tensor or array_like", "the values"),
    "accum": ("Parameter", "accumulator of the gradient or of its square"),
    "accum_update": ("Parameter", "accumulator of the squared updates"),
    "accumulation": ("Parameter", "accumulated gradient (momentum buffer)"),
    "adjoint": ("bool", "whether to use the conjugate transpose of the matrix"),
    "align_corners": (
        "bool",
        "whether to align the centers of the corner pixels of input and output",
    ),
    "argmax_type": ("mindgrad.dtype", "dtype of the indices"),
    "array": ("Tensor", "1-D tensor of nonnegative integers"),
    "axis": ("int or tuple of int", "axis or axes along which the operator works"),
    "batch_dims": ("int", "number of leading batch axes"),
    "batch_size": ("int", "number of rows to draw"),
    "begin_norm_axis": ("int", "first axis of the axes that are normalized together"),
    "begin_params_axis": ("int", "first axis for which scale and shift have one element per index"),
    "beta": ("Tensor", "shift of each element"),
    "beta1": ("Tensor or float", "decay rate β₁ of the moving average of the gradient"),
    "beta1_power": ("Tensor or float", "β₁ to the power of the step number"),
    "beta2": ("Tensor or float", "decay rate β₂ of the moving average of the squared gradient"),
    "beta2_power": ("Tensor or float", "β₂ to the power of the step number"),
    "block_shape": ("int or tuple of int", "size of a block along each spatial axis"),
    "block_size": ("int", "size of a block along each spatial axis"),
    "buffer_dtype": ("tuple of mindgrad.dtype", "dtype of each tensor"),
    "buffer_shape": ("tuple of tuple of int", "shapes of the rows of each tensor"),
    "capacity": ("int", "number of rows of the buffer"),
    "check_index_bound": ("bool", _IGNORED),
    "clip_threshold": ("float", "largest root mean square of the update"),
    "compute_eigenvectors": ("bool", "whether to compute the eigenvectors"),
    "compute_mode": ("str", _IGNORED),
    "compute_v": ("bool", "whether to compute the eigenvectors"),
    "constant_value": ("int or float", "value of the padding"),
    "coordinate_transformation_mode": ("str", '``"align_corners"`` or ``"half_pixel"``'),
    "count": ("int", "number of elements to choose"),
    "ctc_merge_repeated": ("bool", "whether to merge repeated outputs; only ``True`` is supported"),
    "dampening": ("float", "dampening of the gradient in the momentum"),
    "data_format": ("str", "order of the axes"),
    "decay": ("Tensor or float", "weight decay, or decay rate of the moving average of the squared gradient"),
    "descending": ("bool", "whether to sort from the largest to the smallest element"),
    "dest_rank": ("int", "rank of the process that receives the result"),
    "device": ("str", _IGNORED),
    "diagonal": ("int", "diagonal: 0 is the main one, positive numbers are above it"),
    "dilation": ("int or tuple of int", "spacing between the elements of the kernel"),
    "dilations": ("int or tuple of int", "spacing between the elements of a window"),
    "dim": ("int or tuple of int", "axis or axes along which the operator works"),
    "dims": ("int or tuple of int", "axis or axes along which the operator works"),
    "dout": ("Tensor", "gradient with respect to the output of the convolution"),
    "dtype": ("mindgrad.dtype", "data type of the result; ``None`` keeps the type of the function"),
    "enable_first_moment": ("bool", "whether to use the moving average of the gradient"),
    "enable_scale_parameter": (
        "bool",
        "whether to scale the learning rate by the root mean square of the variable",
    ),
    "enable_weight_decay": ("bool", "whether to apply weight decay"),
    "eps": ("float", "small number that bounds the input away from singular points"),
    "epsilon": ("float", "lower bound of the sum of squares in the denominator"),
    "equation": ("str", "subscripts of the operands and the result, in Einstein notation"),
    "exclusive": ("bool", "whether to exclude each element from its own result"),
    "exp_avg": ("Parameter", "moving average of the gradient"),
    "exp_avg_sq": ("Parameter", "moving average of the squared gradient"),
    "exp_avg_sq_col": ("Parameter", "moving average of the squared gradient over columns"),
    "exp_avg_sq_row": ("Parameter", "moving average of the squared gradient over rows"),
    "full_matrices": ("bool", "whether the orthogonal factors are square"),
    "gamma": ("Tensor", "scale of each element"),
    "global_step": ("Tensor or int", "number of the step, from 1"),
    "grad": ("Tensor", "gradient of the loss with respect to the variable"),
    "gradient": ("Tensor", "gradient of the loss with respect to the variable"),
    "gradient_accumulator": ("Parameter", "sum of the gradients"),
    "gradient_scale": ("float", "factor of the gradient"),
    "gradient_squared_accumulator": ("Parameter", "sum of the squared gradients"),
    "groundtruth_box": ("Tensor", "boxes of shape (n, 4)"),
    "group": ("int", "number of groups of channels, each with its own kernels"),
    "half_pixel_centers": ("bool", "whether the coordinates of elements are their centers, at half integers"),
    "hyperpara": ("float", "trust coefficient c"),
    "ignore_index": ("int", "class whose samples do not contribute to the loss"),
    "ignore_longer_outputs_than_inputs": (
        "bool",
        "whether samples with more labels than time steps have the loss 0",
    ),
    "ignore_nan": ("bool", "whether to ignore NaN"),
    "image": ("Tensor", "images, of shape (n, channels, height, width)"),
    "indexing": ("str", '``"xy"`` for Cartesian or ``"ij"`` for matrix order of the axes'),
    "indices": ("Tensor", "integer indices of the rows to update"),
    "inplace": ("bool", "whether to write the result into the input"),
    "input": ("Tensor", "the input"),
    "input_size": ("tuple of int", "shape of the input of the convolution"),
    "input_x": ("Tensor", "the input"),
    "input_y": ("Tensor", "the second input"),
    "inputs": ("tuple of Tensor", "the operands"),
    "interpolation_mode": ("str", '``"bilinear"``, ``"nearest"``, or ``"bicubic"``'),
    "inverse": ("bool", "whether to compute the inverse transform"),
    "is_grad": ("bool", "whether to return the derivative with respect to the logits instead of the loss"),
    "is_training": ("bool", "whether to use the statistics of the batch instead of the running statistics"),
    "keep_dims": ("bool", "whether to keep the reduced axes with size 1"),
    "keep_prob": ("float", "probability that an element is kept"),
    "kernel_size": ("int or tuple of int", "size of the kernel"),
    "ksizes": ("int or tuple of int", "size of a window"),
    "l1": ("Tensor or float", "coefficient of L1 regularization"),
    "l2": ("Tensor or float", "coefficient of L2 regularization"),
    "l2_shrinkage": ("float", "coefficient of L2 shrinkage regularization"),
    "labels": ("Tensor", "integer class indices, of shape (n,)"),
    "labels_indices": ("Tensor", "sequence and position of each label, integers of shape (k, 2)"),
    "labels_values": ("Tensor", "the k labels"),
    "learning_rate": ("Tensor or float", "learning rate"),
    "linear": ("Parameter", "linear term"),
    "logbase": ("Tensor or float", "logarithm of the base"),
    "logits": ("Tensor", "log-probabilities, of shape (n, classes)"),
    "loss_scale": ("Tensor or float", "factor that the gradient was multiplied by"),
    "lower": ("bool", "whether to use the lower triangle instead of the upper one"),
    "lr": ("Tensor or float", "learning rate"),
    "lr_power": ("Tensor or float", "power p of the accumulator in the learning rate, at most 0"),
    "m": ("Parameter", "moving average of the gradient"),
    "mask": ("Tensor", "mask of ``DropoutGenMask``"),
    "max_length": ("int", "length of the result"),
    "maxlen": ("int", "length of the result"),
    "mean": ("Tensor", "mean of each channel"),
    "mean_gradient": ("Parameter", "moving average of the gradient"),
    "mean_square": ("Parameter", "moving average of the squared gradient"),
    "means": ("Tensor or tuple of float", "four means"),
    "mode": ("int", "only 1 is accepted, a convolution"),
    "mom": ("Parameter", "momentum buffer"),
    "moment": ("Parameter", "momentum buffer"),
    "momentum": ("Tensor or float", "momentum"),
    "ms": ("Parameter", "moving average of the squared gradient"),
    "n": ("int", "number of integers"),
    "nesterov": ("bool", "whether to use Nesterov momentum"),
    "norm_gradient": ("Tensor", "sum of the squared gradients"),
    "norm_weight": ("Tensor", "sum of the squared weights"),
    "num": ("int", "number of outputs, to check the size of the axis"),
    "num_segments": ("int or Tensor", "number of segments"),
    "num_split": ("int", "number of parts, to check ``size_splits``"),
    "offset": ("int", "offset of the random stream"),
    "onesided": ("bool", "whether to use half the spectrum of a real signal"),
    "out_channel": ("int", "number of output channels"),
    "out_int32": ("bool", "whether the result has dtype int32 instead of int64"),
    "output_num": ("int", "number of parts"),
    "output_size": ("int or tuple of int", "size of the output; ``None`` keeps the size of the input"),
    "output_type": ("mindgrad.dtype", "data type of the result"),
    "p": ("int or float", "order of the norm"),
    "pad": ("int or tuple of int", "zeros to add around the input"),
    "pad_list": ("int or tuple of int", _IGNORED),
    "pad_mode": ("str", '``"valid"``, ``"same"``, or ``"pad"``'),
    "paddings": ("tuple", "pairs of numbers of elements to add before and after each axis"),
    "paddings_contiguous": ("bool", "whether pairs of numbers of an axis are adjacent in ``paddings``"),
    "pads": ("int or tuple of int", "padding of the input"),
    "param": ("Parameter", "variable to update"),
    "parameters": ("Parameter", "variable to update"),
    "perm": ("tuple of int", "order of the axes"),
    "pin_memory": ("bool", _IGNORED),
    "preprocess_collapse_repeated": (
        "bool",
        "whether to collapse repeated labels; only ``False`` is supported",
    ),
    "q": ("float or Tensor", "quantiles to compute, between 0 and 1"),
    "real": ("bool", "whether the signal is real"),
    "recv_numel_list": ("list of int", "numbers of elements to receive from each process"),
    "reduction": ("str", '``"none"``, ``"mean"``, or ``"sum"``'),
    "return_idx": ("bool", "whether to return the positions of the input in the output too"),
    "reverse": ("bool", "whether to start from the end"),
    "rho": ("float", "decay rate of the moving average"),
    "root_rank": ("int", "rank of the process whose tensor is sent"),
    "scale": ("Tensor", "scale of each channel"),
    "seed": ("int", "seed of this operator; 0 uses the global seed"),
    "seed2": ("int", "second seed of this operator"),
    "send_count_matrix": (
        "list of int",
        "numbers of elements that process i sends to process j, at index ``i * size + j``",
    ),
    "send_numel_list": ("list of int", "numbers of elements to send to each process"),
    "sequence_length": ("Tensor", "number of time steps of each sequence"),
    "shape": ("tuple of int", "shape of the result"),
    "shift": ("int or tuple of int", "number of positions to shift the elements"),
    "sign_decay": ("Tensor or float", "decay of the sign term"),
    "signal_ndim": ("int", "number of axes to transform"),
    "signal_sizes": ("tuple of int", "sizes of the real signal, for the inverse transform"),
    "size": ("tuple of int", "height and width of the result"),
    "size_splits": ("tuple of int", "sizes of the parts along the axis"),
    "skip_mode": ("bool", "whether an empty ``axis`` leaves the input unreduced"),
    "sorted": ("bool", "whether the elements found are sorted"),
    "sparse": ("bool", "whether ``labels`` are integer class indices instead of probabilities"),
    "split_dim": ("int", "axis to split"),
    "src_rank": ("int", "rank of the process that sends"),
    "stable": ("bool", "accepted for compatibility; sorting is always stable"),
    "stat": ("Parameter", "1 before the first step and 0 afterwards"),
    "stds": ("Tensor or tuple of float", "four standard deviations"),
    "strides": ("int or tuple of int", "step between neighboring windows"),
    "transpose": ("bool", "whether to transpose the matrix of counts"),
    "transpose_a": ("bool", "whether to swap the last two axes of the first operand"),
    "transpose_b": ("bool", "whether to swap the last two axes of the second operand"),
    "unbiased": ("bool", "whether to divide by n − 1 instead of n"),
    "unique": ("bool", "whether the drawn rows are distinct"),
    "update_slots": ("bool", "whether to update the accumulator"),
    "use_clip": ("bool", "whether to divide the factor by the learning rate and limit it to 1"),
    "use_lock": ("bool", _IGNORED),
    "use_locking": ("bool", _IGNORED),
    "use_nesterov": ("bool", "whether to use Nesterov momentum"),
    "v": ("Parameter", "moving average of the squared gradient"),
    "var": ("Parameter", "variable to update"),
    "variable": ("Parameter", "variable to update"),
    "variance": ("Tensor", "variance of each channel"),
    "vhat": ("Parameter", "largest moving average of the squared gradient so far"),
    "weight": ("Tensor", "weight of each class, of shape (classes,)"),
    "weight_decay": ("Tensor or float", "factor of the weight decay"),
    "x": ("Tensor", "the input"),
    "xs": ("tuple of Tensor", "the inputs"),
    "y": ("Tensor", "the second operand"),
}


def path_of(function: Callable[..., Any]) -> str:
    """Return the path of a function, in ``mindgrad.ops`` if it is exported there."""
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
            function: function with the docstring.
            parameters: parameters of the function by the names in the form.
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
            name: name in the form.
            default: default value; ``inspect.Parameter.empty`` for a required argument.
            kind: type, if it differs from the type of the function's parameter.
            is_ignored: whether the form accepts the argument without using it.
        """
        own, text = self.arguments.get(name, ("", ""))
        if not text or is_ignored:
            own, text = MEANINGS.get(name, ("", "an input of the operator"))
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
        if own.count(".") == 2:  # in mindgrad.ops itself
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
