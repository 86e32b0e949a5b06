"""The command ``mindgrad explain``: report the rewrites of a function in a script."""

from __future__ import annotations

from collections.abc import Sequence

from mindgrad.api.gradient import grad
from mindgrad.inspect.command_errors import shown_errors
from mindgrad.inspect.command_target import add_order, of_script, target_of, target_parser
from mindgrad.inspect.explain import explain

__all__ = ["main"]

_EXAMPLE = """examples:
  mindgrad explain energy.py:energy "Tensor([1.0, 2.0])" --order 2
  mindgrad explain train.py:net "ops.ones((4, 3))" --compiled
  mindgrad explain wave.py:loss "ops.ones((100, 2))" --json

The arguments are Python expressions that can use the names of the script and of mindgrad. Without arguments,
the function is called with its defaults and with the script's variables that have the names of its arguments.
The exit status is 0, 1 if the script raises an error, and 2 for a wrong command line."""


@shown_errors("explain")
def main(arguments: Sequence[str]) -> int:
    """Run the command.

    Args:
        arguments (list or tuple of str): arguments of the command line after ``explain``.

    Returns:
        The exit status, 0.

    Raises:
        SystemExit: If the command line is wrong (status 2) or contains ``--help`` (status 0).
    """
    parser = target_parser(
        "explain", "List the rewrites that the compiler applies to a function, and what they save.", _EXAMPLE
    )
    add_order(parser, default=0)
    parser.add_argument(
        "--compiled", action="store_true", help="also compile, and report XLA's time and memory"
    )
    parser.add_argument("--graph", action="store_true", help="print the optimized graph")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    fn, values, _ = target_of(options, parser)
    for _ in range(options.order):
        fn = grad(fn)
    with of_script():
        explanation = explain(fn, compiled=options.compiled)(*values)
    if options.json:
        print(explanation.json())
    elif options.graph:
        print(explanation.table(graph=True))
    else:
        explanation.show()
    return 0
