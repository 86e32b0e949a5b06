"""Operators as classes, MindSpore r1.x's spelling: ``ops.MatMul(transpose_b=True)(x, y)``.

Each fixes its attributes when it is made and applies the function of the same name when it is called.
"""

from mindgrad._base.missing import explain_room as _explain_room
from mindgrad.ops.operations import (
    alignment_ops,
    array_ops,
    box_ops,
    collective_ops,
    later_ops,
    layer_ops,
    linalg_ops,
    loss_ops,
    math_ops,
    nn_ops,
    other_ops,
    part_ops,
    primitive,
    random_ops,
    rl_ops,
    sparse_ops,
    special_ops,
    status_ops,
    uneven_collective_ops,
    update_ops,
)
from mindgrad.ops.operations._embedding_cache_ops import UpdateCache  # noqa: F401
from mindgrad.ops.operations.alignment_ops import *  # noqa: F403
from mindgrad.ops.operations.array_ops import *  # noqa: F403
from mindgrad.ops.operations.base import Operation
from mindgrad.ops.operations.box_ops import *  # noqa: F403
from mindgrad.ops.operations.collective_ops import *  # noqa: F403
from mindgrad.ops.operations.later_ops import *  # noqa: F403
from mindgrad.ops.operations.layer_ops import *  # noqa: F403
from mindgrad.ops.operations.linalg_ops import *  # noqa: F403
from mindgrad.ops.operations.loss_ops import *  # noqa: F403
from mindgrad.ops.operations.math_ops import *  # noqa: F403
from mindgrad.ops.operations.nn_ops import *  # noqa: F403
from mindgrad.ops.operations.other_ops import *  # noqa: F403
from mindgrad.ops.operations.part_ops import *  # noqa: F403
from mindgrad.ops.operations.primitive import *  # noqa: F403
from mindgrad.ops.operations.random_ops import *  # noqa: F403
from mindgrad.ops.operations.rl_ops import *  # noqa: F403
from mindgrad.ops.operations.sparse_ops import *  # noqa: F403
from mindgrad.ops.operations.special_ops import *  # noqa: F403
from mindgrad.ops.operations.status_ops import *  # noqa: F403
from mindgrad.ops.operations.status_ops import identity  # noqa: F401
from mindgrad.ops.operations.uneven_collective_ops import *  # noqa: F403
from mindgrad.ops.operations.update_ops import *  # noqa: F403

__all__ = ["Operation"]
__all__ += alignment_ops.__all__
__all__ += array_ops.__all__
__all__ += box_ops.__all__
__all__ += collective_ops.__all__
__all__ += later_ops.__all__
__all__ += layer_ops.__all__
__all__ += linalg_ops.__all__
__all__ += loss_ops.__all__
__all__ += math_ops.__all__
__all__ += nn_ops.__all__
__all__ += other_ops.__all__
__all__ += part_ops.__all__
__all__ += primitive.__all__
__all__ += random_ops.__all__
__all__ += rl_ops.__all__
__all__ += sparse_ops.__all__
__all__ += special_ops.__all__
__all__ += status_ops.__all__
__all__ += uneven_collective_ops.__all__
__all__ += update_ops.__all__

_explain_room(__name__)
