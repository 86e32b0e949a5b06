"""Implicit differentiation of roots, fixed points, minima, and linear systems.

    f(x, a) = 0        ∂x/∂a = −(∂f/∂x)⁻¹ ∂f/∂a            (implicit function theorem)

The iteration that finds ``x`` is not differentiated. The derivative is the solution of a linear system at
``x``, in forward and reverse mode and for any order (``control.implicit``; A. Griewank and A. Walther,
*Evaluating Derivatives*, 2nd edition, chapter 15).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.api.arguments import check_callable, explains_keywords
from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.control.implicit import jacobian_system, linear_solve, linear_system, root
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.graph import Graph
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.ir.values_only import known_value, values_only
from mindgrad.core.primitives.kinds import ones
from mindgrad.core.trace import references
from mindgrad.core.transforms.reverse import pull_back
from mindgrad.frontend import user_calls
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
from mindgrad.solvers.root_finding import SolverInfo, iterated, minimized, newton

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
    """Find a root ``x`` of ``f(x, *args) = 0`` that is differentiable implicitly.

    The implicit function theorem gives the derivative ``∂x/∂a = −(∂f/∂x)⁻¹ ∂f/∂a`` for every tensor ``a`` in
    ``args``, for Parameters, and for other tensors that ``f`` uses. The derivative with respect to
    ``initial_guess`` is zero. The iteration is not differentiated, so the time and memory of the derivative
    do not depend on the number of iterations. Forward and reverse mode of any order and ``vmap`` are
    supported in both execution modes.

    Args:
        f (Callable or Cell): function of ``x`` and ``args``. It returns the structure, shapes, and dtypes of
            ``initial_guess``. To differentiate ``f``, mindgrad traces it like a compiled function, in
            PYNATIVE_MODE too.
        initial_guess (Tensor, tuple, list, or dict): start of the search: a Tensor, or a container of Tensors
            that all have the same floating-point or complex dtype. Complex unknowns are split into real and
            imaginary parts, so ``f`` need not be holomorphic.
        solve (Callable, optional): solver ``solve(f, initial_guess) -> x``, where ``f`` takes only ``x``. It
            can contain a ``while`` loop on tensors. ``None``: Newton's method, with step halving if the
            residual increases. Default: ``None``.
        tangent_solve (Callable or str, optional): solver of the linear systems of the derivative and of
            Newton's method. It is a function ``(matvec, b) -> x``, or one of ``"dense"`` (LU factorization of
            the Jacobian), ``"cg"`` (for symmetric positive definite Jacobians), ``"bicgstab"``, and
            ``"diagonal"``. ``"diagonal"`` requires that each element of ``f`` depends only on the same
            element of ``x``. ``None``: ``"diagonal"`` if all operators in the trace of ``f`` are elementwise,
            else ``"dense"`` for up to 1000 unknowns, else ``"bicgstab"``. Default: ``None``.
        has_aux (bool, optional): whether ``solve`` returns ``(x, aux)``, and ``custom_root`` returns
            ``(root, aux)``. For the built-in solver, ``aux`` is a :class:`SolverInfo`. Default: ``False``.
        args (tuple or list, optional): further arguments of ``f``. Default: ``()``.
        tol (float, optional): the built-in solver stops when a step changes no element by more than
            ``tol * (1 + max|x|)``. ``None``: 1e-12 in float64, 1e-6 in float32. Default: ``None``.
        maxiter (int, optional): maximum number of steps of the built-in solver. Default: ``100``.

    Returns:
        Tensor, tuple, list, or dict: the root, with the structure of ``initial_guess``. With ``has_aux``,
        ``(root, aux)``.

        If the search does not converge, the result is the last iterate, possibly NaN, and the derivative is
        meaningless. Check ``aux.converged`` with ``has_aux=True``. Without ``has_aux``, eager mode issues a
        warning once for each source line that calls the solver; compiled functions and ``vmap`` do not warn.

    Raises:
        TypeError: If an argument has an unsupported type, or the structure or dtype of the result of ``f``
            differs from ``initial_guess``.
        ValueError: If the result of ``f`` or ``solve`` does not have the shape of ``initial_guess``, or
            ``tangent_solve`` is not a known solver name.

    >>> import mindgrad as ms
    >>> def cube_root(a):
    ...     return ms.custom_root(lambda x, a: x * x * x - a, ms.Tensor(1.0), args=(a,))
    >>> a = ms.Tensor(8.0)
    >>> print(f"{cube_root(a).item():.4f} {ms.grad(cube_root)(a).item():.5f}")  # 1/12
    2.0000 0.08333
    >>> x, info = ms.custom_root(lambda x: x * x + 1, ms.Tensor(1.0), has_aux=True)  # without a real root
    >>> print(info.converged)
    False

    See Also:
        :func:`mindgrad.fixed_point`, :func:`mindgrad.argmin`, :func:`mindgrad.custom_linear_solve`,
        :func:`mindgrad.odeint`
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
    """Find a fixed point ``x = f(x, *args)`` that is differentiable implicitly.

    The derivative is ``∂x/∂a = (1 − ∂f/∂x)⁻¹ ∂f/∂a``, as for :func:`custom_root`. The built-in solver applies
    ``f`` repeatedly, which converges if ``f`` is a contraction.

    Args:
        f (Callable or Cell): function of ``x`` and ``args``. It returns the structure, shapes, and dtypes of
            ``initial_guess``.
        initial_guess (Tensor, tuple, list, or dict): start of the iteration: a Tensor, or a container of
            Tensors that all have the same floating-point or complex dtype.
        solve (Callable, optional): solver ``solve(f, initial_guess) -> x``. ``None``: repeated application of
            ``f``. Default: ``None``.
        tangent_solve (Callable or str, optional): solver of the linear systems of the derivative, as for
            :func:`custom_root`. Default: ``None``.
        has_aux (bool, optional): whether to return ``(x, aux)``. For the built-in solver, ``aux`` is a
            :class:`SolverInfo`. Default: ``False``.
        args (tuple or list, optional): further arguments of ``f``. Default: ``()``.
        tol (float, optional): the iteration stops when ``f`` changes no element by more than
            ``tol * (1 + max|x|)``. ``None``: 1e-12 in float64, 1e-6 in float32. Default: ``None``.
        maxiter (int, optional): maximum number of applications of ``f``. Default: ``1000``.

    Returns:
        Tensor, tuple, list, or dict: the fixed point, with the structure of ``initial_guess``. With
        ``has_aux``, ``(x, aux)``: the fixed point and the statistics. If the iteration does not converge, the
        result is the last iterate, as for :func:`custom_root`.

    Raises:
        TypeError: If an argument has an unsupported type, or the structure or dtype of the result of ``f``
            differs from ``initial_guess``.
        ValueError: If the result of ``f`` or ``solve`` does not have the shape of ``initial_guess``, or
            ``tangent_solve`` is not a known solver name.

    >>> import mindgrad as ms
    >>> def halved(a):  # Heron's iteration: the square root
    ...     return ms.fixed_point(lambda x, a: (x + a / x) / 2, ms.Tensor(1.0), args=(a,))
    >>> print(f"{halved(ms.Tensor(4.0)).item():.4f} {ms.grad(halved)(ms.Tensor(4.0)).item():.4f}")
    2.0000 0.2500

    See Also:
        :func:`mindgrad.custom_root`, :func:`mindgrad.argmin`
    """
    owner = "fixed_point"
    check_callable(owner, f)
    once = _plain(f, args)

    def residual(x: Any) -> Any:
        start, structure = flatten(x)
        values, shape = as_tensors(owner, "result of the 'f'", user_calls.run(once, x))
        if shape != structure or [y.type for y in values] != [y.type for y in start]:
            return unflatten(
                shape, values
            )  # for a different structure, `Function` raises an error that explains the difference
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
    """Find a local minimizer of ``f(x, *args)`` that is differentiable implicitly.

    At a minimum ``∇f = 0``, so ``∂x/∂a = −(∇²f)⁻¹ ∂(∇f)/∂a``, as for :func:`custom_root`. The built-in solver
    takes Newton steps, or gradient steps if a Newton step does not descend. It halves a step until ``f``
    decreases sufficiently (Armijo's condition).

    Args:
        f (Callable or Cell): objective function of ``x`` and ``args``. It returns a real Tensor of one
            element.
        initial_guess (Tensor, tuple, list, or dict): start of the search: a Tensor, or a container of Tensors
            that all have the same floating-point or complex dtype.
        solve (Callable, optional): solver ``solve(f, initial_guess) -> x``. It receives the objective ``f``
            and may return any point where the gradient is zero. ``None``: Newton's method. Default: ``None``.
        tangent_solve (Callable or str, optional): solver of the linear systems of the derivative, as for
            :func:`custom_root`. Default: ``None``.
        has_aux (bool, optional): whether to return ``(x, aux)``. For the built-in solver, ``aux`` is a
            :class:`SolverInfo`. Default: ``False``.
        args (tuple or list, optional): further arguments of ``f``. Default: ``()``.
        tol (float, optional): the built-in solver stops when a step changes no element by more than
            ``tol * (1 + max|x|)``. ``None``: 1e-12 in float64, 1e-6 in float32. Default: ``None``.
        maxiter (int, optional): maximum number of steps of the built-in solver. Default: ``100``.

    Returns:
        Tensor, tuple, list, or dict: the minimizer, with the structure of ``initial_guess``. With
        ``has_aux``, ``(x, aux)``: the minimizer and the statistics. If the search does not converge, the
        result is the last iterate, as for :func:`custom_root`.

    Raises:
        TypeError: If an argument or the result of ``f`` has an unsupported type.
        ValueError: If ``f`` returns more than one element, or ``tangent_solve`` is not a known solver name.

    >>> import mindgrad as ms
    >>> def ridge(weight):  # of (x - 3)² + weight x²: 3 / (1 + weight)
    ...     return ms.argmin(lambda x: ((x - 3) ** 2 + weight * x * x).sum(), ms.Tensor([0.0]))
    >>> print(ridge(ms.Tensor(0.5)), ms.grad(ridge)(ms.Tensor(0.5)))
    [2.] -1.3333334

    See Also:
        :func:`mindgrad.custom_root`, :func:`mindgrad.fixed_point`
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
            "For 'argmin', 'f' must return one Tensor of one element, the value to minimize, but got "
            f"{', '.join(f'shape {y.shape}' for y in outputs)}. Take the sum or the mean."
        )
    if outputs[0].type.dtype.kind == "complex":
        raise TypeError(
            "For 'argmin', the 'f' must return a real number, because complex numbers are not ordered, "
            f"but got {outputs[0].type.dtype}. Take abs(), or the real part."
        )
    objective = unknowns.function(objective)
    function = objective.with_graph(_gradient(objective.graph, len(objective.outside)))
    solver = _solver(owner, tangent_solve, structure, unknowns)
    if solve is None:
        tol = tolerance(unknowns.dtype) if tol is None else tol
        xs, aux = minimized(objective, function, unknowns.parts(start), solver, tol, maxiter)
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
    """Solve the linear system ``matvec(x) = b`` with derivatives of any order.

    With A for the matrix of ``matvec``, the derivatives are ``ẋ = A⁻¹ (ḃ − Ȧ x)`` and ``b̄ = A⁻ᵀ x̄``, so the
    solver itself is never differentiated. mindgrad derives the transposed product from ``matvec``. The
    solution is differentiable with respect to ``b`` and all tensors that ``matvec`` uses, including
    Parameters.

    Args:
        matvec (Callable): linear function that maps the structure of ``b`` to the same structure. It is
            traced like a compiled function.
        b (Tensor, tuple, list, or dict): right-hand side: a Tensor, or a container of Tensors that all have
            the same floating-point or complex dtype.
        solve (str or Callable, optional): ``"auto"``, ``"dense"``, ``"diagonal"``, ``"cg"``, or
            ``"bicgstab"``, see :func:`custom_root`; or a function ``(matvec, b) -> x``, which is traced and
            may use only its arguments and constants. Default: ``"auto"``.
        transpose_solve (str or Callable, optional): solver of the transposed system or, for complex systems,
            of the system with the conjugate transpose. ``None``: ``solve``. Default: ``None``.
        symmetric (bool, optional): whether ``A`` is symmetric (Hermitian if complex). If ``True``, ``matvec``
            is also used for the transposed product. Default: ``False``.
        has_aux (bool, optional): whether to return ``(x, info)``, where ``info`` is a :class:`SolverInfo`
            with the residual. Its attribute ``iterations`` is -1, because iterations are not counted.
            Default: ``False``.
        tol (float, optional): residual relative to ``b`` at which ``"cg"`` and ``"bicgstab"`` stop. ``None``:
            1e-12 in float64, 1e-6 in float32. Default: ``None``.
        maxiter (int, optional): maximum number of iterations of ``"cg"`` and ``"bicgstab"``. ``None``: ten
            for each unknown. Default: ``None``.

    Returns:
        Tensor, tuple, list, or dict: the solution, with the structure of ``b``. With ``has_aux``, ``(x,
        info)``. If the solver does not converge, or the matrix is singular, the result is the last iterate,
        possibly NaN.

    Raises:
        TypeError: If ``b`` or ``matvec(b)`` has an unsupported type, or their structures differ.
        ValueError: If the shapes of ``b`` and ``matvec(b)`` differ, ``solve`` is not a known solver name, or
            ``matvec`` is not linear.

    >>> import mindgrad as ms
    >>> a = ms.Tensor([[4.0, 1.0], [1.0, 3.0]])
    >>> def solved(b):
    ...     return ms.custom_linear_solve(lambda x: a @ x, b, "cg", symmetric=True)
    >>> b = ms.Tensor([1.0, 2.0])
    >>> print(solved(b))
    [0.09090909 0.6363636 ]
    >>> print(ms.grad(lambda b: solved(b)[0])(b))  # the first row of the inverse
    [ 0.27272728 -0.09090909]

    See Also:
        :func:`mindgrad.custom_root`, :func:`mindgrad.scipy.sparse.linalg.cg`
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
    """Check the arguments of a solver, and trace the equation ``f(x) = 0``.

    Returns:
        tuple: ``f`` as a graph of real tensors, the unknowns, the tensors of the initial guess, and their
            structure.
    """
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
            f"For '{owner}', the solver of the linear systems must be a function (matvec, b) -> x or one "
            f"of {', '.join(map(repr, NAMES))}, but got {how!r}."
        )
    return LinearSolver(how, unknowns, structure, tol, most, owner)


def _passed(
    function: Function, unknowns: Unknowns, xs: Sequence[Value], solver: LinearSolver, structure: Any
) -> Any:
    """Attach the implicit derivative to the solution ``xs``, in its structure.

    The result is differentiable with respect to the tensors that ``function`` captures.
    """
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
    """Call the argument ``solve``, and return the tensors of its solution and ``aux``."""
    if not callable(solve):
        raise TypeError(f"For '{owner}', the 'solve' must be a function (f, initial_guess) -> x.")
    if references.is_compiling():
        # trace the solver as a separate graph and apply it to constants, so that the solver is never
        # differentiated
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
    """Return the graph ``(*outside, *xs) ↦ ∇f``, where ``graph`` computes f."""
    builder = Builder()
    with building(builder):
        inputs = builder.inputs_like(graph.inputs)
        outputs = builder.inline(graph, inputs)
        return builder.close(pull_back(builder, inputs[consts:], outputs, [ones(outputs[0].type)]))
