"""``explain``: report of the rewrites applied to a function, and of their savings.

    explain(f)(x):   G₀ = trace(f, rewrites off),   G₁ = trace(f, rewrites on),   cost(G₀) → cost(G₁)

The function is traced twice, as in graph mode. It is not run, and it is compiled only on request.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from mindgrad.api.arguments import check_callable, explains_keywords
from mindgrad.core.ir import settings
from mindgrad.core.ir.rewriting import REWRITES, is_rewriting, watching
from mindgrad.distributed.layouts import partition_of, placement_of
from mindgrad.frontend.programs.cache import eager_tiers
from mindgrad.inspect.cost import cost
from mindgrad.inspect.explanation import Explanation, Fired
from mindgrad.inspect.profile import Compilation, compilation
from mindgrad.inspect.traced_program import TracedProgram

__all__ = ["Explanation", "Fired", "explain"]


#: lock that is held while rewrites are turned off, because this option applies to all threads of the process
_lock = threading.Lock()


@explains_keywords
def explain(fn: Callable[..., Any], compiled: bool = False) -> Callable[..., Explanation]:
    """Return a function that reports how ``fn`` is compiled for given arguments.

    The function is traced twice, as in graph mode, whatever the mode is. Nothing is computed and Parameters
    do not change. Output that ``fn`` prints during tracing appears twice.

    Args:
        fn (Callable or Cell): function to explain: a function, Cell, gradient function such as ``grad(f)``,
            or compiled function.
        compiled (bool, optional): whether to compile the programs with and without rewrites, and report their
            compile times and the memory of a call. The programs do not run. Default: ``False``.

    Returns:
        Callable: function of the same arguments as ``fn`` that returns an :class:`Explanation`. The
        explanation contains

        - the applied rewrites with the identity on which each is based,
        - the number of equations and the estimated arithmetic and memory traffic, before and after the
          rewrites,
        - the source lines to which the equations belong,
        - the two programs.

        ``print`` shows the explanation as a table, ``show()`` adds colors on a terminal, a notebook displays
        HTML, and ``json()`` returns a JSON string.

    Raises:
        TypeError: If ``fn`` is not callable, or ``compiled`` is not a bool, for example because it is an
            argument of ``fn``.

    >>> import mindgrad as ms
    >>> found = ms.explain(ms.grad(lambda x: ms.ops.exp(x)))(ms.Tensor([1.0, 2.0]))
    >>> found.after
    Cost(equations=1, flops=2, bytes=16, is_known=True)
    >>> print(found.graph)
    graph(a: Float32[2])
      b: Float32[2] = exp(a)
      return b

    See Also:
        :func:`mindgrad.draw`, :func:`mindgrad.source`, :func:`mindgrad.jit`
    """
    check_callable("explain", fn)
    if not isinstance(compiled, bool):
        raise TypeError(
            f"For 'explain', the 'compiled' should be bool, but got {type(compiled).__name__}. Pass the "
            "arguments of the function to the result of 'explain': explain(fn)(x)."
        )

    def explained(*args: Any, **kwargs: Any) -> Explanation:
        with _lock:
            chosen = settings.get("rewrites")
            try:
                settings.store("rewrites", False)
                plain = TracedProgram(fn, args, kwargs)
            finally:
                settings.store("rewrites", chosen)
            with watching() as counts:
                program = TracedProgram(fn, args, kwargs)
        fired = [Fired(name, REWRITES[name].law, times) for name, times in counts.items()]
        return Explanation(
            function=getattr(fn, "__name__", None) or type(fn).__name__,
            fired=tuple(fired),
            before=cost(plain.graph),
            after=cost(program.graph),
            graph=program.graph,
            graph_before=plain.graph,
            is_rewriting=is_rewriting(),
            eager=eager_tiers(fn),
            names=(*program.argument_paths, *[p.name for p in program.parameters]),
            compilations=(_compilation(plain), _compilation(program)) if compiled else None,
        )

    name = getattr(fn, "__name__", None) or type(fn).__name__
    explained.__name__ = explained.__qualname__ = f"explain_of_{name}"
    explained.__doc__ = f"Explain how the compiler optimizes {name!r} for these arguments."
    return explained


def _compilation(program: TracedProgram) -> Compilation:
    """Compile a program for one device, or for the devices among which it is divided."""
    partition = partition_of(program.graph)
    if partition is None:
        return compilation(program.graph)
    return compilation(
        program.graph, placement_of(program.graph, partition, program.parameters, program.written)
    )
