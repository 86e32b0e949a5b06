"""``source``: export of a function or its derivative as readable Python source.

    source(f, x) = text,    exec(text);  f'(x) = f(x) up to rounding

The function is traced as for compilation, and its graph is written as calls of NumPy, JAX or MindSpore. The
source uses the names in the user's code, refers to its lines, and keeps its loops. It has about one line for
each operator. Functions with hooks cannot be written, because hooks are arbitrary Python code.
"""

from __future__ import annotations

import os
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mindgrad.api.arguments import check_callable
from mindgrad.core.base.tree import flatten, map_leaves, paths
from mindgrad.inspect.emit.function import Signature, emitted, structured
from mindgrad.inspect.emit.jax_target import JaxTarget
from mindgrad.inspect.emit.mindspore_target import MindsporeTarget
from mindgrad.inspect.emit.names import Names
from mindgrad.inspect.emit.numpy_target import NumpyTarget
from mindgrad.inspect.traced_program import traced_derivative

__all__ = ["LANGUAGES", "Source", "source"]

_TARGETS: dict[str, Callable[[], Any]] = {
    "numpy": NumpyTarget,
    "jax": JaxTarget,
    "mindspore": MindsporeTarget,
}

#: value of the argument ``emit`` -> name of the library that the emitted program uses
_LIBRARIES = {"numpy": "NumPy", "jax": "JAX", "mindspore": "MindSpore"}
#: accepted values of the argument ``emit``
LANGUAGES = tuple(_TARGETS)


class Source:
    """The result of :func:`source`. ``print`` shows the program.

    Attributes:
        text (str): source text of the program.
        name (str): name of the function that the program defines.
        arguments (dict): maps names to the arguments with which the function was traced. Tensors are
            converted to NumPy arrays.
        parameters (dict): maps keyword arguments of the program to their values: Parameters, and constants
            that are too large for the program text.
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
        """Return the function that the program defines."""
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
        """Run the program with its recorded arguments, and return the results."""
        as_input = self._target.as_input
        arrays = map_leaves(as_input, {**self.arguments, **self.parameters})
        return self.function()(**arrays)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the program to a file, and its arguments to an ``npz`` file.

        If the file runs as a script, it loads the arguments from the ``npz`` file of the same name and prints
        the results.

        Args:
            path (str or PathLike): name of the Python file.
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
    """Write a function or its derivative as a Python program.

    Args:
        fn (Callable or Cell): function to export: a function, Cell, gradient function such as ``grad(net)``,
            or compiled function.
        *args (Any): positional arguments of ``fn``: Tensors or containers of them. Floats become arguments of
            the program, unless their value decides a branch. Other values become constants.
        order (int, optional): order of the exported derivative of ``fn`` with respect to its first argument;
            0 for ``fn`` itself. Default: ``0``.
        emit (str, optional): library that the program uses: ``"numpy"``, ``"jax"``, or ``"mindspore"``.
            Default: ``"numpy"``.
        rewrites (bool, optional): whether to write the optimized program. ``False``: write the function and
            the differentiation rules as written. Default: ``True``.
        **kwargs (Any): keyword arguments of ``fn``.

    Returns:
        Source: generated program. ``print`` shows the program, and ``run()`` runs it. The program takes the
        arguments of ``fn`` as arrays, and Parameters by keyword. It returns the result of ``fn`` in tuples,
        lists, and dicts. If ``fn`` assigns Parameters, it returns a tuple of the result and a dict of the new
        values.

    Raises:
        TypeError: If ``fn`` is not callable.
        ValueError: If ``emit`` is not a supported library, or ``order`` is negative.
        NotImplementedError: If an operator of the program cannot be written for the library ``emit``.

    >>> import mindgrad as ms
    >>> program = ms.source(lambda x: ms.ops.sin(x) * x, ms.Tensor([1.0, 2.0]), order=1)
    >>> print(program.text.splitlines()[-1])
        return dx
    >>> print(program.run().round(3))
    [1.382 0.077]

    See Also:
        :func:`mindgrad.explain`, :func:`mindgrad.draw`
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
        summary=f"{program.title}, generated for {_LIBRARIES[target.language]} by mindgrad.",
    )
    module = emitted(program.graph, signature, target)
    values = {name: program.parameters[k].asnumpy() for name, k in module.parameters.items()}
    return Source(module.text, program.name, program.arguments, values | module.constants, target)
