"""Second derivatives of functions of eigenvalues, even at repeated eigenvalues.

Eigenvectors of repeated eigenvalues are not differentiable, but a function φ of the eigenvalues can be. Let
A = V diag(λ) Vᴴ. The gradient of φ(λ(A)) is the matrix V diag(g) Vᴴ with g = ∂φ/∂λ, and its derivative
contains the quotients

    (g_i − g_j) / (λ_i − λ_j)

Suppose that φ does not depend on the order of the eigenvalues. Then g_i = h(λ_i; s), where s are *shared
numbers*: numbers that depend on all eigenvalues but not on their order, such as a sum of functions of the
eigenvalues. The limit of the quotient at λ_i = λ_j then exists and is ∂h/∂λ_i. :func:`slopes` determines from
the equations that compute g whether g has this form, and differentiates h. If g has a different form, the
limit is NaN, like the derivatives of eigenvectors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mindgrad.core.ir.graph import UNIFORM, Atom, Constant, Equation
from mindgrad.core.ir.rules import Array, Atoms, Module, Tangent, Tangents
from mindgrad.core.ir.types import Shape
from mindgrad.core.primitives.arithmetic import select
from mindgrad.core.primitives.axes import Core
from mindgrad.core.primitives.comparisons import greater, less_equal
from mindgrad.core.primitives.complexes import complex, real
from mindgrad.core.primitives.contraction import dot
from mindgrad.core.primitives.kinds import accumulate, full, general, ones, zeros
from mindgrad.core.primitives.linalg_rules import (
    adjoint,
    columns,
    diagonal,
    hermitian,
    masked,
    matmul,
    of_matrices,
    off_diagonal,
    real_part_type,
    rows,
    swapped,
)
from mindgrad.core.primitives.logic import logical_not
from mindgrad.core.primitives.piecewise import abs
from mindgrad.core.primitives.reduction import (
    logsumexp,
    norm,
    reduce_any,
    reduce_max,
    reduce_prod,
    reduce_sum,
)
from mindgrad.core.primitives.samples import case, reals
from mindgrad.core.primitives.shielding import can_discard, finite_or, met
from mindgrad.core.primitives.structural import broadcast_in_dim, convert, reshape, stop_gradient

__all__ = ["eigenvalue_tangent", "gaps", "noise"]


# --- gaps ------------------------------------------------------------------------------------------


def noise(values: Atom, size: int) -> Atom:
    """Return the threshold below which an eigenvalue or a gap is rounding noise."""
    axis = len(values.shape) - 1
    if not values.shape[axis]:
        return zeros(values.type.with_shape(values.shape[:axis]))
    epsilon = float(np.finfo(values.dtype.numpy).eps)
    return reduce_max(abs(stop_gradient(values)), axes=(axis,)) * (size * epsilon)


def gaps(values: Atom, like: Atom) -> tuple[Atom, Atom]:
    """Return the matrices λ_j − λ_i and λ_j + λ_i for ``values`` λ."""
    shape = like.type.with_dtype(values.dtype)
    across, down = columns(values, zeros(shape)), rows(values, zeros(shape))
    return across - down, across + down


# --- dependence of a cotangent on eigenvalues ------------------------------------------------------

#: reductions that do not depend on the order of the elements, and are smooth or piecewise constant
_SYMMETRIC = (reduce_any, reduce_sum, reduce_prod, logsumexp, norm)


class _Form(NamedTuple):
    """How a value depends on the eigenvalues.

    Attributes:
        axis: the axis along which element i is a function of λ_i and of shared numbers, which are the same
            for all i. ``None`` if the value depends only on shared numbers.
        varying: the axes along which elements may differ.
    """

    axis: int | None
    varying: frozenset[int]


def slopes(cotangent: Atom, values: Atom) -> Atom:
    """Return ∂h/∂λ_i of a cotangent g_i = h(λ_i; s), or NaN if g has a different form.

    ``values`` are the eigenvalues λ. s are shared numbers (see the module docstring).
    """
    unknown = full(values.type, np.nan)
    if type(cotangent) is Constant:
        return zeros(values.type) if cotangent.is_splat else unknown
    forms: dict[Atom, _Form | None] = {}
    tangents: dict[Atom, Atom] = {values: ones(values.type)}
    forms[values] = _Form(len(values.shape) - 1, frozenset(range(len(values.shape))))
    for equation in _equations_between(values, cotangent):
        form = _result_form(equation, forms)
        if form is not None or not forms.keys().isdisjoint(equation.inputs):
            # equations without an entry in ``forms`` do not depend on eigenvalues
            forms.update(dict.fromkeys(equation.outputs, form))
        rule = equation.primitive.jvp
        if form is None or form.axis is None or rule is None:
            continue
        ts = [tangents.get(x) for x in equation.inputs]
        if any(t is not None for t in ts):
            (y,) = equation.outputs
            tangents[y] = rule(y, equation.inputs, ts, **equation.parameters)
    if _form(cotangent, forms) is None:
        return unknown
    slope = tangents.get(cotangent)
    return zeros(values.type) if slope is None else slope


def _equations_between(values: Atom, result: Atom) -> list[Equation]:
    """Return the equations that compute ``result`` from ``values``, in order."""
    order: dict[Equation, None] = {}
    pending = [(result, False)]
    while pending:
        atom, is_done = pending.pop()
        equation = getattr(atom, "made_by", None)
        if equation is None or atom is values or equation in order:
            continue
        if is_done:
            order[equation] = None
            continue
        pending.append((atom, True))
        pending.extend([(x, False) for x in equation.inputs])
    return list(order)


def _form(atom: Atom, forms: dict[Atom, _Form | None]) -> _Form | None:
    if atom in forms:
        return forms[atom]
    is_number = atom.type.size == 1
    if type(atom) is Constant:
        is_number = is_number or atom.is_splat
    elif atom.made_by is None:
        is_number = is_number or bool(atom.tainted & UNIFORM)
    return _Form(None, frozenset()) if is_number else None


def _result_form(equation: Equation, forms: dict[Atom, _Form | None]) -> _Form | None:
    """Return how the result of an equation depends on the eigenvalues.

    Returns ``None`` if the dependence does not have the form of the module docstring.
    """
    primitive, parameters = equation.primitive, equation.parameters
    inputs: list = [_form(x, forms) for x in equation.inputs]
    if None in inputs or primitive.multiple:
        return None
    (y,) = equation.outputs
    axes = {form.axis for form in inputs} - {None}
    varying = frozenset().union(*[form.varying for form in inputs])
    if primitive.pointwise or primitive in (convert, stop_gradient):
        if len(axes) > 1:
            return None
        axis = axes.pop() if axes else None
        shared = [form for form in inputs if form.axis is None]
        return None if any(axis in form.varying for form in shared) else _Form(axis, varying)
    if primitive in _SYMMETRIC:
        (form,) = inputs
        reduced = parameters["axes"]
        if form.axis is not None and form.axis not in reduced:
            return None  # the reduction combines the eigenvalues of several matrices
        left = [axis for axis in range(len(equation.inputs[0].shape)) if axis not in reduced]
        return _Form(None, frozenset([left.index(axis) for axis in form.varying if axis in left]))
    if primitive is dot:
        ranks = [len(x.shape) for x in equation.inputs]
        if parameters["contract"][0]:
            is_sum = ranks == [1, 1] and [form.axis for form in inputs] == [0, 0]
            return _Form(None, frozenset()) if is_sum else None
        # the product of a scalar and another factor has the form of this factor
        return max(inputs, key=lambda form: len(form.varying)) if 0 in ranks else None
    if primitive is broadcast_in_dim:
        (form,), dims = inputs, parameters["dims"]
        moved = frozenset([dims[axis] for axis in form.varying])
        return _Form(None if form.axis is None else dims[form.axis], moved)
    if primitive is reshape:
        return _reshaped(inputs[0], equation.inputs[0].shape, y.shape)
    return None


def _reshaped(form: _Form, before: Shape, after: Shape) -> _Form | None:
    """Return ``form`` after a reshape that only adds or removes axes of size 1.

    Returns ``None`` for any other reshape.
    """
    old, new = [[axis for axis, n in enumerate(shape) if n != 1] for shape in (before, after)]
    if [before[axis] for axis in old] != [after[axis] for axis in new]:
        return None
    position = dict(zip(old, new, strict=True))
    if form.axis is not None and form.axis not in position:
        return None
    moved = frozenset([position[axis] for axis in form.varying if axis in position])
    return _Form(None if form.axis is None else position[form.axis], moved)


# --- the tangent of eigenvalues, and its transpose --------------------------------------------------


def _whole(factors: Atom, like: Atom) -> Atom:
    """Convert real factors to the element type of ``like``."""
    return complex(factors, zeros(factors.type)) if like.dtype.kind == "complex" else factors


def _tangent_kernel(numpy: Module, da: Array, v: Array) -> Array:
    symmetric = (da + numpy.conj(numpy.swapaxes(da, -1, -2))) / 2
    return numpy.real(numpy.sum(numpy.conj(v) * numpy.matmul(symmetric, v), axis=-2))


def _tangent_jvp(y: Atom, xs: Atoms, ts: Tangents) -> Tangent:
    """Return the tangent of λ̇ = Re diag(Vᴴ Ȧ V), as a function of Ȧ and V."""
    (da, a, v, values), (dda, _, dv, _) = xs, ts
    of_direction = None if dda is None else eigenvalue_tangent(dda, a, v, values)
    of_vectors = None
    if dv is not None:
        found = diagonal(matmul(adjoint(dv), matmul(hermitian(da), v)))
        of_vectors = 2.0 * (real(found) if found.dtype.kind == "complex" else found)
    return accumulate([of_direction, of_vectors])


def _tangent_transpose(ct: Atom, da: Atom, a: Atom, v: Atom, values: Atom) -> list[Tangent]:
    if can_discard(ct, v):  # the eigenvectors of a discarded matrix may be NaN
        dims = (*range(len(ct.shape) - 1), len(ct.shape))
        v = finite_or(broadcast_in_dim(met(ct, ()), shape=v.shape, dims=dims), v)
    matrix = matrix_of_eigenvalues(a, v, values, ct, slopes(ct, values))
    return [swapped(matrix), None, None, None]


#: ``eigenvalue_tangent(da, a, v, values)``: λ̇_j = v_jᴴ Ȧ v_j, where Ȧ is the symmetric (Hermitian) part of
#: ``da``, and λ_j, v_j are the eigenvalues and eigenvectors of ``a``. The operator is linear in ``da``
eigenvalue_tangent = general(
    "eigenvalue_tangent",
    work=of_matrices(2),
    type_rule=lambda da, a, v, values: real_part_type(da).with_shape(da.shape[:-1]),
    numpy=lambda da, a, v, values: _tangent_kernel(np, da, v),
    xla=lambda jax, da, a, v, values: _tangent_kernel(jax.numpy, da, v),
    jvp=_tangent_jvp,
    transpose=_tangent_transpose,
    axes=Core("(i,j),(i,j),(i,k),(k)->(k)"),
    samples=[
        case(reals()[3, 3], reals()[3, 3], reals()[3, 3], reals()[3]),
        case(reals()[2, 2, 2], reals()[2, 2, 2], reals()[2, 2, 2], reals()[2, 2]),
    ],
)


def _matrix_kernel(numpy: Module, v: Array, g: Array) -> Array:
    return numpy.matmul(v * g[..., None, :].astype(v.dtype), numpy.conj(numpy.swapaxes(v, -1, -2)))


def _quotients(values: Atom, g: Atom, slope: Atom, like: Atom) -> Atom:
    """Return (g_i − g_j) / (λ_i − λ_j), or the mean ``slope`` if it is more accurate."""
    gap, _ = gaps(values, like)
    difference, total = gaps(g, like)
    change, mean = gaps(slope, like)
    epsilon = float(np.finfo(values.dtype.numpy).eps)
    level = noise(values, values.shape[-1])
    level = broadcast_in_dim(level, shape=gap.shape, dims=tuple(range(len(level.shape))))
    # if the rounding error of the quotient is larger than the difference of the slopes at the two
    # eigenvalues, use the mean slope
    size, rounding = stop_gradient(abs(gap)), stop_gradient(abs(total)) * epsilon
    is_equal = logical_not(greater(size, level))
    is_close = less_equal(size * stop_gradient(abs(change)), rounding)
    divisor = select(is_equal, ones(gap.type), gap)
    quotient = select(is_equal, full(gap.type, np.nan), difference / divisor)
    limit = select(is_close, mean * 0.5, quotient)
    return masked(limit, off_diagonal(gap.shape))


def _matrix_jvp(y: Atom, xs: Atoms, ts: Tangents) -> Tangent:
    """Return Ẇ = V (M ∘ Q + diag ġ) Vᴴ with M = Vᴴ Ȧ V and the quotients Q.

    Q is the matrix of the difference quotients (:func:`_quotients`). The rule ignores the tangents of V and
    λ, because V and λ are functions of A.
    """
    (_, v, values, g, slope), (da, _, _, dg, _) = xs, ts
    of_values = None if dg is None else matmul(columns(dg, v) * v, adjoint(v))
    of_vectors = None
    if da is not None:
        m = matmul(matmul(adjoint(v), hermitian(da)), v)
        of_vectors = matmul(matmul(v, _whole(_quotients(values, g, slope, m), m) * m), adjoint(v))
    return accumulate([of_values, of_vectors])


#: ``matrix_of_eigenvalues(a, v, values, g, slope)``: W = V diag(g) Vᴴ, where V are the eigenvectors of ``a``.
#: The operator is differentiable with respect to ``a`` and ``g``. ``slope`` is the limit of the difference
#: quotients of g at equal eigenvalues
matrix_of_eigenvalues = general(
    "matrix_of_eigenvalues",
    work=of_matrices(2),
    type_rule=lambda a, v, values, g, slope: a,
    numpy=lambda a, v, values, g, slope: _matrix_kernel(np, v, g),
    xla=lambda jax, a, v, values, g, slope: _matrix_kernel(jax.numpy, v, g),
    jvp=_matrix_jvp,
    axes=Core("(i,j),(i,k),(k),(k),(k)->(i,j)"),
    samples=[
        case(reals()[3, 3], reals()[3, 3], reals()[3], reals()[3], reals()[3]),
        case(reals()[2, 2, 2], reals()[2, 2, 2], reals()[2, 2], reals()[2, 2], reals()[2, 2]),
    ],
)
