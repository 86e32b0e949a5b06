"""The command line ``mindgrad script.py``, and :func:`install`.

A finder at the start of ``sys.meta_path`` handles every import of ``mindspore`` and its submodules. It
returns the module with the same path in this package. It is the same object and not a copy, so
``mindspore.Tensor is mindgrad.Tensor``. An installed MindSpore is never read.

The launcher runs a script, a module, or a string of code in the same way as ``python``.
"""

import builtins
import importlib.machinery
import importlib.util
import io
import linecache
import os
import sys
from collections.abc import Callable, Sequence
from types import CodeType, ModuleType, TracebackType
from typing import NamedTuple

from mindgrad._base.ending import tell_end
from mindgrad._base.foreign_calls import note_arguments
from mindgrad._base.foreign_names import MODULES, advice
from mindgrad._base.missing import PACKAGE, explain_missing_names, is_divided, is_own, nearest, public_modules
from mindgrad._base.module_names import loaded_second_names, own_name
from mindgrad.context import set_context
from mindgrad.core.base.refusal import trim

__all__ = ["install", "main"]

_ALIAS = "mindspore"
#: value of ``mindspore.__version__`` in programs that mindgrad runs. mindgrad follows version 2.10, but some
#: programs compare versions as strings or read only five characters, so each number must have a single digit.
_MINDSPORE = "2.9.0"

_USAGE = """usage: mindgrad [run] {script.py | folder | - | -m module | -c code} [args ...]
       mindgrad {%s} ...
       mindgrad [-h | -V]"""
_HELP = """%s

Run a Python program as `python` does, except that `import mindspore` and every import below it mean
mindgrad. An installed MindSpore is neither needed nor changed. `python -m mindgrad` is the same command.

  script.py      a program; a folder or zip file that holds __main__.py; or - for standard input
  -m module      a module or package, as for `python -m`
  -c code        a program given as a string
  args           arguments of the program, in sys.argv
  -h, --help     show this text
  -V, --version  show the version of mindgrad

commands (for details: `mindgrad COMMAND --help` or `mindgrad help COMMAND`):
%s

examples:
  mindgrad script.py --epochs 3
  mindgrad run --debug-nans script.py
  mindgrad launch --workers 4 script.py
  mindgrad check energy.py:energy "Tensor([1.0, 2.0])"
  mindgrad ops tanh
  mindgrad doctor

Exit status: the program's; for commands 0, 1 (problem found), or 2 (usage error).

A program chooses GRAPH_MODE or PYNATIVE_MODE by context.set_context(...). If it requests a GPU and no GPU
is available, it runs on the CPU, and a warning is printed to stderr. With MINDGRAD_STRICT_DEVICE=1, this
is an error.

Inside a Python program, mindgrad.install() has the same effect on all later imports.
"""
_RUN_HELP = """usage: mindgrad run [--debug-nans] {script.py | folder | - | -m module | -c code} [args ...]

Run a Python program in which `import mindspore` means mindgrad. Without options, `run` can be omitted.

  --debug-nans   raise an error at the line where an operator first produces NaN or infinity from finite
                 inputs, also in derivatives (docs/howto/find_nans.md)
  -h, --help     show this text

examples:
  mindgrad run --debug-nans train.py --epochs 3
  mindgrad run -m package.train

Exit status: the program's, or 2 (usage error).
"""


class _Command(NamedTuple):
    """A command: a module with a function ``main``, and one line of help."""

    module: str
    help: str


#: command name -> module that implements the command, imported when the command runs. ``run`` has no module,
#: because the launcher below implements it.
_COMMANDS = {
    "run": _Command("", "run a program; option: --debug-nans"),
    "launch": _Command("mindgrad.launch.command", "launch a program in several processes"),
    "msrun": _Command("mindgrad.launch.msrun", "launch a program with the options of MindSpore's msrun"),
    "source": _Command("mindgrad.inspect.source_command", "export a function or derivative as source code"),
    "draw": _Command("mindgrad.inspect.draw_command", "draw a function and its derivative"),
    "explain": _Command("mindgrad.inspect.explain_command", "explain how the compiler optimizes a function"),
    "check": _Command("mindgrad.inspect.check_command", "check derivatives against finite differences"),
    "ops": _Command("mindgrad.inspect.operators_command", "list operators, or show the rules of one"),
    "cache": _Command("mindgrad.inspect.cache_command", "show or clear the compiled programs on disk"),
    "doctor": _Command("mindgrad.inspect.doctor_command", "diagnose the installation"),
}


# --- import hook for ``mindspore`` ---


class _Loader:
    """Import loader that returns a loaded module, and preserves its ``__spec__``.

    The class is not derived from `importlib.abc.Loader`, because importing ``importlib.abc`` takes ten
    milliseconds.
    """

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.spec = module.__spec__

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec  # the import system has replaced this spec with the spec of the alias


class _Finder:
    """Import finder that maps ``mindspore.a.b`` to ``mindgrad.a.b``."""

    stands_for = _ALIAS

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != _ALIAS and not fullname.startswith(f"{_ALIAS}."):
            return None
        module = _own_module(PACKAGE + fullname.removeprefix(_ALIAS))
        if module is None:
            # raise an error instead of returning None, which would let the next finder import an installed
            # MindSpore
            raise ModuleNotFoundError(_no_module(fullname), name=fullname)
        for each in (module, *public_modules()):
            explain_missing_names(each)
        # Register all loaded modules under their ``mindspore`` names (aliases). If an alias was imported
        # later, Python would set an attribute of the parent package, which could replace a function with the
        # same name. Leave out the alias that is being imported, because Python would otherwise load its
        # module again.
        for name, loaded in list(sys.modules.items()):
            alias = _ALIAS + name.removeprefix(PACKAGE)
            if name.startswith(f"{PACKAGE}.") and alias != fullname:
                sys.modules.setdefault(alias, loaded)
                if is_divided(name) and is_own(loaded):
                    explain_missing_names(loaded)
        for name, loaded in loaded_second_names():
            alias = _ALIAS + name.removeprefix(PACKAGE)
            if alias != fullname:
                sys.modules.setdefault(alias, loaded)
            sys.modules.setdefault(name, loaded)
        return importlib.machinery.ModuleSpec(fullname, _Loader(module))  # type: ignore[arg-type]


def install() -> None:
    """Let ``import mindspore`` and imports below it return mindgrad's modules.

    ``install`` affects all later imports in the process. Further calls have no effect.

    After the call, ``mindgrad.__version__`` is the version of MindSpore that mindgrad replaces, because
    programs choose APIs by ``mindspore.__version__``. The version of mindgrad is
    ``importlib.metadata.version("mindgrad")``.

    Returns:
        Nothing.

    Raises:
        ImportError: If an installed ``mindspore`` has already been imported in this process. The program
            would mix objects of two libraries.

    Example:
        >>> import mindgrad
        >>> mindgrad.install()
        >>> import mindspore
        >>> mindspore is mindgrad
        True
        >>> from mindspore.ops import GradOperation
        >>> GradOperation is mindgrad.ops.GradOperation
        True

    See Also:
        :func:`mindgrad.run_check`
    """
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == _ALIAS and not is_own(module):
            place = getattr(module, "__file__", None) or "a module without a file"
            raise ImportError(
                f"{name!r} is already imported in this process, from {place}, so {PACKAGE} cannot "
                f"replace it. Call mindgrad.install() before the first import of {_ALIAS}, or "
                "start the program with `python -m mindgrad`.",
                name=name,
            )
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
        sys.modules[PACKAGE].__version__ = _MINDSPORE  # type: ignore[attr-defined]


def _own_module(name: str) -> ModuleType | None:
    """Import the module of this package with this name; ``None`` if it does not exist."""
    try:
        return importlib.import_module(own_name(name) or name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # the module exists, but an import inside it failed
    parent, _, child = name.rpartition(".")
    # the module may exist only as an attribute of its parent package
    value = getattr(sys.modules.get(parent), child, None)
    return value if isinstance(value, ModuleType) and is_own(value) else None


def _no_module(fullname: str) -> str:
    parent, _, child = fullname.rpartition(".")
    names = [
        name.rpartition(".")[2]
        for name, module in list(sys.modules.items())
        if name.rpartition(".")[0] == PACKAGE + parent.removeprefix(_ALIAS) and is_own(module)
    ]
    hint = advice(MODULES, child) or nearest(child, names)
    return f"No module named {fullname!r}: {PACKAGE} has no such module{hint}"


# --- launcher, which works like the command ``python`` ---


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line of ``mindgrad``.

    A program runs in this process as ``__main__``. The launcher replaces ``sys.argv``, ``sys.path[0]``, and
    the module ``__main__``. Exceptions of the program, including ``SystemExit``, propagate to the caller.

    Args:
        argv (list or tuple of str, optional): command line without the name ``mindgrad``. ``None``:
            ``sys.argv[1:]``. Default: ``None``.

    Returns:
        The exit status: 0 after a program, the status of a command such as ``check``, or 2 for a wrong
        command line.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    first = arguments[0] if arguments else ""
    if first == "help" and not _is_program(first):
        if len(arguments) > 1:
            command = arguments[1]
            if command not in _COMMANDS:
                return _refuse(f"no command is called {command!r}{nearest(command, list(_COMMANDS))}")
            return main([command, "--help"])
        first = "--help"
    if first in ("-h", "--help"):
        listed = "\n".join(f"  {name:<14} {command.help}" for name, command in _COMMANDS.items())
        print(_HELP % (_usage(), listed), end="")
        return 0
    if first in ("-V", "--version"):
        print(PACKAGE, sys.modules[PACKAGE].__version__)
        return 0
    if first in _COMMANDS and not _is_program(first):
        if first != "run":
            install()
            return _run_command(_COMMANDS[first].module, arguments[1:])
        del arguments[0]
        if arguments and arguments[0] in ("-h", "--help"):
            print(_RUN_HELP, end="")
            return 0
    if arguments and arguments[0] == "--debug-nans":
        del arguments[0]
        set_context(debug_nans=True)
    return _launch(arguments)


def _is_program(path: str) -> bool:
    """Check whether ``path`` is a program. Programs take precedence over commands."""
    return os.path.isfile(path) or os.path.isfile(os.path.join(path, "__main__.py"))


def _launch(arguments: list[str]) -> int:
    """Run a script, folder, module, string, or standard input."""
    first = arguments[0] if arguments else ""
    option = first[:2] if first[:2] in ("-c", "-m") else ""
    if option and len(first) > 2:  # "-ccode" means "-c code"
        arguments[:1] = [option, first[2:]]
    if not first or (option and len(arguments) < 2):
        return _refuse(f"{first} needs an argument" if option else "no program given")
    if first.startswith("-") and first != "-" and not option:
        return _refuse(f"unknown option {first}{nearest(first, ('--debug-nans', '--help', '--version'))}")
    install()
    try:
        if option == "-c":
            _run_code(arguments)
        elif option == "-m":
            _run_module(arguments)
        elif first == "-":
            _run_standard_input(arguments)
        else:
            _run_script(arguments)
    except SystemExit as end:
        tell_end(end.code)
        raise
    except BaseException:
        # the interpreter ends as usual, but the traceback omits the frames of the launcher
        sys.excepthook = _without_our_frames(sys.excepthook)
        raise
    return 0


def _run_command(module: str, arguments: list[str]) -> int:
    command: Callable[[list[str]], int] = importlib.import_module(module).main
    try:
        status = command(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of the output, for example `head`, has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status


def _refuse(reason: str) -> int:
    print(f"{PACKAGE}: {reason}\n{_usage()}\nTry: mindgrad --help", file=sys.stderr)
    return 2


def _usage() -> str:
    return _USAGE % " | ".join(name for name in _COMMANDS if name != "run")


def _fail(reason: str, status: int) -> SystemExit:
    print(f"{PACKAGE}: {reason}", file=sys.stderr)
    return SystemExit(status)


def _run_script(arguments: list[str]) -> None:
    path = os.path.join(os.getcwd(), arguments[0])
    sys.argv[:] = arguments
    container = importlib.machinery.PathFinder.find_spec("__main__", [path])
    if container is not None and container.loader is not None:  # a folder or zip file with ``__main__``
        _set_first_path(path)
        _run(_code_of(container), **_module_names(container))
        return
    _set_first_path(os.path.dirname(os.path.realpath(path)))
    try:
        with io.open_code(path) as file:
            source = file.read()
    except OSError as error:
        near = nearest(arguments[0], [*_COMMANDS, "help"]).replace("nearest:", "nearest command:")
        raise _fail(f"can't open file {path!r}: {error}{near}", 2) from None
    loader = importlib.machinery.SourceFileLoader("__main__", path)
    code = compile(source, path, "exec", dont_inherit=True)
    _run(code, __file__=path, __cached__=None, __loader__=loader)


def _run_module(arguments: list[str]) -> None:
    name = arguments[1]
    sys.argv[:] = ["-m", *arguments[2:]]
    _set_first_path(os.getcwd())
    spec = _find(name)
    if spec is not None and spec.submodule_search_locations is not None:
        name = f"{name}.__main__"
        spec = _find(name)
        if spec is None:
            package = name.removesuffix(".__main__")
            text = f"{package!r} is a package and cannot be directly executed"
            raise _fail(f"No module named {name}; {text}", 1)
    if spec is None:
        raise _fail(f"No module named {name}", 1)
    code = _code_of(spec)
    sys.argv[0] = str(spec.origin)
    _run(code, **_module_names(spec))


def _run_code(arguments: list[str]) -> None:
    sys.argv[:] = ["-c", *arguments[2:]]
    _run_text(arguments[1], "<mindgrad -c>")


def _run_standard_input(arguments: list[str]) -> None:
    sys.argv[:] = arguments
    _run_text(sys.stdin.read(), "<stdin>", __file__="<stdin>", __cached__=None)


def _run_text(source: str, name: str, **names: object) -> None:
    _set_first_path("")
    # Tracebacks and the compiler read the source code from ``linecache``. The file name must not be <string>,
    # because generated code, such as the methods of dataclasses, has this name.
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    code = compile(source, name, "exec", dont_inherit=True)
    _run(code, __loader__=importlib.machinery.BuiltinImporter, **names)


def _find(name: str) -> importlib.machinery.ModuleSpec | None:
    try:
        return importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # the parent package exists, but an import inside it failed
        text = f"Error while finding module specification for {name!r}"
        raise _fail(f"{text} ({type(error).__name__}: {error})", 1) from None


def _code_of(spec: importlib.machinery.ModuleSpec) -> CodeType:
    code = getattr(spec.loader, "get_code", lambda name: None)(spec.name)
    if code is None:
        raise _fail(f"No code object available for {spec.name}", 1)
    return code


def _module_names(spec: importlib.machinery.ModuleSpec) -> dict[str, object]:
    return {
        "__file__": spec.origin,
        "__cached__": spec.cached,
        "__loader__": spec.loader,
        "__package__": spec.parent,
        "__spec__": spec,
    }


def _set_first_path(entry: str) -> None:
    if not sys.flags.safe_path:  # ``python -P`` keeps the script's folder off the path
        sys.path[0] = entry


def _run(code: CodeType, **names: object) -> None:
    """Run code as the module ``__main__`` with additional variables."""
    module = ModuleType("__main__")
    vars(module).update(__builtins__=builtins, __annotations__={}, **names)
    sys.modules["__main__"] = module
    exec(code, vars(module))


def _without_our_frames(hook: Callable[..., object]) -> Callable[..., object]:
    """Wrap ``sys.excepthook`` to omit frames of mindgrad and its launcher."""

    def show(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> object:
        first = traceback
        while first is not None and not _is_ours(first):  # leave out the frames of ``python -m mindgrad``
            first = first.tb_next
        # leave out the frames of the launcher and of the import system: the user did not write them
        while first is not None and (_is_ours(first) or _is_import(first)):
            first = first.tb_next
        error = error.with_traceback(first)
        if isinstance(error, Exception):
            note_arguments(error, at_top=True)
            trim(error)
        return hook(kind, error, error.__traceback__)

    return show


def _is_ours(entry: TracebackType) -> bool:
    return entry.tb_frame.f_code.co_filename == __file__


def _is_import(entry: TracebackType) -> bool:
    name = str(entry.tb_frame.f_globals.get("__name__"))
    return name.partition(".")[0] in ("importlib", "_frozen_importlib", "_frozen_importlib_external")
