"""``num_parallel_workers`` starts no workers; it warns once, and the rows are the same."""

import numpy as np
import pytest

from mindgrad import dataset as ds


@pytest.mark.parametrize(
    "read",
    [
        lambda data: data.map(lambda x: x + 1, num_parallel_workers=4),
        lambda data: data.map(lambda x: x + 1).batch(1, num_parallel_workers=4),
        lambda data: data.map(lambda x: x + 1).filter(lambda x: x > 0, num_parallel_workers=4),
    ],
    ids=["map", "batch", "filter"],
)
def test_workers_warn_once_and_keep_the_rows(read, monkeypatch):
    monkeypatch.setattr("mindgrad.dataset.workers._warned", [])
    data = ds.NumpySlicesDataset(np.arange(5), shuffle=False)
    with pytest.warns(UserWarning, match=r"num_parallel_workers=4 has no effect"):
        rows = read(data)
    assert [int(x) for (x,) in rows] == [1, 2, 3, 4, 5]
    read(data)


def test_sources_and_settings_warn_of_workers(monkeypatch):
    for use in (
        lambda: ds.GeneratorDataset([1, 2], ["x"], num_parallel_workers=8),
        lambda: ds.config.set_num_parallel_workers(8),
    ):
        monkeypatch.setattr("mindgrad.dataset.workers._warned", [])
        with pytest.warns(UserWarning, match="num_parallel_workers=8 has no effect"):
            use()
    ds.config.set_num_parallel_workers(1)
    ds.GeneratorDataset([1, 2], ["x"], num_parallel_workers=1)
