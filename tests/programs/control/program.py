"""What a program of this corpus is: control flow as users write it, with inputs for each of its paths.

A program is a Cell or a function of Float64 tensors. Its cases are sets of inputs that take different
paths: no iteration, one iteration, many; every branch; every exit. Its reference is the same mathematics in plain
Python and NumPy, written in another way where there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mindgrad import Parameter, Tensor, nn, ops

__all__ = ["PROGRAMS", "Case", "ControlProgram", "integer", "program", "weight"]

#: every program of the corpus by its name
PROGRAMS: dict[str, ControlProgram] = {}


def integer(value: Any) -> np.ndarray:
    """An input that is a whole number, given to the program as an Int64 tensor."""
    return np.array(value, np.int64)


def weight(value: Any) -> Parameter:
    """A Float64 Parameter; the Cell that gets it names it after the attribute."""
    return Parameter(Tensor(np.array(value, np.float64)))


@dataclass
class Case:
    """One set of inputs: floating-point arrays, which are differentiated, then all the others."""

    xs: list[np.ndarray]
    others: list[Any]

    @classmethod
    def of(cls, inputs: Sequence[Any]) -> Case:
        """Floats and lists become Float64 arrays; integer arrays, ints, strings, … stay what they are."""
        floats = [x for x in inputs if isinstance(x, (float, list))]
        others = [x for x in inputs if not isinstance(x, (float, list))]
        assert [*map(id, floats), *map(id, others)] == [*map(id, inputs)], "floats come first"
        return cls([np.array(x, np.float64) for x in floats], others)


@dataclass
class ControlProgram:
    """A program with what is known of it.

    Attributes:
        name: the name of its function or class.
        make: makes the function of tensors; a Cell is made anew for each check.
        cases: the sets of inputs.
        reference: the value for floats, arrays and ``others`` as NumPy and Python have them; for a Cell
            with Parameters a dictionary of their values by name comes first, and what the program
            writes the reference writes there. Several outputs are a tuple, in order.
        written: the names of the Parameters that the program writes.
        rtol: how closely the value meets the reference, which may be the limit of an iteration.
        slack: how closely the derivatives do.
        refused: what graph mode says to the program, a regular expression, if it does not compile it.
    """

    name: str
    make: Callable[[], Callable[..., Any]]
    cases: list[Case]
    reference: Callable[..., Any]
    written: Sequence[str] = ()
    rtol: float = 1e-9
    slack: float = 1e-6
    refused: str = ""

    def __post_init__(self) -> None:
        assert self.name not in PROGRAMS, f"two programs are named {self.name}"
        assert self.cases, f"{self.name} has no case"
        PROGRAMS[self.name] = self

    def pure(self) -> tuple[Callable[..., Any], list[Parameter], list[Parameter]]:
        """The program without side effects, the Parameters it only reads, and those it writes.

        The function takes the differentiated inputs, the values of the written Parameters (the whole
        numbers among them last), then the others; it gives the output and the floating-point values
        that were written.
        """
        made = self.make()
        parameters = list(made.get_parameters()) if isinstance(made, nn.Cell) else []
        written = [p for p in parameters if p.name in self.written]
        assert len(written) == len(self.written), f"{self.name} has no such Parameters: {self.written}"
        written.sort(key=lambda p: not p.dtype.is_float)
        weights = [p for p in parameters if p.name not in self.written]
        if not written:
            return made, weights, []

        count = len(
            self.cases[0].xs
        )  # not read inside: guards would compare the whole corpus, which self reaches

        def with_state(*inputs: Any) -> Any:
            for parameter, value in zip(written, inputs[count:], strict=False):
                ops.assign(parameter, value)
            output = made(*inputs[:count], *inputs[count + len(written) :])
            return output, [parameter.value() for parameter in written if parameter.dtype.is_float]

        return with_state, weights, written


def program(*cases: Sequence[Any], **known: Any) -> Callable[[Any], Any]:
    """Put a function, or a Cell's class, into the corpus: one tuple of inputs for each case."""

    def decorate(made: Any) -> Any:
        make = made if isinstance(made, type) else lambda: made
        ControlProgram(made.__name__, make, [Case.of(case) for case in cases], **known)
        return made

    return decorate
