"""Names of MindSpore's derivative operators, which raise an error when called.

MindSpore's own derivative rules consist of such operators. Programs can import the module as in MindSpore,
``from mindspore.ops.operations import _grad_ops as G``, and every name that contains ``Grad`` exists.
"""

from functools import cache
from typing import Any

from mindgrad._base.absent import absent

__all__: list[str] = []


@cache
def __getattr__(name: str) -> Any:
    if "Grad" in name and name[0].isupper():
        forward = name.replace("Grad", "")
        return absent(
            __name__, name, "computes the derivative of an operator as a separate operator",
            f"Differentiate the operator: ops.grad(ops.{forward}()), or ops.vjp(ops.{forward}(), x)[1](g).",
        )  # fmt: skip
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
