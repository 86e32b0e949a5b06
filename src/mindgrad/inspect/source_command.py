"""The command ``mindgrad source``: export a function or derivative as Python."""

from __future__ import annotations

from collections.abc import Sequence

from mindgrad.inspect.command_errors import shown_errors
from mindgrad.inspect.command_target import add_order, of_script, target_of, target_parser, written
from mindgrad.inspect.source import LANGUAGES, source

__all__ = ["main"]

_EXAMPLE = """examples:
  mindgrad source energy.py:energy "Tensor([1.0, 2.0])" --order 1
  mindgrad source wave.py:u "ops.ones((4, 1))" --order 2 --emit jax
  mindgrad source train.py:net "ops.ones((4, 3))" --emit mindspore --output net.py

The arguments are Python expressions that can use the names of the script and of mindgrad. Without arguments,
the function is called with its defaults and with the script's variables that have the names of its arguments.
With --output, the command writes a file that runs on its own: python net.py. The exit status is 0, 1 if
the script raises an error or an operator cannot be written, and 2 for a wrong command line."""


@shown_errors("source")
def main(arguments: Sequence[str]) -> int:
    """Run the command.

    Args:
        arguments (list or tuple of str): arguments of the command line after ``source``.

    Returns:
        The exit status: 0, or 1 if the program cannot be written.

    Raises:
        SystemExit: If the command line is wrong (status 2) or contains ``--help`` (status 0).
    """
    parser = target_parser(
        "source", "Write a function or its derivative as readable, runnable Python source.", _EXAMPLE
    )
    add_order(parser, default=0)
    parser.add_argument("--emit", choices=LANGUAGES, default="numpy", help="library that the source uses")
    parser.add_argument(
        "--as-written", action="store_true", help="show the function without the compiler's rewrites"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write the source to this file")
    options = parser.parse_args(arguments)
    fn, values, _ = target_of(options, parser)
    try:
        with of_script():
            program = source(
                fn, *values, order=options.order, emit=options.emit, rewrites=not options.as_written
            )
    except NotImplementedError as error:
        parser.exit(1, f"{error}\n")
    if options.output:
        with written(parser, options.output):
            program.save(options.output)
    else:
        print(program, end="")
    return 0
