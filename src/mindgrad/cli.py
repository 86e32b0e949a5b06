"""The command line runs MindSpore programs on this package: ``mindgrad script.py`` and :func:`install`.

Two parts. A finder in front of ``sys.meta_path`` answers every import of ``mindspore`` and of what
is below it with the module of the same path in this package: the module itself, not a copy, so
that ``mindspore.Tensor is mindgrad.Tensor``. A launcher then does for a script, a module or a
piece of code what ``python`` itself does, so that the program cannot tell the difference.
A real MindSpore on the disk is never looked at.
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

from mindgrad._base import missing
from mindgrad._base.ending import tell_end
from mindgrad._base.foreign_names import MODULES, advice, note_keyword
from mindgrad._base.missing import PACKAGE, explain_missing_names, is_divided, is_own, nearest, public_modules
from mindgrad._base.module_names import loaded_second_names, own_name
from mindgrad.context import set_context

__all__ = ["install", "main"]

_ALIAS = "mindspore"
#: What programs are told that ask for the version of MindSpore. What counts here is 2.10, but programs
#: compare versions as text and cut them after five characters, which goes well with single digits only.
_MINDSPORE = "2.9.0"

_USAGE = """usage: mindgrad [run] {script.py | folder | - | -m module | -c code} [args ...]
       mindgrad {%s} ...
       mindgrad [-h | -V]"""
_HELP = """%s

Run a Python program as `python` does, except that `import mindspore` and every import below it mean
mindgrad. An installed MindSpore is neither needed nor changed. `python -m mindgrad` is the same command.

  script.py      a program; a folder or zip file that holds __main__.py; or - for standard input
  -m module      a module or package, found as `python -m` finds it
  -c code        a program given as a string
  args           arguments of the program, in sys.argv
  -h, --help     show this text
  -V, --version  show the version of mindgrad

commands (for details: `mindgrad COMMAND --help`):
%s

examples:
  mindgrad script.py --epochs 3
  mindgrad run --debug-nans script.py
  mindgrad launch --workers 4 script.py
  mindgrad check energy.py:energy "Tensor([1.0, 2.0])"
  mindgrad ops tanh
  mindgrad doctor

Exit status: the program's; for commands 0, 1 (problem found), or 2 (usage error).

The programs' own context.set_context(...) chooses between GRAPH_MODE and PYNATIVE_MODE. If no GPU is
available, the program runs on the CPU and prints a warning to stderr; MINDGRAD_STRICT_DEVICE=1 makes
this an error.

In your own program, mindgrad.install() has the same effect on the imports that follow it.
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
    """A command: the module whose function ``main`` it calls, and one line of help."""

    module: str
    help: str


#: the modules are loaded when their command is called; ``run`` is the launcher
_COMMANDS = {
    "run": _Command("", "run a program; option: --debug-nans"),
    "launch": _Command("mindgrad.launch.command", "launch a program in several processes"),
    "msrun": _Command("mindgrad.launch.msrun", "launch a program with the options of MindSpore's msrun"),
    "source": _Command("mindgrad.tools.source_command", "export a function or its derivative as source code"),
    "draw": _Command("mindgrad.tools.draw_command", "draw a function and its derivative"),
    "explain": _Command("mindgrad.tools.explain_command", "explain how the compiler optimizes a function"),
    "check": _Command("mindgrad.tools.check_command", "check derivatives against finite differences"),
    "ops": _Command("mindgrad.tools.operators_command", "list operators, or show the rules of one"),
    "cache": _Command("mindgrad.tools.cache_command", "show or clear the compiled programs on disk"),
    "doctor": _Command("mindgrad.tools.doctor_command", "diagnose the installation"),
}


# --- names: what `import mindspore` means ---


class _Loader:
    """Hands out a module that is already loaded, and leaves its own ``__spec__`` in place.

    Not derived from `importlib.abc.Loader`, whose import alone takes ten milliseconds.
    """

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.spec = module.__spec__

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec  # the import system has just put the alias's spec there


class _Finder:
    """Finds ``mindspore.a.b`` as ``mindgrad.a.b``; leaves every other name to the next finder."""

    stands_for = _ALIAS

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != _ALIAS and not fullname.startswith(f"{_ALIAS}."):
            return None
        module = _own_module(PACKAGE + fullname.removeprefix(_ALIAS))
        if module is None:
            # Answering None would let the next finder look for a real MindSpore's module.
            raise ModuleNotFoundError(_no_module(fullname), name=fullname)
        for each in (module, *public_modules()):
            explain_missing_names(each)
        # What is loaded is known under its second name too, as it would be had this package that name:
        # importing it then does not set the attribute of its parent, which may be a function by now.
        # Not this module itself: what is there when its finder answers is loaded by its own spec, again.
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
    """Make ``import mindspore``, and every import below it, mean this package.

    Holds for the imports that follow, in the whole process; calling it again changes nothing. From then
    on ``mindgrad.__version__`` says which version of MindSpore the package stands for, because programs
    choose by ``mindspore.__version__`` what they call; its own version is what
    ``importlib.metadata.version("mindgrad")`` says.

    Raises:
        ImportError: another ``mindspore`` has been imported in this process already: objects of
            two libraries would meet in one program.

    Example:
        >>> import mindgrad
        >>> mindgrad.install()
        >>> import mindspore
        >>> mindspore is mindgrad
        True
        >>> from mindspore.ops import GradOperation
        >>> GradOperation is mindgrad.ops.GradOperation
        True
    """
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == _ALIAS and not is_own(module):
            place = getattr(module, "__file__", None) or "a module without a file"
            raise ImportError(
                f"{name!r} is already imported in this process, from {place}, so it cannot come to "
                f"mean {PACKAGE}. Call mindgrad.install() before the first import of {_ALIAS}, or "
                "start the program with `python -m mindgrad`.",
                name=name,
            )
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
        sys.modules[PACKAGE].__version__ = _MINDSPORE  # type: ignore[attr-defined]


def _own_module(name: str) -> ModuleType | None:
    """The module of this package with that name; None if there is none."""
    try:
        return importlib.import_module(own_name(name) or name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # the module is there, and something that it needs is not
    parent, _, child = name.rpartition(".")
    value = getattr(sys.modules.get(parent), child, None)  # a module under a second name
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


# --- the launcher: what `python` does ---


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program that the command line `argv` names, in this process, as ``__main__``.

    `argv` has no program name in front (default ``sys.argv[1:]``). The program takes the process
    over: ``sys.argv``, ``sys.path[0]`` and the module ``__main__`` become its own; its exceptions
    and ``SystemExit`` pass through. Returns the exit status: 0, or 2 for a wrong command line.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    first = arguments[0] if arguments else ""
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
    """Whether a name is that of a program, which is run though there is a command of that name."""
    return os.path.isfile(path) or os.path.isfile(os.path.join(path, "__main__.py"))


def _launch(arguments: list[str]) -> int:
    """Run the program that the arguments name."""
    first = arguments[0] if arguments else ""
    option = first[:2] if first[:2] in ("-c", "-m") else ""
    if option and len(first) > 2:  # -ccode is -c code
        arguments[:1] = [option, first[2:]]
    if not first or (option and len(arguments) < 2):
        return _refuse(f"{first} needs an argument" if option else "which program?")
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
        # Raised on, so that the interpreter ends as it always does (KeyboardInterrupt included).
        sys.excepthook = _without_our_frames(sys.excepthook)
        raise
    return 0


def _run_command(module: str, arguments: list[str]) -> int:
    command: Callable[[list[str]], int] = importlib.import_module(module).main
    try:
        status = command(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # who reads the output, `head` say, has enough of it
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
    if container is not None and container.loader is not None:  # a folder or a zip file
        _set_first_path(path)
        _run(_code_of(container), **_module_names(container))
        return
    _set_first_path(os.path.dirname(os.path.realpath(path)))
    try:
        with io.open_code(path) as file:
            source = file.read()
    except OSError as error:
        near = nearest(arguments[0], list(_COMMANDS)).replace("nearest:", "nearest command:")
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
    # Graph mode reads the source of functions, and tracebacks show it: both look here. (The entry
    # is not called <string>, for that is what generated code, of dataclasses say, calls itself.)
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    code = compile(source, name, "exec", dont_inherit=True)
    _run(code, __loader__=importlib.machinery.BuiltinImporter, **names)


def _find(name: str) -> importlib.machinery.ModuleSpec | None:
    try:
        return importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # a package on the way is there and imports something that is not
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
    if not sys.flags.safe_path:  # `python -P` puts nothing there that could be replaced
        sys.path[0] = entry


def _run(code: CodeType, **names: object) -> None:
    """Run the code as the module ``__main__``, which has the given names beside the usual ones."""
    module = ModuleType("__main__")
    vars(module).update(__builtins__=builtins, __annotations__={}, **names)
    sys.modules["__main__"] = module
    exec(code, vars(module))


def _without_our_frames(hook: Callable[..., object]) -> Callable[..., object]:
    """An excepthook that shows what `hook` shows, without the frames of this file."""

    def show(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> object:
        note_keyword(error)  # of a call from the top of the script, which no function of ours has seen
        first = traceback
        while first is not None and not _is_ours(first):  # how `python -m mindgrad` got here
            first = first.tb_next
        # Then the import machinery as well, where the launcher was looking for the module to run.
        while first is not None and (_is_ours(first) or _is_import(first)):
            first = first.tb_next
        # A name that is missing is said here, but asked for by the program.
        frames = [] if first is None else [first]
        while frames and frames[-1].tb_next is not None:
            frames.append(frames[-1].tb_next)
        if frames and _is_ours(frames[-1]):
            while _is_ours(frames[-1]) or _is_import(frames[-1]):
                frames.pop()
            frames[-1].tb_next = None
        return hook(kind, error.with_traceback(first), first)

    return show


def _is_ours(entry: TracebackType) -> bool:
    return entry.tb_frame.f_code.co_filename in (__file__, missing.__file__)


def _is_import(entry: TracebackType) -> bool:
    name = str(entry.tb_frame.f_globals.get("__name__"))
    return name.partition(".")[0] in ("importlib", "_frozen_importlib", "_frozen_importlib_external")
