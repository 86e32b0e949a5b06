"""The command ``mindgrad draw``: draw a function in a script and its derivative."""

from __future__ import annotations

from collections.abc import Sequence

from mindgrad.inspect.command_errors import shown_errors
from mindgrad.inspect.command_target import add_order, of_script, target_of, target_parser, written
from mindgrad.inspect.draw import draw

__all__ = ["main"]

_EXAMPLE = """examples:
  mindgrad draw energy.py:energy "Tensor([1.0, 2.0])" --order 1 -o energy.svg
  mindgrad draw train.py:net "ops.ones((4, 3))" -o net.png

The arguments are Python expressions that can use the names of the script and of mindgrad. Without arguments,
the function is called with its defaults and with the script's variables that have the names of its arguments.
The exit status is 0, 1 if the script raises an error or matplotlib is not installed, and 2 for a wrong
command line."""


@shown_errors("draw")
def main(arguments: Sequence[str]) -> int:
    """Run the command.

    Args:
        arguments (list or tuple of str): arguments of the command line after ``draw``.

    Returns:
        The exit status: 0, or 1 if matplotlib is not installed.

    Raises:
        SystemExit: If the command line is wrong (status 2) or contains ``--help`` (status 0).
    """
    parser = target_parser("draw", "Draw a function and its derivative side by side, line by line.", _EXAMPLE)
    add_order(parser, default=1)
    parser.add_argument(
        "--as-written", action="store_true", help="show the function without the compiler's rewrites"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="image file: .svg, .png or .pdf"
    )
    options = parser.parse_args(arguments)
    fn, values, _ = target_of(options, parser)
    with of_script():
        drawing = draw(fn, *values, order=options.order, rewrites=not options.as_written)
    try:
        with written(parser, options.output):
            drawing.save(options.output)
    except ValueError as error:
        parser.error(str(error))
    except ModuleNotFoundError as error:
        parser.exit(1, f"{error}\n")
    print(f"{options.output}: {drawing.size}")
    return 0
