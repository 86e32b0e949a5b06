"""Implicit functions are defined by equations; their derivatives do not depend on the solver's iterations.

    f(x, a) = 0        ∂x/∂a = −(∂f/∂x)⁻¹ ∂f/∂a            (implicit function theorem)

The iteration that finds ``x`` is not differentiated: the derivative is a linear system at the solution, in
forward and reverse mode, of every order (``control.implicit``; for the theorem in this use see A. Griewank
and A. Walther, *Evaluating Derivatives*, 2nd edition, chapter 15).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad._base.tree import flatten, unflatten
from mindgrad.api.arguments import check_callable, explains_keywords
from mindgrad.control.implicit import jacobian_system, linear_solve, linear_system, root
from mindgrad.ir.build import Builder, building
from mindgrad.ir.graph import Graph
from mindgrad.ir.scope import apply
from mindgrad.ir.tensor import Tensor
from mindgrad.ir.values_only import known_value, values_only
from mindgrad.rows.kinds import ones
from mindgrad.solvers.convergence import warn_unless_converged
from mindgrad.solvers.iterate import (
    Function,
    Value,
    as_tensors,
    check_precision,
    held,
)
from mindgrad.solvers.linear_solvers import NAMES, LinearSolver, dot, tolerance
from mindgrad.solvers.real_parts import Unknowns
from mindgrad.solvers.root_finding import SolverInfo, iterated, minimised, newton
from mindgrad.trace import state, user_calls
from mindgrad.transforms.reverse import pull_back

__all__ = ["SolverInfo", "argmin", "custom_linear_solve", "custom_root", "fixed_point"]


@explains_keywords
def custom_root(
    f: Callable[..., Any],
    initial_guess: Any,
    solve: Callable[..., Any] | None = None,
    tangent_solve: Any = None,
    has_aux: bool = False,
    *,
    args: Sequence[Any] = (),
    tol: float | None = None,
    maxiter: int = 100,
) -> Any:
    """A root ``x`` of ``f(x, *args) = 0``, with the derivative of the implicit function theorem.

    ``∂x/∂a = −(∂f/∂x)⁻¹ ∂f/∂a`` for every tensor ``a`` in ``args``, for weights, and for whatever else ``f``
    uses; ``initial_guess`` has no derivative. The iteration is not differentiated: its length costs the
    derivative neither time nor memory. Forward and reverse mode, of every order, under ``vmap``, in both
    modes.

    Args:
        f: a function or Cell; gives what has the structure, shapes and types of ``initial_guess``. Once more
            than its value is needed it is traced as if it were compiled, in PYNATIVE_MODE too.
        initial_guess: where the search begins: a Tensor of a floating-point or complex type, or a tuple,
            list or dict of such, of one precision. Complex unknowns are sought as their real and imaginary
            parts: ``f`` need not be holomorphic.
        solve: finds the root: ``solve(f, initial_guess) -> x``, where this ``f`` takes ``x`` alone. A
            ``while`` on tensors is what one writes in it. By default Newton's method, with steps that are
            halved while they make the residual longer.
        tangent_solve: solves the linear systems of the derivative (and of Newton's method): ``(matvec, b) ->
            x``, or one of ``"dense"`` (LU of the Jacobian), ``"diagonal"`` (each element of ``f`` depends on
            the same element of ``x`` alone), ``"cg"`` (symmetric positive definite), ``"bicgstab"``. By
            default ``"diagonal"`` where the program shows that it is right, else ``"dense"`` for up to
            1000 unknowns, else ``"bicgstab"``.
        has_aux: whether ``solve`` gives ``(x, aux)``, and so this function; with the built-in solver ``aux``
            is a :class:`SolverInfo`.
        args: further arguments of ``f``.
        tol: the built-in solver ends when a step changes no element by more than ``tol * (1 + max|x|)``; by
            default 1e-12 in float64, 1e-6 in float32.
        maxiter: the largest number of its steps.

    Returns:
        The root, with the structure of ``initial_guess``; with ``has_aux`` ``(root, aux)``. A search that
        does not converge is no error, since a compiled program cannot raise: the result is the last point
        (possibly NaN), the derivative that of the theorem at this point, which is then no derivative of
        anything. ``has_aux=True`` tells: ``aux.converged``. Without it there is a warning in eager mode,
        once for each line; a compiled program and ``vmap`` give none.

    Raises:
        TypeError: an argument is no function or Tensor, or of another type; ``f`` gives another structure.
        ValueError: ``f`` or ``solve`` gives another shape; ``tangent_solve`` has no such name.

    >>> import mindgrad as ms
    >>> def cube_root(a):
    ...     return ms.custom_root(lambda x, a: x * x * x - a, ms.Tensor(1.0), args=(a,))
    >>> a = ms.Tensor(8.0)
    >>> print(f"{cube_root(a).item():.4f} {ms.grad(cube_root)(a).item():.5f}")  # 1/12
    2.0000 0.08333
    >>> x, info = ms.custom_root(lambda x: x * x + 1, ms.Tensor(1.0), has_aux=True)  # there is none
    >>> print(info.converged)
    False
    """
    owner = "custom_root"
    function, unknowns, start, structure = _equation(owner, f, initial_guess, args)
    solver = _solver(owner, tangent_solve, structure, unknowns)
    if solve is None:
        tol = tolerance(unknowns.dtype) if tol is None else tol
        xs, aux = newton(function, unknowns.parts(start), solver, tol, maxiter)
        if not has_aux:
            warn_unless_converged(owner, aux, tol, maxiter)
    else:
        xs, aux = _user_solution(owner, solve, _plain(f, args), unknowns, start, structure, has_aux)
    x = _passed(function, unknowns, xs, solver, structure)
    return (x, aux) if has_aux else x


@explains_keywords
def fixed_point(
    f: Callable[..., Any],
    initial_guess: Any,
    solve: Callable[..., Any] | None = None,
    tangent_solve: Any = None,
    has_aux: bool = False,
    *,
    args: Sequence[Any] = (),
    tol: float | None = None,
    maxiter: int = 1000,
) -> Any:
    """A fixed point ``x = f(x, *args)``, with the derivative of the implicit function theorem.

    ``∂x/∂a = (1 − ∂f/∂x)⁻¹ ∂f/∂a``. All is as in :func:`custom_root`; the built-in solver applies ``f`` again
    and again, which converges where ``f`` is a contraction.

    Args:
        f: a function or Cell; gives what has the structure, shapes and types of ``initial_guess``.
        initial_guess: where the iteration begins.
        solve: ``solve(f, initial_guess) -> x``, of the user.
        tangent_solve: solves the linear systems of the derivative, as for :func:`custom_root`.
        has_aux: whether ``(x, aux)`` is given back; of the built-in solver a :class:`SolverInfo`.
        args: further arguments of ``f``.
        tol: the iteration ends when ``f`` changes no element by more than ``tol * (1 + max|x|)``; by default
            1e-12 in float64, 1e-6 in float32.
        maxiter: the largest number of applications.

    Returns:
        The fixed point, with ``has_aux`` ``(x, aux)``. Without convergence the last point, as there.

    Raises:
        TypeError, ValueError: as :func:`custom_root`.

    >>> import mindgrad as ms
    >>> def halved(a):  # Heron's iteration: the square root
    ...     return ms.fixed_point(lambda x, a: (x + a / x) / 2, ms.Tensor(1.0), args=(a,))
    >>> print(f"{halved(ms.Tensor(4.0)).item():.4f} {ms.grad(halved)(ms.Tensor(4.0)).item():.4f}")
    2.0000 0.2500
    """
    owner = "fixed_point"
    check_callable(owner, f)
    once = _plain(f, args)

    def residual(x: Any) -> Any:
        start, structure = flatten(x)
        values, shape = as_tensors(owner, "result of the 'f'", user_calls.run(once, x))
        if shape != structure or [y.type for y in values] != [y.type for y in start]:
            return unflatten(shape, values)  # the check of the result refuses it with the reason
        return unflatten(structure, [y - x for y, x in zip(values, start, strict=True)])

    function, unknowns, start, structure = _equation(owner, residual, initial_guess, ())
    solver = _solver(owner, tangent_solve, structure, unknowns)
    if solve is None:
        tol = tolerance(unknowns.dtype) if tol is None else tol
        xs, aux = iterated(function, unknowns.parts(start), tol, maxiter)
        if not has_aux:
            warn_unless_converged(owner, aux, tol, maxiter)
    else:
        xs, aux = _user_solution(owner, solve, once, unknowns, start, structure, has_aux)
    x = _passed(function, unknowns, xs, solver, structure)
    return (x, aux) if has_aux else x


@explains_keywords
def argmin(
    f: Callable[..., Any],
    initial_guess: Any,
    solve: Callable[..., Any] | None = None,
    tangent_solve: Any = None,
    has_aux: bool = False,
    *,
    args: Sequence[Any] = (),
    tol: float | None = None,
    maxiter: int = 100,
) -> Any:
    """A local minimum ``x`` of ``f(x, *args)``, with the derivative of the implicit function theorem.

    At a minimum ``∇f = 0``, so ``∂x/∂a = −(∇²f)⁻¹ ∂(∇f)/∂a``. All is as in :func:`custom_root`; the built-in
    solver makes Newton steps, or steps down the gradient where these do not lead down, which are halved until
    ``f`` has decreased (Armijo's condition).

    Args:
        f: a function or Cell that gives a real Tensor of one element.
        initial_guess: where the search begins.
        solve: ``solve(f, initial_guess) -> x``, of the user: it is given the objective ``f``, and may end at
            any point where the gradient is zero.
        tangent_solve: solves the linear systems of the derivative, as for :func:`custom_root`.
        has_aux: whether ``(x, aux)`` is given back; of the built-in solver a :class:`SolverInfo`.
        args: further arguments of ``f``.
        tol, maxiter: as for :func:`custom_root`.

    Returns:
        The minimum, with ``has_aux`` ``(x, aux)``. Without convergence the last point, as there.

    Raises:
        TypeError: as :func:`custom_root`.
        ValueError: ``f`` gives more than one element.

    >>> import mindgrad as ms
    >>> def ridge(weight):  # of (x - 3)² + weight x²: 3 / (1 + weight)
    ...     return ms.argmin(lambda x: ((x - 3) ** 2 + weight * x * x).sum(), ms.Tensor([0.0]))
    >>> print(ridge(ms.Tensor(0.5)), ms.grad(ridge)(ms.Tensor(0.5)))
    [2.] -1.3333334
    """
    owner = "argmin"
    check_callable(owner, f)
    start, structure = as_tensors(owner, "initial_guess", initial_guess)
    types = [x.type for x in start]
    unknowns = Unknowns(types, check_precision(owner, "initial_guess", start))
    once = _plain(f, args)
    objective = Function(owner, "f", once, types, structure)
    outputs = objective.graph.outputs
    if len(outputs) != 1 or outputs[0].type.size != 1:
        raise ValueError(
            f"For 'argmin', the 'f' must return one Tensor of one element, the value to minimize, but "
            f"got {', '.join(f'shape {y.shape}' for y in outputs)}. Take the sum or the mean."
        )
    if outputs[0].type.dtype.kind == "complex":
        raise TypeError(
            "For 'argmin', the 'f' must return a real number, because complex numbers are not ordered, but "
            "got "
            f"{outputs[0].type.dtype}. Take abs(), or the real part."
        )
    objective = unknowns.function(objective)
    function = objective.with_graph(_gradient(objective.graph, len(objective.outside)))
    solver = _solver(owner, tangent_solve, structure, unknowns)
    if solve is None:
        tol = tolerance(unknowns.dtype) if tol is None else tol
        xs, aux = minimised(objective, function, unknowns.parts(start), solver, tol, maxiter)
        if not has_aux:
            warn_unless_converged(owner, aux, tol, maxiter)
    else:
        xs, aux = _user_solution(owner, solve, once, unknowns, start, structure, has_aux)
    x = _passed(function, unknowns, xs, solver, structure)
    return (x, aux) if has_aux else x


@explains_keywords
def custom_linear_solve(
    matvec: Callable[..., Any],
    b: Any,
    solve: Any = "auto",
    transpose_solve: Any = None,
    symmetric: bool = False,
    has_aux: bool = False,
    *,
    tol: float | None = None,
    maxiter: int | None = None,
) -> Any:
    """The solution ``x`` of ``matvec(x) = b``, with derivatives that are linear systems again.

    ``ẋ = A⁻¹ (ḃ − Ȧ x)`` and ``b̄ = A⁻ᵀ x̄``: the solver is not differentiated, in no order. The transposed
    product is derived from ``matvec``. ``A`` depends on whatever ``matvec`` uses, weights too, and is
    differentiated with respect to it.

    Args:
        matvec: a linear function of what has the structure of ``b``, giving the same; it is traced as if it
            were compiled.
        b: the right-hand side: a Tensor of a floating-point or complex type, or a tuple, list or dict of
            such, of one precision.
        solve: ``"auto"``, ``"dense"``, ``"diagonal"``, ``"cg"`` or ``"bicgstab"``, see
            :func:`custom_root`; or a function ``(matvec, b) -> x`` of the user, which is traced and may use
            its arguments and constants only.
        transpose_solve: the same for the transposed system, if complex that of the conjugate transpose; by
            default ``solve``, with the transposed product.
        symmetric: whether ``A`` is symmetric, if complex Hermitian: its transpose is then not derived.
        has_aux: whether a :class:`SolverInfo` with the residual is given back too (``iterations`` is -1: not
            counted).
        tol, maxiter: of ``"cg"`` and ``"bicgstab"``: the residual relative to ``b`` at which they end, by
            default 1e-12 in float64 and 1e-6 in float32; the largest number of trips, by default ten
            for each unknown.

    Returns:
        ``x``, with ``has_aux`` ``(x, info)``. Without convergence the last vector, which may be NaN (so that
        of a singular matrix is).

    Raises:
        TypeError: ``b`` or ``matvec(b)`` has another type; ``matvec`` gives another structure.
        ValueError: a shape is another; ``solve`` has no such name; ``matvec`` is not linear.

    >>> import mindgrad as ms
    >>> a = ms.Tensor([[4.0, 1.0], [1.0, 3.0]])
    >>> def solved(b):
    ...     return ms.custom_linear_solve(lambda x: a @ x, b, "cg", symmetric=True)
    >>> b = ms.Tensor([1.0, 2.0])
    >>> print(solved(b))
    [0.09090909 0.6363636 ]
    >>> print(ms.grad(lambda b: solved(b)[0])(b))  # the first row of the inverse
    [ 0.27272728 -0.09090909]
    """
    owner = "custom_linear_solve"
    check_callable(owner, matvec)
    bs, structure = as_tensors(owner, "b", b)
    types = [x.type for x in bs]
    unknowns = Unknowns(types, check_precision(owner, "b", bs))
    function = unknowns.function(Function(owner, "matvec", matvec, types, structure, (structure, types)))
    bs = unknowns.parts(bs)
    back = solver = _solver(owner, solve, structure, unknowns, tol, maxiter)
    if transpose_solve is not None:
        back = _solver(owner, transpose_solve, structure, unknowns, tol, maxiter)
    system = linear_system(function.graph, len(function.outside), solver, back, symmetric)
    xs = apply(linear_solve, *function.outside, *bs, system=system, solution=system.solution)
    x = unflatten(structure, unknowns.joined(xs))
    if not has_aux:
        return x
    outside, right = [held(a) for a in function.outside], [held(y) for y in bs]
    rest = [y - z for y, z in zip(right, function(outside, [held(z) for z in xs]), strict=True)]
    error, scale = dot(rest, rest).sqrt(), dot(right, right).sqrt()
    bound = 10 * (tolerance(bs[0].dtype) if tol is None else tol)
    error = error / (scale + (scale == 0).astype(scale.dtype))
    return x, SolverInfo(Tensor(-1), error, error <= bound)


# -- shared steps ----------------------------------------------------------------------------------


def _plain(f: Callable[..., Any], args: Sequence[Any]) -> Callable[[Any], Any]:
    def once(x: Any) -> Any:
        return user_calls.run(f, x, *args)

    return once if args or not hasattr(f, "__code__") else f


def _equation(
    owner: str, f: Callable[..., Any], initial_guess: Any, args: Sequence[Any]
) -> tuple[Function, Unknowns, list[Value], Any]:
    """``f`` as a graph of the unknowns, these, the tensors of the initial guess and their structure."""
    check_callable(owner, f)
    start, structure = as_tensors(owner, "initial_guess", initial_guess)
    types = [x.type for x in start]
    unknowns = Unknowns(types, check_precision(owner, "initial_guess", start))
    function = Function(owner, "f", _plain(f, tuple(args)), types, structure, (structure, types))
    return unknowns.function(function), unknowns, start, structure


def _solver(
    owner: str,
    how: Any,
    structure: Any,
    unknowns: Unknowns,
    tol: float | None = None,
    most: int | None = None,
) -> LinearSolver:
    how = "auto" if how is None else how
    if not callable(how) and how not in NAMES:
        raise ValueError(
            f"For '{owner}', the linear systems are solved by a function (matvec, b) -> x or by one of "
            f"{', '.join(map(repr, NAMES))}, but got {how!r}."
        )
    return LinearSolver(how, unknowns, structure, tol, most, owner)


def _passed(
    function: Function, unknowns: Unknowns, xs: Sequence[Value], solver: LinearSolver, structure: Any
) -> Any:
    """The solution ``xs`` as a function of the values that the equation depends on, with its derivative."""
    xs = [held(x) for x in xs]
    if function.is_traced:
        outside = function.outside
        system = jacobian_system(function.graph, len(outside), solver, solver)
        xs = apply(root, *xs, *outside, function=function.graph, system=system, count=len(xs))
    return unflatten(structure, unknowns.joined(xs))


def _user_solution(
    owner: str,
    solve: Callable[..., Any],
    f: Callable[..., Any],
    unknowns: Unknowns,
    start: Sequence[Value],
    structure: Any,
    has_aux: bool,
) -> tuple[list[Value], Any]:
    """The tensors of the solution that the user's ``solve`` returns, and ``aux``."""
    if not callable(solve):
        raise TypeError(f"For '{owner}', the 'solve' must be a function (f, initial_guess) -> x.")
    if state.is_compiling():
        # a program of its own, of constants for every derivative: nothing in it is ever linearized
        traced = Function(
            owner, "solve", lambda x: user_calls.run(solve, f, x), [x.type for x in start], structure
        )
        returned: Any = traced([held(x) for x in traced.outside], [held(x) for x in start])
        returned = unflatten(traced.structure, returned)
    else:
        with values_only():
            first = unflatten(structure, [known_value(x) for x in start])
            returned = user_calls.run(solve, f, first)
    aux = None
    if has_aux:
        if not isinstance(returned, tuple) or len(returned) != 2:
            raise ValueError(f"For '{owner}', with has_aux=True the 'solve' must return a tuple (x, aux).")
        returned, aux = returned
    xs, shape = as_tensors(owner, "result of the 'solve'", returned)
    expected = [x.type for x in start]
    if shape != structure or [x.type for x in xs] != expected:
        raise ValueError(
            f"For '{owner}', the 'solve' must return a value with the structure, shapes, and dtypes of "
            f"initial_guess, {', '.join(map(str, expected))}, but got {', '.join(str(x.type) for x in xs)}."
        )
    return unknowns.parts(xs), aux


def _gradient(graph: Graph, consts: int) -> Graph:
    """``(*outside, *xs) ↦ ∇f``."""
    builder = Builder()
    with building(builder):
        inputs = builder.inputs_like(graph.inputs)
        outputs = builder.inline(graph, inputs)
        return builder.close(pull_back(builder, inputs[consts:], outputs, [ones(outputs[0].type)]))
