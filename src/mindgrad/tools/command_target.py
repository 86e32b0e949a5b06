"""The target of a command is a function in a script, with the arguments that it is called with."""

from __future__ import annotations

import argparse
import inspect
import os
import runpy
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import Any

from mindgrad._base.nearest import nearest

__all__ = ["add_order", "of_script", "target_of", "target_parser", "written"]

#: the name of the module while the script runs, so that its ``if __name__ == "__main__":`` does not
_MODULE = "__check__"


def target_parser(name: str, description: str, examples: str) -> argparse.ArgumentParser:
    """The parser of a command that takes ``script.py:function`` and its arguments."""
    parser = argparse.ArgumentParser(
        f"mindgrad {name}",
        description=description,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("function", metavar="script.py:function", help="the file and a name in it")
    parser.add_argument(
        "arguments",
        nargs="*",
        help="arguments of the function, as Python expressions; default: its defaults and the script's "
        "variables",
    )
    return parser


def add_order(parser: argparse.ArgumentParser, default: int) -> None:
    """Let a command take the order of the derivative that it is about."""

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
    """A region that writes the file of an option.

    Raises:
        SystemExit: If it cannot be written (status 2).
    """
    try:
        yield
    except OSError as error:
        parser.error(f"cannot write {path!r}: {error.strerror or error}")


def of_script() -> redirect_stdout[Any]:
    """A region in which the script runs: what it prints is no part of the command's output."""
    return redirect_stdout(sys.stderr)


def target_of(
    options: argparse.Namespace, parser: argparse.ArgumentParser
) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """The function that a command line names, the values of its arguments, and the names of its script.

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
    if options.arguments:
        return fn, _evaluated(options.arguments, names, parser), names
    return fn, _own_values(fn, names, parser), names


def _own_values(
    fn: Callable[..., Any], names: dict[str, Any], parser: argparse.ArgumentParser
) -> tuple[Any, ...]:
    """The defaults of the arguments, and for those without one the script's variables of their names."""
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
