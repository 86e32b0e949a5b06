"""``ops.EmbeddingLookup``: rows of a part of a table, zeros where another part has them."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops

TABLE = np.arange(1.0, 9.0, dtype=np.float32).reshape(4, 2)


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_rows_outside_of_the_table_are_zero(mode):
    ms.set_context(mode=mode)
    indices = np.array([[5, 2], [8, 7]])  # rows 1, -2, 4 and 3

    def total(table):
        return (ops.EmbeddingLookup()(table, Tensor(indices), 4) * Tensor([1.0, 2.0])).sum()

    rows = ms.jit(lambda table: ops.EmbeddingLookup()(table, Tensor(indices), 4))(Tensor(TABLE))
    zero = np.zeros(2)
    np.testing.assert_array_equal(rows.asnumpy(), [[TABLE[1], zero], [zero, TABLE[3]]])
    # only rows that were looked up have a derivative
    expected = np.zeros((4, 2))
    expected[[1, 3]] = [1, 2]
    np.testing.assert_array_equal(ms.grad(total)(Tensor(TABLE)).asnumpy(), expected)
