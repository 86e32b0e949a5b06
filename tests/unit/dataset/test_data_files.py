"""Data sets of files: images, lines, TFRecord, MindRecord in both directions, and what their errors say."""

import gzip
import json
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import mindgrad as ms
import mindgrad.dataset as ds
from mindgrad import mindrecord, nn
from mindgrad._base.protobuf import bytes_head, varint
from mindgrad.dataset.tfrecord import masked_checksum

FILES = Path(__file__).parents[1] / "mindspore_files"


def rows(dataset):
    return list(dataset.create_dict_iterator(num_epochs=1, output_numpy=True))


# -- images ------------------------------------------------------------------------------------------


@pytest.fixture
def mnist(tmp_path):
    images = np.arange(5 * 28 * 28).reshape(5, 28, 28).astype(np.uint8)
    for part, numbers in (("train", [0, 1, 2]), ("t10k", [3, 4])):
        head = struct.pack(">4BIII", 0, 0, 8, 3, len(numbers), 28, 28)
        (tmp_path / f"{part}-images-idx3-ubyte").write_bytes(head + images[numbers].tobytes())
        head = struct.pack(">4BI", 0, 0, 8, 1, len(numbers))
        (tmp_path / f"{part}-labels-idx1-ubyte").write_bytes(head + bytes(numbers))
    return tmp_path, images


@pytest.mark.parametrize("kind", [ds.MnistDataset, ds.FashionMnistDataset, ds.KMnistDataset])
def test_mnist_is_read(mnist, kind):
    folder, images = mnist
    for usage, labels in ((None, [0, 1, 2, 3, 4]), ("train", [0, 1, 2]), ("test", [3, 4])):
        actual = rows(kind(folder, usage, shuffle=False))
        assert [int(row["label"]) for row in actual] == labels
        assert all(np.array_equal(row["image"][..., 0], images[row["label"]]) for row in actual)
        assert {(row["image"].shape, row["image"].dtype, row["label"].dtype) for row in actual} == {
            ((28, 28, 1), np.dtype(np.uint8), np.dtype(np.uint32))
        }
    assert sorted(int(row["label"]) for row in rows(kind(str(folder)))) == [0, 1, 2, 3, 4]
    assert [int(row["label"]) for row in rows(kind(folder, num_shards=2, shard_id=1, shuffle=False))][:2] == [
        1,
        3,
    ]
    assert len(kind(folder, num_samples=2)) == 2
    assert [int(row["label"]) for row in rows(kind(folder, sampler=[4, 0]))] == [4, 0]


def test_what_is_no_mnist_is_refused(mnist):
    folder, _ = mnist
    with pytest.raises(ValueError, match="'usage' must be one of train, test or all"):
        ds.MnistDataset(folder, "validation")
    file = folder / "train-images-idx3-ubyte"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(ValueError, match="shorter than declared in its header"):
        ds.MnistDataset(folder)
    file.write_bytes(b"P5 28 28 255 and so on")
    with pytest.raises(ValueError, match="is not an IDX file"):
        ds.MnistDataset(folder)
    file.unlink()
    with pytest.raises(
        ValueError, match=r"has no file 'train-images-idx3-ubyte'. mindgrad does not download"
    ):
        ds.MnistDataset(folder)


def test_cifar_is_read(tmp_path):
    planes = np.arange(3 * 32 * 32).reshape(3, 32, 32).astype(np.uint8)
    for i in range(1, 6):
        (tmp_path / f"data_batch_{i}.bin").write_bytes(bytes([i]) + planes.tobytes())
    (tmp_path / "test_batch.bin").write_bytes((bytes([9]) + planes.tobytes()) * 2)
    train = rows(ds.Cifar10Dataset(tmp_path, "train", shuffle=False))
    assert [int(row["label"]) for row in train] == [1, 2, 3, 4, 5]
    assert np.array_equal(train[0]["image"], planes.transpose(1, 2, 0))
    assert len(ds.Cifar10Dataset(tmp_path)) == 7
    (tmp_path / "train.bin").write_bytes(bytes([3, 7]) + planes.tobytes())
    (row,) = rows(ds.Cifar100Dataset(tmp_path, "train"))
    assert (int(row["coarse_label"]), int(row["fine_label"])) == (3, 7)
    assert np.array_equal(row["image"], planes.transpose(1, 2, 0))
    (tmp_path / "train.bin").write_bytes(b"123")
    with pytest.raises(ValueError, match="not a CIFAR file in binary format"):
        ds.Cifar100Dataset(tmp_path, "train")


def test_folders_of_images(tmp_path):
    pytest.importorskip("PIL")
    for i, name in enumerate(("b", "a", "c")):
        (tmp_path / name).mkdir()
        ds.vision.write_png(tmp_path / name / "0.PNG", np.full((2, 3, 3), i, np.uint8))
    (tmp_path / "a" / "notes.txt").write_text("no image")
    found = rows(ds.ImageFolderDataset(tmp_path, shuffle=False, decode=True))
    assert [(int(row["label"]), int(row["image"][0, 0, 0])) for row in found] == [(0, 1), (1, 0), (2, 2)]
    assert found[0]["label"].dtype == np.int32
    encoded = ds.ImageFolderDataset(tmp_path, class_indexing={"c": 5}).map(ds.vision.Decode(), "image")
    assert [(int(row["label"]), row["image"].shape) for row in rows(encoded)] == [(5, (2, 3, 3))]
    assert ds.ImageFolderDataset(tmp_path).get_class_indexing() == {"a": 0, "b": 1, "c": 2}
    assert len(ds.ImageFolderDataset(tmp_path, decrypt=lambda name: b"x", extensions=[".txt"])) == 1
    with pytest.raises(ValueError, match="no folder in"):
        ds.ImageFolderDataset(tmp_path, extensions=[".gif"])


def test_celeba(tmp_path):
    names = " ".join(f"attribute{i}" for i in range(40))
    signs = [" ".join(["1" if i == row else "-1" for i in range(40)]) for row in range(3)]
    lines = "\n".join(f"{i}.jpg {line}" for i, line in enumerate(signs))
    (tmp_path / "list_attr_celeba.txt").write_text(f"3\n{names}\n{lines}\n")
    (tmp_path / "list_eval_partition.txt").write_text("0.jpg 0\n1.jpg 1\n2.jpg 2\n")
    for i in range(3):
        (tmp_path / f"{i}.jpg").write_bytes(bytes([i]))
    assert [row["attr"].argmax() for row in rows(ds.CelebADataset(tmp_path, shuffle=False))] == [0, 1, 2]
    (row,) = rows(ds.CelebADataset(tmp_path, usage="valid"))
    assert (row["image"].tolist(), row["attr"].sum(), row["attr"].dtype) == ([1], 1, np.uint32)


# -- lines -------------------------------------------------------------------------------------------


def texts(dataset):
    return [str(row["text"]) for row in rows(dataset)]


def test_text_files_and_the_order_of_their_lines(tmp_path):
    ms.set_seed(1)
    files = [tmp_path / f"{name}.txt" for name in "abc"]
    for file in files:
        file.write_text("".join(f"{file.stem}{i}\n" for i in range(6)) + "\n", encoding="utf-8")
    lines = [f"{file.stem}{i}" for file in files for i in range(6)]
    assert texts(ds.TextFileDataset(files, shuffle=False)) == lines
    assert texts(ds.TextFileDataset(files, shuffle=ds.Shuffle.FALSE, num_samples=2)) == lines[:2]
    mixed = texts(ds.TextFileDataset(files))
    assert mixed != lines
    assert sorted(mixed) == lines
    inside = texts(ds.TextFileDataset(files, shuffle=ds.Shuffle.INFILE))
    assert [line[0] for line in inside] == [line[0] for line in lines]
    assert inside != lines
    data = ds.TextFileDataset(files, shuffle=ds.Shuffle.FILES)
    orders = {tuple(texts(data)) for _ in range(10)}
    assert len(orders) > 1
    assert all([line[1] for line in order] == [line[1] for line in lines] for order in orders)
    shards = [texts(ds.TextFileDataset(files, shuffle=False, num_shards=3, shard_id=i)) for i in range(3)]
    assert sorted(line for shard in shards for line in shard) == lines
    with pytest.raises(ValueError, match="does not exist"):
        ds.TextFileDataset(tmp_path / "d.txt")
    with pytest.raises(TypeError, match="a bool or a Shuffle"):
        ds.TextFileDataset(files, shuffle="global")


def test_csv_files(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text('x,y,name\n1,2.5,"a, b"\n,,\n')
    actual = rows(ds.CSVDataset(file, column_defaults=[7, 0.5, "z"], shuffle=False))
    assert [row["x"].tolist() for row in actual] == [1, 7]
    assert [(row["y"].dtype, row["y"].item()) for row in actual] == [(np.float32, 2.5), (np.float32, 0.5)]
    assert [str(row["name"]) for row in actual] == ["a, b", "z"]
    assert actual[0]["x"].dtype == np.int32
    (tmp_path / "b.csv").write_text("1;2\n3;4\n")
    named = ds.CSVDataset(tmp_path / "b.csv", ";", column_names=["p", "q"], shuffle=False)
    assert [str(row["q"]) for row in rows(named)] == ["2", "4"]
    with pytest.raises(RuntimeError, match=r"3 columns, but 2"):
        ds.CSVDataset(file, column_defaults=[1, 2])
    file.write_text("a\n")
    with pytest.raises(RuntimeError, match=r"'a' of the file .* is not a valid int"):
        ds.CSVDataset(file, column_defaults=[1], column_names=["x"])


def test_lines_of_clue(tmp_path):
    file = tmp_path / "train.json"
    file.write_text(json.dumps({"sentence1": "a", "sentence2": "b", "label": "1"}) + "\n", encoding="utf-8")
    (row,) = rows(ds.CLUEDataset(file))
    assert {name: str(value) for name, value in row.items()} == {
        "sentence1": "a",
        "sentence2": "b",
        "label": "1",
    }
    assert ds.CLUEDataset(file, usage="test").get_col_names() == ["sentence1", "sentence2"]
    with pytest.raises(RuntimeError, match="has no 'sentence'"):
        ds.CLUEDataset(file, "TNEWS")


# -- TFRecord ----------------------------------------------------------------------------------------


def message(*fields):
    return b"".join(bytes_head(number, len(content)) + content for number, content in fields)


def example(**features):
    entries = []
    for name, values in features.items():
        if isinstance(values[0], bytes):
            feature = message((1, message(*((1, value) for value in values))))
        elif isinstance(values[0], float):
            feature = message((2, message((1, np.array(values, "<f4").tobytes()))))
        else:
            feature = message((3, message((1, b"".join(map(varint, values))))))
        entries.append((1, message((1, name.encode()), (2, feature))))
    return message((1, message(*entries)))


def framed(*records):
    parts = []
    for record in records:
        length = struct.pack("<Q", len(record))
        parts += [
            length,
            struct.pack("<I", masked_checksum(length)),
            record,
            struct.pack("<I", masked_checksum(record)),
        ]
    return b"".join(parts)


def test_the_checksum_is_that_of_the_standard():
    crc = (masked_checksum(b"123456789") - 0xA282EAD8) & 0xFFFFFFFF
    assert (crc >> 17 | crc << 15) & 0xFFFFFFFF == 0xE3069283  # the check value of CRC-32C


def test_tfrecord_files(tmp_path):
    file = tmp_path / "a.tfrecord"
    records = [example(x=[1.5, -2.0], n=[i, -i], data=[b"ab\0"], word=[b"hi", b"you"]) for i in range(3)]
    file.write_bytes(framed(*records))
    actual = rows(ds.TFRecordDataset(file, columns_list=["x", "n", "word"], shuffle=False))
    assert [row["n"].tolist() for row in actual] == [[0, 0], [1, -1], [2, -2]]
    assert actual[0]["x"].tolist() == [1.5, -2.0]
    assert (actual[0]["x"].dtype, actual[0]["n"].dtype) == (np.float32, np.int64)
    assert actual[0]["word"].tolist() == [b"hi", b"you"]
    schema = ds.Schema()
    schema.add_column("data", ms.uint8)
    schema.add_column("n", "int32", [2, 1])
    (row, *_) = rows(ds.TFRecordDataset(file, schema, shuffle=False))
    assert (row["data"].tolist(), row["n"].dtype, row["n"].shape) == ([97, 98, 0], np.int32, (2, 1))
    path = tmp_path / "schema.json"
    path.write_text(schema.to_json())
    assert ds.TFRecordDataset(file, str(path)).get_col_names() == ["data", "n"]
    zipped = tmp_path / "b.tfrecord"
    zipped.write_bytes(gzip.compress(file.read_bytes()))
    assert len(ds.TFRecordDataset([zipped], columns_list=["x"], compression_type="GZIP")) == 3
    with pytest.raises(RuntimeError, match="not a TFRecord file, or compressed"):
        ds.TFRecordDataset(zipped)
    with pytest.raises(RuntimeError, match="Pass a schema in which the type of the feature is uint8"):
        rows(ds.TFRecordDataset(file, columns_list=["data"]))
    with pytest.raises(RuntimeError, match="no column 'z'"):
        ds.TFRecordDataset(file, columns_list=["z"])
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(RuntimeError, match="is truncated"):
        ds.TFRecordDataset(file)


# -- MindRecord --------------------------------------------------------------------------------------

SCHEMA = {
    "name": {"type": "string"}, "label": {"type": "int32"}, "score": {"type": "float64"}, "data": {"type": "bytes"},
    "field": {"type": "float32", "shape": [2, 3]}, "path": {"type": "int64", "shape": [-1]},
}  # fmt: skip


def record(i):
    field = np.arange(6, dtype=np.float32).reshape(2, 3) + i
    path = np.array([1, -i, 300 * i, 70000 * i, i << 40])
    return {
        "name": f"n{i}",
        "label": 300 * i - 50,
        "score": i / 3,
        "data": bytes([i]) * 5,
        "field": field,
        "path": path,
    }


def same(found, expected):
    return set(found) == set(expected) and all(
        np.array_equal(found[name], expected[name]) for name in expected
    )


def test_files_of_mindspore_are_read(tmp_path):
    with zipfile.ZipFile(FILES / "rows.mindrecord.zip") as archive:
        archive.extractall(tmp_path)
    reader = mindrecord.FileReader(str(tmp_path / "rows.mindrecord0"))
    assert reader.len() == 5
    assert reader.schema() == SCHEMA
    assert all(same(row, record(i)) for i, row in enumerate(reader.get_next()))
    actual = rows(ds.MindDataset(str(tmp_path / "rows.mindrecord1"), shuffle=False))
    assert [int(row["label"]) for row in actual] == [300 * i - 50 for i in range(5)]
    assert actual[2]["data"].tolist() == [2] * 5
    types = {name: value.dtype for name, value in actual[0].items() if name != "name"}
    assert types == {
        "label": np.int32,
        "score": np.float64,
        "data": np.uint8,
        "field": np.float32,
        "path": np.int64,
    }
    assert len(ds.MindDataset([str(tmp_path / "rows.mindrecord1")])) == 2


@pytest.mark.parametrize("shards", [1, 3])
def test_what_is_written_is_read(tmp_path, shards):
    path = str(tmp_path / "a.mindrecord")
    writer = mindrecord.FileWriter(path, shards)
    writer.set_page_size(1 << 15)  # several pages
    assert writer.add_schema(SCHEMA, "rows") == 0
    writer.add_index(["label"])
    for start in (0, 100):
        writer.write_raw_data([record(i % 120) | {"data": bytes(700)} for i in range(start, start + 100)])
    assert writer.commit() == mindrecord.SUCCESS
    first = path if shards == 1 else path + "0"
    found = {int(row["label"]): row for row in mindrecord.FileReader(first).get_next()}
    assert len(mindrecord.FileReader(first, columns=["label"])._shards) == 200
    assert all(same(found[300 * i - 50], record(i) | {"data": bytes(700)}) for i in range(120))
    data = ds.MindDataset(first, ["label"], padded_sample={"label": -1}, num_padded=4, shuffle=False)
    assert [int(row["label"]) for row in rows(data)][-4:] == [-1] * 4
    assert len(ds.MindDataset(first, num_shards=2, shard_id=0)) == 100
    with pytest.raises(mindrecord.MRMOpenError, match="exists already"):
        mindrecord.FileWriter(path, shards)
    mindrecord.FileWriter(path, shards, overwrite=True)


def test_rows_of_one_part(tmp_path):
    for number, schema in enumerate(({"x": {"type": "int64"}}, {"d": {"type": "bytes"}})):
        writer = mindrecord.FileWriter(tmp_path / f"{number}.mindrecord")
        writer.add_schema(schema)
        values = [-(2**63), -1, 0, 127, 128, 2**40] if "x" in schema else [b"", b"abc"]
        name = next(iter(schema))
        writer.write_raw_data([{name: value} for value in values])
        writer.commit()
        reader = mindrecord.FileReader(tmp_path / f"{number}.mindrecord")
        assert [row[name] for row in reader.get_next()] == values


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"label": 1.5}, "must have the type int32, but got 1.5"),
        ({"label": 2**31}, "is not a valid int32"),
        ({"name": 3}, "must have the type string"),
        ({"data": "text"}, "'data' must be bytes"),
        ({"field": np.zeros((2, 3))}, "must have the dtype float32, but got float64"),
        ({"field": np.zeros(5, np.float32)}, r"must have the shape \[2, 3\]"),
    ],
)
def test_rows_that_do_not_fit_are_refused(tmp_path, row, message):
    writer = mindrecord.FileWriter(tmp_path / "a.mindrecord")
    writer.add_schema(SCHEMA)
    with pytest.raises(mindrecord.MRMValidateDataError, match=message):
        writer.write_raw_data([record(1) | row])
    with pytest.raises(mindrecord.MRMValidateDataError, match="has no field 'name'"):
        writer.write_raw_data([{"label": 1}])


def test_what_is_no_mindrecord_file_is_refused(tmp_path):
    path = tmp_path / "a.mindrecord"
    with pytest.raises(FileNotFoundError, match="does not exist"):
        ds.MindDataset(str(path))
    path.write_bytes(b"no record")
    with pytest.raises(mindrecord.PathNotExistsError, match="the index"):
        ds.MindDataset(str(path))
    (tmp_path / "a.mindrecord.db").write_bytes(b"")
    with pytest.raises(mindrecord.MRMOpenError, match="is not a MindRecord file"):
        ds.MindDataset(str(path))
    with pytest.raises(mindrecord.MRMInvalidSchemaError, match="a 'type' of int32"):
        mindrecord.FileWriter(tmp_path / "b").add_schema({"x": {"type": "int8"}})
    with pytest.raises(NotImplementedError, match=r"write them with mindspore.mindrecord.FileWriter"):
        mindrecord.Cifar10ToMR("source", "destination")


# -- what belongs to all -----------------------------------------------------------------------------


def test_steps_have_classes_of_their_own():
    data = ds.NumpySlicesDataset([1, 2, 3, 4], ["x"])
    kinds = {
        ds.BatchDataset: data.batch(2), ds.MapDataset: data.map(abs), ds.RepeatDataset: data.repeat(2),
        ds.ShuffleDataset: data.shuffle(2), ds.TakeDataset: data.take(1), ds.SkipDataset: data.skip(1),
        ds.FilterDataset: data.filter(bool), ds.ProjectDataset: data.project("x"), ds.ConcatDataset: data + data,
        ds.RenameDataset: data.rename("x", "y"), ds.ZipDataset: data.zip(data.rename("x", "y")),
    }  # fmt: skip
    for kind, dataset in kinds.items():
        assert type(dataset) is kind
        assert len(rows(dataset)) > 0


def test_schemas_and_padded_rows():
    schema = ds.Schema()
    schema.parse_columns({"x": {"type": "float32", "shape": [2]}, "s": {"type": "string"}})
    copy = ds.Schema()
    copy.from_json(json.loads(schema.to_json()))
    assert copy.columns == schema.columns
    with pytest.raises(ValueError, match="the column 'x' exists already"):
        schema.add_column("x", ms.int8)
    data = ds.NumpySlicesDataset({"x": np.arange(3)}, shuffle=False) + ds.PaddedDataset([{"x": np.int64(9)}])
    assert [int(row["x"]) for row in rows(data)] == [0, 1, 2, 9]
    with pytest.raises(NotImplementedError, match="no cache server"):
        ds.DatasetCache(1).get_stat()


def test_loops_with_a_dataset_helper():
    data = ds.NumpySlicesDataset({"x": np.arange(6, dtype=np.float32)}, shuffle=False).batch(2)
    for sinks in (True, False):
        helper = ms.DatasetHelper(data, sinks)
        net = ms.connect_network_with_dataset(nn.ReLU(), helper)
        for _ in range(2):
            assert [net(*inputs).asnumpy().tolist() for inputs in helper] == [[0, 1], [2, 3], [4, 5]]
        assert helper.types_shapes() == ([ms.float32], [[2]])
    with pytest.raises(TypeError, match="a DatasetHelper"):
        ms.connect_network_with_dataset(net, data)


def test_names_of_mindspore_lead_to_the_same_things():
    program = """
import mindspore as ms
import mindspore.dataset as ds
import mindspore.dataset.vision.c_transforms as C, mindspore.dataset.vision.py_transforms as P
import mindspore.dataset.transforms.c_transforms as C2, mindspore.dataset.transforms.py_transforms as P2
import mindspore.dataset.engine.datasets as de, mindspore.dataset.engine.datasets_vision as dv
import mindspore.dataset.core.config as config, mindspore.dataset.text.transforms
from mindspore.dataset.vision import Inter, Border
from mindspore.dataset.vision.utils import Inter as Inter2
from mindspore.dataset.vision.transforms import Resize
from mindspore.dataset.transforms.transforms import TensorOperation, PyTensorOperation, Compose
from mindspore.dataset.engine import ImageFolderDataset, MindDataset, DistributedSampler, PaddedDataset, config as c3
from mindspore.dataset.engine.samplers import RandomSampler
from mindspore.mindrecord import FileWriter, FileReader
from mindspore.train.dataset_helper import DatasetHelper, connect_network_with_dataset
assert Inter is Inter2 and Resize is ds.vision.Resize is C.Resize is P.Resize and dv.MnistDataset is ds.MnistDataset
assert config is ds.config is c3 and C2.TypeCast is P2.TypeCast and P2.OneHotOp and de.BatchDataset is ds.BatchDataset
ds.config.set_numa_enable(True)
assert ds.config.get_numa_enable() and ds.context is ms.context and ds.text.Vocab and DatasetHelper is ms.DatasetHelper
print("all")
"""
    done = subprocess.run([sys.executable, "-m", "mindgrad", "-c", program], capture_output=True, text=True)
    assert done.stdout == "all\n", done.stderr
