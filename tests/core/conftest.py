"""Tests of the core need neither the other packages of mindgrad nor JAX.

In the whole suite, they run with everything loaded. ``python -m pytest --confcutdir=tests/core tests/core`` runs them
with the core alone: importing JAX or another package of mindgrad raises ``ImportError``.
"""

import sys

if "mindgrad" not in sys.modules:
    from tests.core.alone import forbid_the_rest

    forbid_the_rest()
