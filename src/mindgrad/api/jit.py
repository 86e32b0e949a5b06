"""``jit`` (``ms_function`` in MindSpore 1.x): compile a function in both modes."""

from __future__ import annotations

import difflib
import functools
import inspect
import os.path
import sys
import types
from collections.abc import Callable
from typing import Any

from mindgrad._base.foreign_names import REMEDIES, advice
from mindgrad.api.arguments import check_instance
from mindgrad.api.entry_points import ENTRY_POINTS, leave
from mindgrad.api.input_signature import InputSignature
from mindgrad.core.base.location import PACKAGE
from mindgrad.frontend.programs.cache import CacheInfo
from mindgrad.frontend.programs.compiled import Compiled
from mindgrad.frontend.programs.object_cache import remembered

__all__ = ["JitConfig", "JitFunction", "jit", "jit_class", "lazy_inline", "ms_function"]


class JitFunction:
    """A function that is compiled once for each signature of its arguments.

    If another compiled function calls it, or a derivative in PYNATIVE_MODE includes the call, the function
    becomes part of the enclosing function. As an attribute of a class, it binds like a method. If the class
    attribute ``compiles`` is true, ``grad`` of a JitFunction compiles the whole gradient.
    """

    compiles = True
    #: names of attributes. Two JitFunctions are equal if they wrap the same function
    compared_by = ("__wrapped__",)

    def __init__(self, function: Callable[..., Any], signature: InputSignature | None = None) -> None:
        functools.update_wrapper(self, function)
        self._compiled = Compiled(function, None if signature is None else signature.open_sizes())
        self._signature = signature

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            if self._signature is not None:
                self._signature.check(args, kwargs)
            return self._compiled.call(args, kwargs)
        except Exception:
            leave()
            raise

    def __repr__(self) -> str:
        function = self.__wrapped__  # type: ignore[attr-defined]
        name = getattr(function, "__name__", None) or type(function).__name__
        try:
            signature = str(inspect.signature(getattr(function, "construct", function)))
        except (TypeError, ValueError):
            signature = "(...)"
        code = getattr(getattr(function, "construct", function), "__code__", None)
        location = ""
        if code is not None and not code.co_filename.startswith(PACKAGE):
            location = f" in {os.path.basename(code.co_filename)}:{code.co_firstlineno}"
        count = self.cache_info().currsize
        return f"<jit of {name}{signature}{location}, {count} program{'s' * (count != 1)} compiled>"

    def __reduce__(self) -> Any:
        """Pickle this object by its qualified name, or else by its wrapped function."""
        name = self.__dict__.get("__qualname__", "")
        named: Any = sys.modules.get(self.__module__)
        for part in name.split("."):
            named = getattr(named, part, None)
        return name if named is self else (JitFunction, (self._compiled.function, self._signature))

    def cache_info(self) -> CacheInfo:
        """Return hits and misses of the compile cache, and why functions were compiled."""
        return self._compiled.cache_info()

    def cache_clear(self) -> None:
        """Delete all compiled versions of the function."""
        self._compiled.cache_clear()

    def __get__(self, owner: Any, kind: type | None = None) -> JitFunction:
        if owner is None:
            return self
        return remembered(
            owner,
            ("bound", self),
            lambda: JitFunction(types.MethodType(self._compiled.function, owner), self._signature),
        )


ENTRY_POINTS.add(JitFunction.__call__.__code__)

_PARAMETERS = ("fn", "input_signature", "hash_args", "jit_config", "compile_once")
#: keyword arguments of ``jit`` in the versions of MindSpore, which mindgrad accepts and ignores
_OPTIONS = (
    "function", "obj", "mode", "capture_mode", "jit_level", "dynamic", "fullgraph", "backend",
    "disable_format_transform", "exec_order", "ge_options", "infer_boost", "auto_offload", "exc_mode",
    "jit_syntax_level", "debug_level",
)  # fmt: skip


def jit(
    fn: Callable[..., Any] | None = None,
    input_signature: Any = None,
    hash_args: Any = None,
    jit_config: Any = None,
    compile_once: bool = False,
    **options: Any,
) -> Any:
    """Compile a function, method, or Cell.

    ``jit`` works as a decorator with and without arguments. The function is traced and compiled at the first
    call with each combination of shapes and dtypes.

    Args:
        fn (Callable or Cell, optional): function to compile. ``None``: return a decorator. Default: ``None``.
        input_signature (Tensor, tuple, or list, optional): declaration of the only inputs that ``fn``
            accepts: a Tensor, or a tuple with one entry for each input. Only the shape and dtype of a
            declared Tensor matter. ``Tensor(shape=[None, 3], dtype=float32)`` has a dynamic first axis. An
            entry ``None`` accepts any input. All dynamic sizes share compiled programs, whose inputs are
            padded to 16, 32, 64, ... elements. If an operator does not support padding, such as a sort along
            the dynamic axis, each size has a separate program and a warning names the operator. ``None``:
            ``fn`` accepts any inputs. Default: ``None``.
        hash_args (Any, optional): accepted for compatibility. Default: ``None``.
        jit_config (JitConfig, optional): accepted for compatibility. Default: ``None``.
        compile_once (bool, optional): accepted for compatibility. Default: ``False``.
        **options (Any): MindSpore's other options (``capture_mode``, ``jit_level``, ...), accepted for
            compatibility, and ``function``, another name of ``fn``.

    Returns:
        Callable: the compiled function, or a decorator if ``fn`` is ``None``.

    Raises:
        TypeError: If ``fn`` is not callable or is a Cell class, or if a keyword is not an option of
            MindSpore's ``jit``. Also if the dtypes of the inputs of a call differ from ``input_signature``.
        ValueError: If the shapes or the number of inputs of a call differ from ``input_signature``.

    >>> import mindgrad as ms
    >>> @ms.jit
    ... def f(x):
    ...     return x * x
    >>> print(f(ms.Tensor([3.0])))
    [9.]

    See Also:
        :func:`mindgrad.grad`, :func:`mindgrad.vmap`, :func:`mindgrad.explain`, :func:`mindgrad.set_context`
    """
    for name in options:
        if name not in _OPTIONS:
            near = difflib.get_close_matches(name, [*_OPTIONS, *_PARAMETERS], 1)
            hint = f". Did you mean {near[0]!r}?" if near else f". There are {', '.join(_OPTIONS)}."
            raise TypeError(f"For 'jit', unknown option {name!r}{advice(REMEDIES, name) or hint}")
    fn = options.get("function", fn)

    def decorate(function: Callable[..., Any]) -> JitFunction:
        check_instance("jit", function)
        if not callable(function):
            raise TypeError(f"For 'jit', 'fn' must be a function or Cell, but got {function!r}.")
        signature = None
        if input_signature is not None and not (
            isinstance(input_signature, str) and input_signature == "auto"
        ):
            name = getattr(function, "__name__", type(function).__name__)
            signature = InputSignature(input_signature, name)
        if isinstance(function, JitFunction):
            return function if signature is None else JitFunction(function._compiled.function, signature)
        return JitFunction(function, signature)

    return decorate if fn is None else decorate(fn)


#: the name of :func:`jit` in MindSpore r1.x
ms_function = jit


class JitConfig:
    """MindSpore's compiler options of a Cell, which have no effect in mindgrad.

    Args:
        jit_level (str, optional): ``"O0"``, ``"O1"``, or ``"O2"``. Cells are always compiled as a whole, with
            all optimizations. Default: ``""``.
        exc_mode (str, optional): ``"auto"``, ``"sink"``, or ``"no_sink"``. Default: ``"auto"``.
        jit_syntax_level (str, optional): ``"STRICT"`` or ``"LAX"``. Default: ``""``.
        **options (Any): other compiler options of MindSpore, accepted for compatibility.

    >>> import mindgrad as ms
    >>> ms.JitConfig(jit_level="O1").jit_config_dict["jit_level"]
    'O1'

    See Also:
        :func:`mindgrad.jit`
    """

    def __init__(
        self, jit_level: str = "", exc_mode: str = "auto", jit_syntax_level: str = "", **options: Any
    ) -> None:
        #: names and values of MindSpore's compiler options
        self.jit_config_dict = {
            "jit_level": jit_level, "exc_mode": exc_mode, "jit_syntax_level": jit_syntax_level, **options
        }  # fmt: skip


def jit_class(cls: type) -> type:
    """Return a class unchanged, for compatibility with MindSpore.

    In MindSpore, compiled functions can only use classes that are decorated with ``jit_class``. Compiled
    functions of mindgrad can use all classes.

    Args:
        cls (type): class to return.

    Returns:
        type: ``cls``.

    Raises:
        TypeError: If ``cls`` is not a class, or is a Cell class.

    >>> import mindgrad as ms
    >>> @ms.jit_class
    ... class Line:
    ...     def __init__(self, slope):
    ...         self.slope = slope
    ...     def at(self, x):
    ...         return self.slope * x
    >>> line = Line(ms.Tensor([2.0]))
    >>> print(ms.jit(lambda x: line.at(x))(ms.Tensor([3.0])))
    [6.]

    See Also:
        :func:`mindgrad.jit`
    """
    if not isinstance(cls, type):
        raise TypeError(f"Decorator jit_class can only be used for class type, but got {cls!r}.")
    if hasattr(cls, "construct"):
        raise TypeError(
            f"Decorator jit_class is used for user-defined classes and cannot be used for nn.Cell: {cls!r}."
        )
    return cls


def lazy_inline(fn: Callable[..., Any] | None = None, attrs: Any = None, policy: Any = None) -> Any:
    """Return the ``__init__`` of a Cell unchanged, for compatibility.

    MindSpore compiles a Cell once for all its uses if its ``__init__`` has this decorator.

    Args:
        fn (Callable, optional): ``__init__`` method of a Cell. ``None``: return a decorator. Default:
            ``None``.
        attrs (Any, optional): accepted for compatibility. Default: ``None``.
        policy (Any, optional): accepted for compatibility. Default: ``None``.

    Returns:
        Callable: ``fn`` unchanged, or a decorator if ``fn`` is ``None``.

    >>> import mindgrad as ms
    >>> class Block(ms.nn.Cell):
    ...     @ms.lazy_inline
    ...     def __init__(self):
    ...         super().__init__()
    ...     def construct(self, x):
    ...         return x * x
    >>> print(Block()(ms.Tensor([3.0])))
    [9.]

    See Also:
        :func:`mindgrad.jit`
    """
    return lazy_inline if fn is None else fn


def no_inline(fn: Callable[..., Any] | None = None) -> Any:
    """Return a function unchanged, for compatibility.

    MindSpore compiles a function once for all its calls if it has this decorator.

    Args:
        fn (Callable, optional): function to return. ``None``: return a decorator. Default: ``None``.

    Returns:
        Callable: ``fn`` unchanged, or a decorator if ``fn`` is ``None``.

    >>> import mindgrad as ms
    >>> @ms.no_inline
    ... def square(x):
    ...     return x * x
    >>> print(square(ms.Tensor([3.0])))
    [9.]

    See Also:
        :func:`mindgrad.jit`, :func:`mindgrad.lazy_inline`
    """
    return no_inline if fn is None else fn
