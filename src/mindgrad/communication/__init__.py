"""Communication between processes, of which there is one: programs made for several run as one of them."""

from mindgrad._base.missing import explain_room as _explain_room
from mindgrad.communication.management import (
    GlobalComm,
    create_group,
    destroy_group,
    get_group_rank_from_world_rank,
    get_group_size,
    get_local_rank,
    get_local_rank_size,
    get_rank,
    get_world_rank_from_group_rank,
    init,
    release,
)

__all__ = [
    "GlobalComm", "create_group", "destroy_group", "get_group_rank_from_world_rank", "get_group_size",
    "get_local_rank", "get_local_rank_size", "get_rank", "get_world_rank_from_group_rank", "init", "release",
]  # fmt: skip

_explain_room(__name__)
