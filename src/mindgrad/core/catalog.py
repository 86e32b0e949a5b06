"""Import all modules with primitives, to complete ``ir.primitive.REGISTRY``.

``import mindgrad`` imports this module. The other modules of the core import only the primitives that they
use.
"""

from mindgrad.core.control import (  # noqa: F401
    cond,
    custom,
    debug_print,
    hook,
    scan,
    taylor_coefficients,
    while_,
    while_pullback,
)
from mindgrad.core.primitives import (  # noqa: F401
    arithmetic,
    assignment,
    bessel,
    bessel_second,
    comparisons,
    complexes,
    contraction,
    convolution,
    cumulative,
    determinant,
    eigh_svd,
    einsum,
    elementwise,
    exact_zeros,
    fourier,
    general_eig,
    incomplete,
    indexing,
    inverse_pairs,
    linalg,
    log_incomplete,
    logic,
    lu,
    neighbors,
    piecewise,
    powers,
    random,
    recurrence,
    reduction,
    scaled_erfc,
    slicing,
    sorting,
    special,
    static_slices,
    structural,
    unstacking,
)
