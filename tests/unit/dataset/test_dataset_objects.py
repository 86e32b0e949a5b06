"""Dictionaries in columns, saving of rows, updates of a pipeline and samplers of classes."""

import struct

import numpy as np
import pytest

import mindgrad
from mindgrad import dataset as ds


def numbers(n):
    for i in range(n):
        yield {"number": i, "powers": {"both": np.array([i, i * i])}}, float(i)


def test_a_dictionary_is_a_column():
    data = ds.GeneratorDataset(lambda: numbers(2), ["info", "x"])
    arrays = list(data.create_dict_iterator(num_epochs=1, output_numpy=True))
    assert [row["info"]["number"].item() for row in arrays] == [0, 1]
    assert isinstance(arrays[1]["info"]["powers"]["both"], np.ndarray)
    info, x = list(data)[1]
    assert isinstance(info["number"], mindgrad.Tensor)
    assert x.item() == 1.0
    assert info["powers"]["both"].asnumpy().tolist() == [1, 1]


def test_functions_of_map_and_filter_take_the_dictionary_itself():
    data = ds.GeneratorDataset(lambda: numbers(3), ["info", "x"])
    data = data.filter(lambda info: info["number"] > 0, "info")
    pick = lambda info: info["powers"]
    data = data.map([pick, lambda powers: powers["both"] + 1], "info")
    assert [row[0].asnumpy().tolist() for row in data] == [[2, 2], [3, 5]]


def test_batches_stack_the_values_of_dictionaries():
    (row,) = (
        ds.GeneratorDataset(lambda: numbers(3), ["info", "x"])
        .batch(3)
        .create_tuple_iterator(num_epochs=1, output_numpy=True)
    )
    assert row[0]["number"].tolist() == [0, 1, 2]
    assert row[0]["powers"]["both"].tolist() == [[0, 0], [1, 1], [2, 4]]


def test_dictionaries_with_different_names_are_not_stacked():
    data = ds.GeneratorDataset(lambda: iter([({"a": 1},), ({"b": 1},)]), ["info"]).batch(2)
    with pytest.raises(ValueError, match="different keys"):
        list(data)


def test_per_batch_map_gives_dictionaries():
    data = ds.GeneratorDataset(lambda: iter([(1,), (2,)]), ["x"])
    data = data.batch(2, per_batch_map=lambda x, _: ({"list": x}, {"sum": sum(x)}), output_columns=["a", "b"])
    (row,) = data.create_dict_iterator(num_epochs=1, output_numpy=True)
    assert [each.item() for each in row["a"]["list"]] == [1, 2]
    assert row["b"]["sum"].item() == 3


def test_saved_rows_are_read_again(tmp_path):
    columns = {
        "image": np.arange(12, dtype=np.uint8).reshape(2, 2, 3),
        "long": np.array([1, 2], np.uint32),
        "half": np.array([0.5, 2], np.float16),
        "flag": np.array([True, False]),
        "text": ["one", "two"],
    }
    ds.NumpySlicesDataset(columns, shuffle=False).save(str(tmp_path / "rows"))
    first, second = ds.MindDataset(str(tmp_path / "rows"), shuffle=False).create_dict_iterator(
        num_epochs=1, output_numpy=True
    )
    assert {name: value.dtype.name for name, value in first.items()} == {
        "image": "int32", "long": "int64", "half": "float32", "flag": "int32", "text": "str96",
    }  # fmt: skip
    assert second["image"].tolist() == columns["image"][1].tolist()
    assert (second["half"].item(), second["flag"].item(), second["text"].item()) == (2.0, 0, "two")


def test_saving_refuses_other_files_and_types(tmp_path):
    with pytest.raises(ValueError, match="file_type"):
        ds.NumpySlicesDataset([1]).save(str(tmp_path / "rows"), file_type="csv")
    with pytest.raises(TypeError, match="'column_0' has dtype complex128"):
        ds.NumpySlicesDataset(np.array([1j])).save(str(tmp_path / "rows"))


def test_an_update_reaches_the_next_row():
    scale = {"by": 1}
    data = ds.NumpySlicesDataset([1, 2, 3], shuffle=False)
    data = data.sync_wait("scale", callback=scale.update).map(lambda x: x * scale["by"])
    rows = []
    for i, (x,) in enumerate(data):
        rows.append(int(x))
        data.sync_update("scale", data={"by": 10 ** (i + 1)})
    assert rows == [1, 20, 300]
    with pytest.raises(ValueError, match="no condition 'other'"):
        data.sync_update("other")


def write_idx(folder, prefix, labels):
    n = len(labels)
    images = np.arange(n * 784).astype(np.uint8).tobytes()
    (folder / f"{prefix}-images-idx3-ubyte").write_bytes(struct.pack(">4I", 2051, n, 28, 28) + images)
    (folder / f"{prefix}-labels-idx1-ubyte").write_bytes(struct.pack(">2I", 2049, n) + bytes(labels))


def test_every_usage_is_that_of_the_files_that_are_there(tmp_path):
    write_idx(tmp_path, "train", [3, 1, 3])
    assert len(ds.MnistDataset(str(tmp_path))) == 3
    with pytest.raises(ValueError, match="t10k-images"):
        ds.MnistDataset(str(tmp_path), usage="test")
    write_idx(tmp_path, "t10k", [0])
    assert len(ds.MnistDataset(str(tmp_path))) == 4


def test_cifar_reads_the_parts_that_are_there(tmp_path):
    (tmp_path / "test_batch.bin").write_bytes(bytes(3073 * 2))
    assert len(ds.Cifar10Dataset(str(tmp_path))) == 2
    (tmp_path / "data_batch_1.bin").write_bytes(bytes(3073))
    with pytest.raises(ValueError, match=r"data_batch_2\.bin"):  # a part is whole or absent
        ds.Cifar10Dataset(str(tmp_path))


def test_classes_are_sampled_in_order(tmp_path):
    write_idx(tmp_path, "train", [3, 1, 3, 1, 0])
    sampler = ds.PKSampler(2, num_samples=5)
    data = ds.MnistDataset(str(tmp_path), sampler=sampler)
    assert [int(label) for _, label in data] == [0, 0, 1, 1, 3]
    assert data.get_dataset_size() == 5
    with pytest.raises(ValueError, match="'class_column'"):
        ds.MnistDataset(str(tmp_path), sampler=ds.PKSampler(2, class_column="kind"))
    with pytest.raises(TypeError, match="classes of all samples"):
        list(ds.NumpySlicesDataset([1, 2], sampler=sampler))
    with pytest.raises(NotImplementedError, match="num_class"):
        ds.PKSampler(2, num_class=3)


def test_an_object_with_items_and_a_length_is_a_sampler():
    class Order:
        def __len__(self):
            return 3

        def __getitem__(self, index):
            return [2, 0, 2][index]

    data = ds.NumpySlicesDataset(["a", "b", "c"], sampler=Order())
    rows = [row[0].item() for row in data.create_tuple_iterator(output_numpy=True, num_epochs=2)]
    assert rows == ["c", "a", "c"]
    assert len(data) == 3
