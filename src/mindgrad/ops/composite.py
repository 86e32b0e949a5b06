"""``mindspore.ops.composite``, where r1.x programs find ``GradOperation``."""

from mindgrad.functional.gradient import GradOperation

__all__ = ["GradOperation"]
