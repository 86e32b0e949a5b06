"""The instruction set for which XLA compiles the programs of a run of the tests.

``scripts/test --processor NAME`` limits NumPy, OpenBLAS and XLA to the instructions of an older processor. It names
XLA's limit in ``TEST_MAX_ISA``, because tests choose ``XLA_FLAGS`` themselves for the processes that they start.
"""

import os

__all__ = ["with_instruction_set"]

OPTION = "--xla_cpu_max_isa"


def with_instruction_set(flags: str = "") -> str:
    """Return these options of XLA, limited to the instruction set of this run.

    Without options, XLA compiles as it does for users.
    """
    limit = os.environ.get("TEST_MAX_ISA")
    return f"{flags} {OPTION}={limit}".lstrip() if limit and OPTION not in flags else flags
