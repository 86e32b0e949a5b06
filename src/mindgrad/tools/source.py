"""``source`` writes a function, or its derivative, as a Python program that a person can read and run.

    source(f, x) = text,    exec(text);  f'(x) = f(x) up to rounding

The function is traced as it is compiled, and its graph is written with NumPy, jax or MindSpore: with the
user's names, the lines that the statements come from, and loops as loops.

Cost: one trace, and a text of about one line for each operator. Limits: hooks are Python, and are refused.
"""

from __future__ import annotations

import inspect
import os
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mindgrad._base.tree import flatten, map_leaves, paths, unflatten
from mindgrad.api.arguments import check_callable
from mindgrad.api.callables import arity
from mindgrad.api.gradient import grad
from mindgrad.emit.function import Signature, argument_paths, emitted, head_of, structured
from mindgrad.emit.jax_target import JaxTarget
from mindgrad.emit.mindspore_target import MindsporeTarget
from mindgrad.emit.names import identifier
from mindgrad.emit.numpy_target import NumpyTarget
from mindgrad.execution.compiled import Compiled
from mindgrad.execution.object_cache import memory
from mindgrad.ir.constant_arguments import is_constant
from mindgrad.ir.mutable import MutableFloat
from mindgrad.ir.rewriting import without_rewrites
from mindgrad.ir.tensor import Tensor
from mindgrad.optimize.pipeline import before_compilation
from mindgrad.trace.tracing import DATA, NUMBER, TENSOR, kind_of, trace_of

__all__ = ["LANGUAGES", "Source", "source"]

_TARGETS: dict[str, Callable[[], Any]] = {
    "numpy": NumpyTarget,
    "jax": JaxTarget,
    "mindspore": MindsporeTarget,
}

#: what ``emit`` can be
LANGUAGES = tuple(_TARGETS)


class Source:
    """The result of :func:`source`; as text the program.

    Attributes:
        text: the program.
        name: the function that it defines.
        arguments: what the function was written for, by name, with NumPy arrays for Tensors.
        parameters: the values of its keyword arguments: Parameters, and constants too large for the text.
    """

    def __init__(
        self,
        text: str,
        name: str,
        arguments: dict[str, Any],
        parameters: dict[str, np.ndarray],
        target: Any,
    ) -> None:
        self._target = target
        self.text = text
        self.name = name
        self.arguments = arguments
        self.parameters = parameters

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def function(self) -> Callable[..., Any]:
        """The function that the program defines."""
        module = types.ModuleType(self.name)
        own = self._target.builtins()
        if own is not None:
            vars(module)["__builtins__"] = own
        with self._target.scope():
            exec(compile(self.text, f"<source of {self.name}>", "exec"), vars(module))
        defined: Callable[..., Any] = getattr(module, self.name)

        def scoped(*args: Any, **kwargs: Any) -> Any:
            with self._target.scope():
                return defined(*args, **kwargs)

        scoped.__name__, scoped.__doc__ = defined.__name__, defined.__doc__
        return scoped

    def run(self) -> Any:
        """The results for the arguments that the program was written for."""
        as_input = self._target.as_input
        arrays = map_leaves(as_input, {**self.arguments, **self.parameters})
        return self.function()(**arrays)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the program to a file, and its arguments to one of the same name that ends in ``npz``.

        Run as a script, the file loads them and prints the results.
        """
        file = Path(path)
        values = file.with_suffix(".npz")
        leaves, structure = flatten({**self.arguments, **self.parameters})
        names = [identifier(path) for path in paths(structure)]
        np.savez(values, **dict(zip(names, map(np.asarray, leaves), strict=True)))  # type: ignore[arg-type]
        loaded = [self._target.loaded(f"values[{name!r}]") for name in names]
        keywords = structured(structure, flatten(None)[1], loaded)
        lines = [
            "", "", 'if __name__ == "__main__":', "    from pathlib import Path",
            "", "    import numpy as np", "",
            f"    values = np.load(Path(__file__).with_name({values.name!r}))",
            f"    print({self.name}(**{keywords}))", "",
        ]  # fmt: skip
        file.write_text(self.text + "\n".join(lines), encoding="utf-8")


def source(
    fn: Callable[..., Any],
    *args: Any,
    order: int = 0,
    emit: str = "numpy",
    rewrites: bool = True,
    **kwargs: Any,
) -> Source:
    """A function, or its derivative, as a Python program.

    Args:
        fn: a function, Cell, gradient function (``grad(net)``), or compiled function.
        args, kwargs: what it is called with: Tensors, or containers of them; other values become constants
            of the program, but for floats, which are arguments where their value decides nothing.
        order: the order of the derivative to write, with respect to the first argument: 0 for ``fn`` itself.
        emit: the library that the program uses: ``"numpy"``, ``"jax"`` or ``"mindspore"``.
        rewrites: whether the program is written as it is compiled, or as the function and the rules of
            differentiation have it.

    Returns:
        A :class:`Source`: its text is the program, ``run()`` runs it. The program takes the arguments of
        ``fn`` as arrays, and Parameters by keyword. It gives what ``fn`` gives, in tuples, lists and dicts;
        if ``fn`` writes Parameters, a tuple of that and a dict of their new values.

    Raises:
        TypeError: ``fn`` is no function or Cell.
        ValueError: ``emit`` names no library, or ``order`` is negative.
        NotImplementedError: an operator cannot be written for this library.

    >>> import mindgrad as ms
    >>> program = ms.source(lambda x: ms.ops.sin(x) * x, ms.Tensor([1.0, 2.0]), order=1)
    >>> print(program.text.splitlines()[-1])
        return dx
    >>> print(program.run().round(3))
    [1.382 0.077]
    """
    check_callable("source", fn)
    if emit not in _TARGETS:
        raise ValueError(
            f"For 'source', 'emit' should be one of {', '.join(map(repr, _TARGETS))}, but got {emit!r}."
        )
    if not isinstance(order, int) or isinstance(order, bool) or order < 0:
        raise ValueError(f"For 'source', 'order' should be an int of at least 0, but got {order!r}.")
    for _ in range(order):
        fn = grad(fn)
    if rewrites:
        return _written(fn, args, kwargs, _TARGETS[emit]())
    with without_rewrites():
        return _written(fn, args, kwargs, _TARGETS[emit]())


def _written(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], target: Any) -> Source:
    leaves, structure = flatten((args, kwargs))
    traced, leaves = _traced(fn, leaves, structure)
    graph = before_compilation(traced.graph)
    where = argument_paths(structure, arity(fn).names)
    at = [k for k, x in enumerate(leaves) if _is_input(x)]
    base, order = _differentiated(fn)
    name = _function_name(fn)
    _, leaf = flatten(0.0)

    def result(texts: Sequence[str]) -> str:
        remaining = iter(texts)
        shown = [next(remaining) if kind_of(x) in (TENSOR, NUMBER) else repr(x) for x in traced.results]
        return structured(traced.structure, leaf, shown)

    outputs = graph.outputs[len(traced.written) :]
    kinds = [kind_of(x) for x in traced.results]
    results = outputs[: sum(kind in (TENSOR, NUMBER) for kind in kinds)]
    signature = Signature(
        name=name,
        arguments=[where[k] for k in at],
        parameters=[p.name for p in traced.parameters],
        results=_result_names(
            base, order, [y.type for y in results], [where[k] for k in at], traced.parameters
        ),
        structure=result,
        written=[p.name for p in traced.written],
        file=_file_of(base),
        summary=_summary(base, order, target.language),
    )
    module = emitted(graph, signature, target)
    values = {each: traced.parameters[k].asnumpy() for each, k in module.parameters.items()}
    return Source(module.text, name, _arguments(where, leaves, structure), values | module.constants, target)


def _arguments(where: Sequence[str], leaves: Sequence[Any], structure: Any) -> dict[str, Any]:
    """The arguments with something in them that the program takes, by name, with arrays for Tensors."""
    is_input = [_is_input(x) for x in leaves]
    args, kwargs = unflatten(
        structure, [_array(x) if f else x for x, f in zip(leaves, is_input, strict=True)]
    )
    values = [*args, *kwargs.values()]
    owners = iter(zip(where, is_input, strict=True))
    arguments = {}
    for value in values:
        own = [next(owners) for _ in flatten(value)[0]]
        if any(f for _, f in own):
            arguments[head_of(own[0][0])] = value
    return arguments


def _traced(fn: Callable[..., Any], leaves: list[Any], structure: Any) -> tuple[Any, list[Any]]:
    """The trace, with floats as data if their values decide nothing."""
    if any(type(x) is float for x in leaves):
        data = [MutableFloat(x) if type(x) is float else x for x in leaves]
        try:
            return trace_of(fn, data, structure), data
        except Exception:
            pass  # a value decides: it is a constant
    return trace_of(fn, leaves, structure), leaves


def _is_input(leaf: Any) -> bool:
    if isinstance(leaf, Tensor):
        return not (leaf.is_parameter or is_constant(leaf))
    return type(leaf) in DATA


def _array(leaf: Any) -> Any:
    return leaf.asnumpy() if isinstance(leaf, Tensor) else np.float64(leaf)


# --- names -------------------------------------------------------------------------------------------


def _differentiated(fn: Any) -> tuple[Any, int]:
    """The function that nested gradient functions differentiate, and their number."""
    order = 0
    while True:
        facts = memory(fn, make=False)
        if facts is None or facts.source is None:
            return fn, order
        fn, order = facts.source, order + 1


def _own_name(fn: Any) -> str:
    if isinstance(fn, Compiled):
        fn = fn.function
    name = getattr(fn, "__name__", None) or type(fn).__name__
    return "function" if name == "<lambda>" else identifier(name)


def _function_name(fn: Any) -> str:
    return _own_name(fn).replace("_lambda_", "_function")


def _result_names(
    base: Any, order: int, types: Sequence[Any], arguments: Sequence[str], parameters: Sequence[Any]
) -> list[str | None]:
    """Names of the outputs of a derivative: ``du_dx``, ``d2u_dx2``, ``d_dense_weight``."""
    names: list[str | None] = [None] * len(types)
    if order == 0:
        return names
    count = len(parameters)
    if count and [p.type for p in parameters] == list(types[-count:]):
        names[-count:] = [f"d_{identifier(p.name)}" for p in parameters]
    elif len(types) == 1 and arguments:
        name = _own_name(base).removeprefix("function")
        power = "" if order == 1 else str(order)
        first = f"d{power}{name}" if name or power else ""
        names = [f"{first}_d{identifier(arguments[0])}{power}".lstrip("_")]
    return names


def _file_of(fn: Any) -> str | None:
    target = getattr(fn, "construct", fn)
    code = getattr(inspect.unwrap(target), "__code__", None)
    return None if code is None else code.co_filename


def _summary(base: Any, order: int, language: str) -> str:
    prefix = (
        "" if order == 0 else "The derivative of " if order == 1 else f"The derivative of order {order} of "
    )
    target = getattr(base, "construct", base)
    code = getattr(inspect.unwrap(target), "__code__", None)
    place = "" if code is None else f" ({os.path.basename(code.co_filename)}, line {code.co_firstlineno})"
    return f"{prefix}{_own_name(base)}{place}, written for {language} by mindgrad."
