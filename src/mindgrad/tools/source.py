"""``source`` writes a function, or its derivative, as a Python program that a person can read and run.

    source(f, x) = text,    exec(text);  f'(x) = f(x) up to rounding

The function is traced as it is compiled, and its graph is written with NumPy, jax or MindSpore: with the
user's names, the lines that the statements come from, and loops as loops.

Cost: one trace, and a text of about one line for each operator. Limits: hooks are Python, and are refused.
"""

from __future__ import annotations

import os
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mindgrad._base.tree import flatten, map_leaves, paths
from mindgrad.api.arguments import check_callable
from mindgrad.emit.function import Signature, emitted, structured
from mindgrad.emit.jax_target import JaxTarget
from mindgrad.emit.mindspore_target import MindsporeTarget
from mindgrad.emit.names import Names
from mindgrad.emit.numpy_target import NumpyTarget
from mindgrad.tools.traced_program import traced_derivative

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
        self, text: str, name: str, arguments: dict[str, Any], parameters: dict[str, np.ndarray], target: Any
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
        names, arguments = Names(()), []
        arrays: dict[str, Any] = {}
        for keyword, value in {**self.arguments, **self.parameters}.items():
            leaves, structure = flatten(value)
            own = [names.fresh(keyword + path) for path in paths(structure)]
            arrays.update(zip(own, map(np.asarray, leaves), strict=True))
            loaded = [self._target.loaded(f"values[{name!r}]") for name in own]
            arguments.append(f"{keyword}={structured(structure, flatten(None)[1], loaded)}")
        np.savez(values, **arrays)
        call = f"{self.name}({', '.join(arguments)})"
        if len(call) > 88:
            separated = ",\n        ".join(arguments)
            call = f"{self.name}(\n        {separated},\n    )"
        lines = [
            "", "", 'if __name__ == "__main__":', "    from pathlib import Path",
            "", "    import numpy as np", "",
            f"    values = np.load(Path(__file__).with_name({values.name!r}))",
            f"    print({call})", "",
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
    program = traced_derivative("source", fn, args, kwargs, order, rewrites, with_floats=True)
    target = _TARGETS[emit]()
    signature = Signature(
        name=program.name,
        arguments=program.argument_paths,
        parameters=[p.name for p in program.parameters],
        results=program.result_names,
        structure=program.structured,
        written=[p.name for p in program.written],
        file=program.file,
        summary=f"{program.title}, written for {target.language} by mindgrad.",
    )
    module = emitted(program.graph, signature, target)
    values = {name: program.parameters[k].asnumpy() for name, k in module.parameters.items()}
    return Source(module.text, program.name, program.arguments, values | module.constants, target)
