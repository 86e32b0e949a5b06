"""Communication between processes: ``init``, ranks, and groups, as in MindSpore."""

from mindgrad._base.missing import explain_package as _explain_package
from mindgrad.communication import management
from mindgrad.communication.management import *  # noqa: F403

__all__ = list(management.__all__)

_explain_package(__name__)
