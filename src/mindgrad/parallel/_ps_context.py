"""Roles in MindSpore's parameter servers, which mindgrad does not have."""


def _is_ps_mode() -> bool:
    """Return ``False``, because mindgrad has no parameter servers."""
    return False


def _is_role_worker() -> bool:
    """Return ``False``: this process is not a worker of a parameter server."""
    return False


def _is_role_pserver() -> bool:
    """Return ``False``: this process is not a parameter server."""
    return False


def _is_role_sched() -> bool:
    """Return ``False``: this process does not schedule a parameter server."""
    return False
