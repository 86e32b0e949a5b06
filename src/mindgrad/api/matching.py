"""Check that tangents and cotangents match the structure and types of primals.

For example, ``sens`` of a gradient must match the output. An error names the first leaf or container that
differs, and the expected type.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad._base.tree import attributes_of, is_record
from mindgrad.execution.array_arguments import with_tensors
from mindgrad.ir.scope import apply
from mindgrad.ir.tensor import Number, Tensor
from mindgrad.primitives.structural import convert
from mindgrad.trace import state
from mindgrad.trace.numbers import is_number, number_tensor

__all__ = ["match"]


def match(owner: str, name: str, value: Any, template: Any, role: str) -> list[Tensor]:
    """Return the tensors of ``value``, one for each tensor of ``template``.

    Args:
        owner: name of the public function, such as ``"grad"``, for error messages.
        name: name of the checked argument, for error messages.
        value: argument to check.
        template: the value whose structure and types ``value`` must have. Leaves that are not tensors are
            ignored.
        role: word for ``template`` in errors, such as ``"output"``.

    Raises:
        TypeError: If a dtype in ``value`` differs from ``template``, or only one of them has a container.
        ValueError: If a length, the keys of a dict, or a shape in ``value`` differs from ``template``.
    """
    leaves: list[Tensor] = []
    _match(f"For '{owner}', the '{name}'", name, value, template, role, leaves)
    return leaves


def _match(start: str, path: str, value: Any, template: Any, role: str, leaves: list[Tensor]) -> None:
    if type(template) is Number:
        leaves.append(_match_number(start, path, value, template, role))
    elif isinstance(template, Tensor):
        if not isinstance(value, Tensor):
            value = with_tensors(value)
        if not isinstance(value, Tensor):
            raise TypeError(
                f"{start} must be like the {role}: {path} should be a Tensor of shape "
                f"{template.shape} and dtype {template.dtype}, but got {_said(value)}."
            )
        if value.dtype is not template.dtype:
            raise TypeError(
                f"{start} must be like the {role}: the dtype of {path} should be {template.dtype}, but "
                f"got {value.dtype}. Convert it: {path}.astype(...)."
            )
        if value.shape != template.shape:
            raise ValueError(
                f"{start} must be like the {role}: the shape of {path} should be {template.shape}, but "
                f"got {value.shape}. It is not broadcast."
            )
        leaves.append(state.read(value))
    elif isinstance(template, dict):
        if not isinstance(value, dict):
            raise TypeError(
                f"{start} must be like the {role}: {path} should be a dict, but got {_said(value)}."
            )
        if set(value) != set(template):
            raise ValueError(
                f"{start} must be like the {role}: the keys of {path} should be {list(template)}, but got "
                f"{list(value)}."
            )
        for key, child in template.items():
            _match(start, f"{path}[{key!r}]", value[key], child, role, leaves)
    elif is_record(type(template)):  # type: ignore[arg-type]
        if not is_record(type(value)):  # type: ignore[arg-type]
            raise TypeError(
                f"{start} must be like the {role}: {path} should be a {type(template).__name__}, but got "
                f"{_said(value)}."
            )
        for name, child in attributes_of(template).items():
            _match(start, f"{path}.{name}", getattr(value, name, None), child, role, leaves)
    elif isinstance(template, (tuple, list)):
        if not isinstance(value, (tuple, list)):
            raise TypeError(
                f"{start} must be like the {role}: {path} should be a tuple of length {len(template)}, "
                f"but got {_said(value)}."
            )
        if len(value) != len(template):
            raise ValueError(
                f"{start} must be like the {role}: {path} has invalid length: should be {len(template)}, "
                f"but got {len(value)}."
            )
        for index, (g, child) in enumerate(zip(value, template, strict=True)):
            _match(start, f"{path}[{index}]", g, child, role, leaves)


def _match_number(start: str, path: str, value: Any, template: Tensor, role: str) -> Tensor:
    if isinstance(value, (int, float, np.generic)) and isinstance(value, bool) <= (
        template.dtype.kind == "bool"
    ):
        value = number_tensor(value)
    elif not isinstance(value, Tensor) or value.shape:
        raise TypeError(f"{start} must be like the {role}: {path} should be a float, but got {_said(value)}.")
    return apply(convert, state.read(value), dtype=template.dtype)


def _said(value: Any) -> str:
    if is_number(value):
        return f"a {type(value.sample() if isinstance(value, Number) else value.real).__name__}"
    if isinstance(value, Tensor):
        return f"a Tensor of shape {value.shape} and dtype {value.dtype}"
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of length {len(value)}"
    return f"a {type(value).__name__}"
