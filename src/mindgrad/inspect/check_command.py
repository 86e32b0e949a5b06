"""The command ``mindgrad check``: check the derivatives of a function in a script."""

from __future__ import annotations

from collections.abc import Sequence

from mindgrad.inspect.check_grad import check_grad
from mindgrad.inspect.command_errors import shown_errors
from mindgrad.inspect.command_target import of_script, target_of, target_parser, written
from mindgrad.inspect.pictures import check_picture

__all__ = ["main"]

_EXAMPLE = """examples:
  mindgrad check energy.py:energy "Tensor([1.0, 2.0])" 3.0
  mindgrad check train.py:net "ops.ones((4, 3))" --order 2 --plot errors.png

The arguments are Python expressions that can use the names of the script and of mindgrad. Without arguments,
the function is called with its defaults and with the script's variables that have the names of its arguments.
The exit status is 0 if the derivatives match, 1 if they do not or if the script raises an error, and 2 for a
usage error."""


@shown_errors("check")
def main(arguments: Sequence[str]) -> int:
    """Run the command.

    Args:
        arguments (list or tuple of str): arguments of the command line after ``check``.

    Returns:
        The exit status: 0 if the derivatives match, 1 if they do not.

    Raises:
        SystemExit: If the command line is wrong (status 2) or contains ``--help`` (status 0).
    """
    parser = target_parser(
        "check", "Compare the derivatives of a function with finite differences.", _EXAMPLE
    )
    parser.add_argument(
        "--order", type=int, default=1, choices=(1, 2), help="2: also check the derivative of the gradient"
    )
    parser.add_argument(
        "--mode", action="append", choices=("forward", "reverse"), help="check only this mode; default: both"
    )
    parser.add_argument("--tolerance", type=float, help="allowed relative error")
    parser.add_argument(
        "--plot", metavar="FILE", help="plot the error against the step size, and save the plot to this file"
    )
    options = parser.parse_args(arguments)
    if options.plot:  # check this before the derivatives are checked, which may take long
        check_picture("check", options.plot)
    fn, values, _ = target_of(options, parser)
    modes = tuple(options.mode or ("forward", "reverse"))
    with of_script():
        result = check_grad(fn, values, options.order, modes, tolerance=options.tolerance)
    result.show()
    if options.plot:
        with written(parser, options.plot):
            result.plot(options.plot)
    return 0 if result.ok else 1
