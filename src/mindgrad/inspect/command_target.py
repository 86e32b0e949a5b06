"""The target of a command: a function in a script, and its arguments."""

from __future__ import annotations

import argparse
import inspect
import os
import runpy
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import Any

from mindgrad.core.base.nearest import nearest

__all__ = ["add_order", "of_script", "target_of", "target_parser", "written"]

#: ``__name__`` of the script while it runs. It is not ``"__main__"``, so that the main block does not run
_MODULE = "__check__"


def target_parser(name: str, description: str, examples: str) -> argparse.ArgumentParser:
    """Create the parser of a command with ``script.py:function`` and its arguments."""
    parser = argparse.ArgumentParser(
        f"mindgrad {name}",
        description=description,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "function", metavar="script.py:function", help="the script, and the name of a function or Cell in it"
    )
    parser.add_argument(
        "arguments",
        nargs="*",
        default=(),  # marks the arguments as optional in the help text
        help="arguments of the function, as Python expressions; default: the function's defaults and the "
        "script's variables",
    )
    return parser


def add_order(parser: argparse.ArgumentParser, default: int) -> None:
    """Add the option ``--order``, the order of the derivative."""

    def order(text: str) -> int:
        number = int(text)
        if number < 0:
            raise argparse.ArgumentTypeError(f"must be at least 0, but is {number}")
        return number

    parser.add_argument(
        "--order", type=order, default=default,
        help=f"order of the derivative (0: the function itself); default: {default}",
    )  # fmt: skip


@contextmanager
def written(parser: argparse.ArgumentParser, path: str) -> Iterator[None]:
    """Report an error if the block cannot write the output file.

    Raises:
        SystemExit: If the file cannot be written (status 2).
    """
    try:
        yield
    except OSError as error:
        parser.error(f"cannot write {path!r}: {error.strerror or error}")


def of_script() -> redirect_stdout[Any]:
    """Redirect the output of the script to stderr.

    Standard output then contains only the output of the command.
    """
    return redirect_stdout(sys.stderr)


def target_of(
    options: argparse.Namespace, parser: argparse.ArgumentParser
) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """Run the script and evaluate the arguments of a command line.

    Returns:
        The function, the values of its arguments, and the variables of the script by name.

    Raises:
        SystemExit: If the command line is wrong (status 2).
    """
    path, _, name = options.function.rpartition(":")
    if not path or not name.isidentifier():
        parser.error(f"{options.function!r} does not name a function; write script.py:function")
    if not os.path.isfile(path):
        parser.error(f"there is no file {path!r}")
    sys.path.insert(0, os.path.dirname(os.path.realpath(path)))
    with of_script():
        names = runpy.run_path(path, run_name=_MODULE)
    if name not in names:
        functions = [other for other, value in names.items() if callable(value)]
        parser.error(f"{path} has no {name!r}{nearest(name, functions)}")
    fn = names[name]
    if not callable(fn):
        parser.error(f"{name!r} of {path} is not a function or Cell, but has type {type(fn).__name__}")
    if isinstance(fn, type):
        parser.error(
            f"{name!r} of {path} is a class. Write net = {name}(...) in the script, and name {path}:net"
        )
    if options.arguments:
        return fn, _evaluated(options.arguments, names, parser), names
    return fn, _own_values(fn, names, parser), names


def _own_values(
    fn: Callable[..., Any], names: dict[str, Any], parser: argparse.ArgumentParser
) -> tuple[Any, ...]:
    """Return the default of each argument, or the script's variable with its name."""
    values, missing = [], []
    for parameter in inspect.signature(getattr(fn, "construct", fn)).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            continue
        if parameter.default is not parameter.empty:
            values.append(parameter.default)
        elif parameter.name in names:
            values.append(names[parameter.name])
        else:
            missing.append(parameter.name)
    if missing:
        parser.error(
            f"values are missing for {', '.join(missing)}. Write all arguments after the function, as "
            "Python expressions, or define variables with these names in the script"
        )
    return tuple(values)


def _evaluated(
    expressions: Sequence[str], names: dict[str, Any], parser: argparse.ArgumentParser
) -> tuple[Any, ...]:
    package = vars(sys.modules[__name__.partition(".")[0]])
    values = []
    for text in expressions:
        try:
            with of_script():
                values.append(eval(text, {**package, **names}))
        except Exception as error:
            known = [*names, *package] if isinstance(error, NameError) else []
            hint = nearest(getattr(error, "name", None) or "", known)
            parser.error(f"the argument {text!r} cannot be evaluated: {type(error).__name__}: {error}{hint}")
    return tuple(values)
