"""Docstrings of the forms of a function: sections of its docstring in the names and defaults of the form."""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from mindgrad._base.related_names import references
from mindgrad._base.shared_docs import argument_line, divided, entries_of, renamed
from mindgrad.ops.registry import names_of

__all__ = ["MEANINGS", "FunctionDoc", "path_of"]

_IGNORED = "accepted for compatibility and ignored"

#: types and texts of arguments of forms that no parameter of the function describes
MEANINGS: dict[str, tuple[str, str]] = {
    "Seed0": ("int", "seed of this operator; 0 uses the global seed"),
    "Seed1": ("int", "second seed of this operator"),
    "adjoint": ("bool", "whether to use the conjugate transpose of the matrix"),
    "align_corners": ("bool", "whether the centers of the corner elements of input and output coincide"),
    "axis": ("int or tuple of int", "axis or axes along which the operator works"),
    "batch_dims": ("int", "number of leading batch axes"),
    "begin_norm_axis": ("int", "first axis of the axes that are normalized together"),
    "begin_params_axis": ("int", "first axis for which scale and shift have one element per index"),
    "block_shape": ("int or tuple of int", "size of a block along each spatial axis"),
    "block_size": ("int", "size of a block along each spatial axis"),
    "check_index_bound": ("bool", _IGNORED),
    "compute_mode": ("str", _IGNORED),
    "compute_v": ("bool", "whether to compute the eigenvectors"),
    "count": ("int", "number of elements to choose"),
    "data_format": ("str", "order of the axes"),
    "descending": ("bool", "whether to sort from the largest to the smallest element"),
    "dest_rank": ("int", "rank of the process that receives the result"),
    "device": ("str", _IGNORED),
    "diagonal": ("int", "diagonal: 0 is the main one, positive numbers are above it"),
    "dilation": ("int or tuple of int", "spacing between the elements of the kernel"),
    "dim": ("int or tuple of int", "axis or axes along which the operator works"),
    "dims": ("int or tuple of int", "axis or axes along which the operator works"),
    "dtype": ("mindgrad.dtype", "data type of the result; ``None`` keeps the type of the function"),
    "eps": ("float", "small number that bounds the input away from singular points"),
    "epsilon": ("float", "lower bound of the sum of squares in the denominator"),
    "equation": ("str", "subscripts of the operands and the result, in Einstein notation"),
    "exclusive": ("bool", "whether to exclude each element from its own result"),
    "full_matrices": ("bool", "whether the orthogonal factors are square"),
    "gradient": ("Tensor", "gradient of the loss with respect to the variable"),
    "group": ("int", "number of groups of channels, each with its own kernels"),
    "half_pixel_centers": ("bool", "whether the coordinates of elements are their centers, at half integers"),
    "ignore_index": ("int", "class whose samples do not contribute to the loss"),
    "ignore_nan": ("bool", "whether to ignore NaN"),
    "image": ("Tensor", "images, of shape (n, channels, height, width)"),
    "indexing": ("str", '``"xy"`` for Cartesian or ``"ij"`` for matrix order of the axes'),
    "inplace": ("bool", "whether to write the result into the input"),
    "inputs": ("tuple of Tensor", "the operands"),
    "interpolation_mode": ("str", '``"bilinear"``, ``"nearest"``, or ``"bicubic"``'),
    "is_grad": ("bool", "whether to return the derivative with respect to the logits instead of the loss"),
    "is_training": ("bool", "whether to use the statistics of the batch instead of the running statistics"),
    "keep_dims": ("bool", "whether to keep the reduced axes with size 1"),
    "keep_prob": ("float", "probability that an element is kept"),
    "kernel_size": ("int or tuple of int", "size of the kernel"),
    "labels": ("Tensor", "integer class indices, of shape (n,)"),
    "logits": ("Tensor", "log-probabilities, of shape (n, classes)"),
    "loss_scale": ("Tensor or float", "factor by which the gradient was scaled"),
    "maxlen": ("int", "length of the result"),
    "mode": ("int", "only 1 is accepted, a convolution"),
    "num": ("int", "number of outputs, to check the size of the axis"),
    "num_split": ("int", "number of parts, to check ``size_splits``"),
    "offset": ("int", "offset of the random stream"),
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
    "pin_memory": ("bool", _IGNORED),
    "q": ("float or Tensor", "quantiles to compute, between 0 and 1"),
    "reduction": ("str", '``"none"``, ``"mean"``, or ``"sum"``'),
    "return_idx": ("bool", "whether to return the positions of the input in the output too"),
    "reverse": ("bool", "whether to start from the end"),
    "rho": ("float", "decay rate of the moving average"),
    "seed": ("int", "seed of this operator; 0 uses the global seed"),
    "seed2": ("int", "second seed of this operator"),
    "shape": ("tuple of int", "shape of the result"),
    "shift": ("int or tuple of int", "number of positions by which elements move"),
    "size": ("tuple of int", "height and width of the result"),
    "size_splits": ("tuple of int", "sizes of the parts along the axis"),
    "skip_mode": ("bool", "whether an empty ``axis`` leaves the input unreduced"),
    "sorted": ("bool", "whether the elements found are sorted"),
    "split_dim": ("int", "axis to split"),
    "src_rank": ("int", "rank of the process that sends"),
    "stable": ("bool", "accepted for compatibility; sorting is always stable"),
    "strides": ("int or tuple of int", "step between neighboring windows"),
    "transpose_a": ("bool", "whether to swap the last two axes of the first operand"),
    "transpose_b": ("bool", "whether to swap the last two axes of the second operand"),
    "unbiased": ("bool", "whether to divide by n − 1 instead of n"),
    "use_lock": ("bool", _IGNORED),
    "use_locking": ("bool", _IGNORED),
    "weight": ("Tensor", "weight of each class, of shape (classes,)"),
    "weight_decay": ("Tensor or float", "factor of the weight decay"),
    "x": ("Tensor", "the input"),
    "xs": ("tuple of Tensor", "the inputs"),
    "y": ("Tensor", "the second operand"),
}


def path_of(function: Callable[..., Any]) -> str:
    """The path of a function: in ``mindgrad.ops`` if its module exports it, otherwise in its module."""
    exported = getattr(sys.modules[function.__module__], "__all__", ())
    return f"{'mindgrad.ops' if function.__name__ in exported else function.__module__}.{function.__name__}"


class FunctionDoc(NamedTuple):
    """The docstring of a function in parts, in the names that a form gives its parameters."""

    function: Callable[..., Any]
    summary: str
    notes: list[str]
    sections: dict[str, str]
    arguments: dict[str, tuple[str, str]]
    example: str

    @classmethod
    def of(cls, function: Callable[..., Any], parameters: Mapping[str, str]) -> FunctionDoc:
        """The parts for a form.

        Args:
            function: the function.
            parameters: its parameters by the names that the form gives them.
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
        """The entry of an argument.

        Args:
            name: its name in the form.
            default: its default; ``inspect.Parameter.empty`` if it must be given.
            kind: its type, if it is not the type of the function's parameter.
            is_ignored: whether the form accepts it and does not use it.
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
        """The section "See Also" for the name ``path``: the function and its other names."""
        names = [path_of(self.function)] if not self.function.__name__.startswith("_") else []
        others = [name for name in (*names, *names_of(self.function)) if name != path]
        return f"See Also:\n    {references(others, chr(10) + '    ')}" if others else ""


def _about(raises: str, kept: Iterable[str], gone: Iterable[str]) -> str:
    """The entries of "Raises" without those that are only about parameters that the form does not have."""
    entries = []
    for entry in re.split(r"\n(?=    \S)", raises):
        mentioned = set(re.findall(r"``(\w+)``", entry))
        if not (mentioned & set(gone) and not mentioned & set(kept)):
            entries.append(entry)
    return "\n".join(entries)


_WIDTH = 108


def _wrapped(entry: str) -> str:
    """An entry in lines of at most ``_WIDTH`` characters."""
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
