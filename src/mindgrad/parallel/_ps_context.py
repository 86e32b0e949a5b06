"""Roles in MindSpore's parameter servers, which mindgrad does not have."""


def _is_ps_mode() -> bool:
    """Return whether servers store Parameters."""
    return False


def _is_role_worker() -> bool:
    """Return whether this process trains for a server."""
    return False


def _is_role_pserver() -> bool:
    """Return whether this process stores Parameters."""
    return False


def _is_role_sched() -> bool:
    """Return whether this process starts the others."""
    return False
