"""The parts that processes play in MindSpore's parameter servers: there are none."""


def _is_ps_mode() -> bool:
    """Whether Parameters are kept by servers."""
    return False


def _is_role_worker() -> bool:
    """Whether this process trains for a server."""
    return False


def _is_role_pserver() -> bool:
    """Whether this process keeps Parameters."""
    return False


def _is_role_sched() -> bool:
    """Whether this process starts the others."""
    return False
