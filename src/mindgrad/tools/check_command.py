"""The command ``mindgrad check`` checks the derivatives of a script's function."""

from __future__ import annotations

import argparse
import os
import runpy
import sys
from collections.abc import Sequence
from typing import Any

from mindgrad.tools.check_grad import check_grad

__all__ = ["main"]

#: the name of the module while the script runs, so that its ``if __name__ == "__main__":`` does not
_MODULE = "__check__"
_EXAMPLE = """examples:
  mindgrad check energy.py:energy "Tensor([1.0, 2.0])" 3.0
  mindgrad check train.py:net "ops.ones((4, 3))" --order 2 --plot errors.png

The arguments are Python expressions; they see the names of the script and those of mindgrad. Without them
the function is called with its default values. The exit status is 0 if the derivatives agree, 1 if not, and
2 for a wrong command line."""


def main(arguments: Sequence[str]) -> int:
    """Run the command.

    Args:
        arguments: the command line after ``check``.

    Returns:
        The exit status: 0 if the derivatives agree, 1 if not.

    Raises:
        SystemExit: the command line is wrong (status 2), or asks for help (0).
    """
    parser = argparse.ArgumentParser(
        "mindgrad check",
        description="Compare the derivatives of a function with differences of its values.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("function", metavar="script.py:function", help="the file and a name in it")
    parser.add_argument(
        "arguments", nargs="*", help="what the function is called with, as Python expressions"
    )
    parser.add_argument(
        "--order", type=int, default=1, choices=(1, 2), help="2: the gradient's derivative too"
    )
    parser.add_argument(
        "--mode", action="append", choices=("forward", "reverse"), help="one mode only; default both"
    )
    parser.add_argument("--tolerance", type=float, help="the relative error that is allowed")
    parser.add_argument("--plot", metavar="FILE", help="draw the error over the step size")
    options = parser.parse_args(arguments)
    path, _, name = options.function.rpartition(":")
    if not path or not name.isidentifier():
        parser.error(f"{options.function!r} names no function: write script.py:function")
    if not os.path.isfile(path):
        parser.error(f"there is no file {path!r}")
    sys.path.insert(0, os.path.dirname(os.path.realpath(path)))
    names = runpy.run_path(path, run_name=_MODULE)
    if name not in names:
        parser.error(f"{path} has no {name!r}")
    fn = names[name]
    result = check_grad(
        fn,
        _arguments(fn, options.arguments, names, parser),
        options.order,
        tuple(options.mode or ("forward", "reverse")),
        tolerance=options.tolerance,
    )
    print(result)
    if options.plot:
        result.plot(options.plot)
    return 0 if result.ok else 1


def _arguments(
    fn: Any, expressions: Sequence[str], names: dict[str, Any], parser: argparse.ArgumentParser
) -> tuple[Any, ...]:
    if not expressions:
        defaults: tuple[Any, ...] = getattr(fn, "__defaults__", None) or ()
        if not defaults or len(defaults) < fn.__code__.co_argcount:
            parser.error("the function needs arguments: write them behind its name, as Python expressions")
        return defaults
    package = vars(sys.modules[__name__.partition(".")[0]])
    values = []
    for text in expressions:
        try:
            values.append(eval(text, {**package, **names}))
        except Exception as error:
            parser.error(f"the argument {text!r} cannot be evaluated: {type(error).__name__}: {error}")
    return tuple(values)
