"""Files of Parameters: both formats, MindSpore's own files, damage, and how they are loaded."""

import errno
import io
import json
import os
import pickle
import resource
import struct
import subprocess
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn
from mindgrad._base.protobuf import Malformed, bytes_head, varint
from mindgrad.core.ir.dtype import DTYPES
from mindgrad.train import ckpt, serialization

FILES = Path(__file__).parents[1] / "mindspore_files"
PEER = Path(__file__).parents[3] / ".bench/mindspore/bin/python"
FORMATS = ("ckpt", "safetensors")


class Net(nn.Cell):
    def __init__(self, fill=0.0, rows=2):
        super().__init__()
        self.weight = Parameter(Tensor(np.full((rows, 2), fill, np.float32)), name="weight")
        self.bias = Parameter(Tensor(np.full(2, fill, np.float32)), name="bias")

    def construct(self, x):
        return x @ self.weight + self.bias


class Outer(nn.Cell):
    def __init__(self, fill=0.0):
        super().__init__()
        self.net = Net(fill)
        self.scale = Parameter(Tensor(fill), name="scale")


def arrays(cell):
    return {each.name: each.asnumpy() for each in cell.get_parameters()}


def plain(content):
    """What a file holds, comparable: type, shape and bytes."""
    return {
        name: each if isinstance(each, str) else (str(each.dtype), each.shape, each.asnumpy().tobytes())
        for name, each in content.items()
    }


def entry(name, tensor):
    tag = bytes_head(1, len(name)) + name
    return (
        bytes_head(1, len(tag) + len(bytes_head(2, len(tensor)) + tensor))
        + tag
        + bytes_head(2, len(tensor))
        + tensor
    )


def tensor(dims, type_name=b"Float32", elements=b"\0\0\0\0"):
    packed = b"".join(b"\x08" + varint(size) for size in dims)
    return packed + bytes_head(2, len(type_name)) + type_name + bytes_head(3, len(elements)) + elements


def raw_safetensors(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


# -- round iterations -----------------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("crc_check", [False, True])
def test_a_cell_and_what_is_appended_come_back(tmp_path, format, crc_check):
    place = tmp_path / f"net.{format}"
    appended = {"epoch": 7, "loss": 0.25, "done": True, "text": "héllo 𝛁", "empty": "", "t": Tensor([1, 2])}
    ms.save_checkpoint(Outer(3.0), place, append_dict=appended, crc_check=crc_check)
    actual = ms.load_checkpoint(str(place), crc_check=crc_check)
    assert {name: str(each.dtype) for name, each in actual.items() if not isinstance(each, str)} == {
        "net.weight": "Float32", "net.bias": "Float32", "scale": "Float32", "epoch": "Int64",
        "loss": "Float32", "done": "Bool", "t": "Int64",
    }  # fmt: skip
    assert actual["text"] == "héllo 𝛁"
    assert actual["empty"] == ""
    assert (actual["epoch"].asnumpy(), actual["loss"].shape, actual["done"].item()) == (7, (), True)
    assert isinstance(actual["scale"], Parameter)
    assert actual["scale"].name == "scale"
    net = Outer(0.0)
    missing, unused = ms.load_param_into_net(net, actual)  # without a warning: all is there
    assert (missing, sorted(unused)) == ([], ["done", "empty", "epoch", "loss", "t", "text"])
    np.testing.assert_array_equal(net.net.weight.asnumpy(), np.full((2, 2), 3.0))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (1, 2, 3)], ids=str)
def test_every_element_type_comes_back(tmp_path, format, shape):
    values = np.random.default_rng(0).normal(size=shape) * 3
    content = {}
    for dtype in DTYPES:
        if (format, dtype.name) != ("safetensors", "Complex128"):
            content[dtype.name] = Tensor(
                (values + 1j * values if dtype.kind == "complex" else values).astype(dtype.numpy)
            )
    place = tmp_path / f"all.{format}"
    ms.save_checkpoint(content, place)
    assert plain(ms.load_checkpoint(place)) == plain(content)


def test_complex128_needs_the_other_format(tmp_path):
    place = tmp_path / "c.safetensors"
    with pytest.raises(TypeError, match=r"'c' is Complex128, which .* \.ckpt"):
        ms.save_checkpoint({"c": Tensor(1j, ms.complex128)}, place)
    assert os.listdir(tmp_path) == []


def test_large_tensors_are_split_over_entries(tmp_path, monkeypatch):
    monkeypatch.setattr(ckpt, "_SLICE", 64)
    content = {
        "a": Tensor(np.arange(100.0)),
        "b": Tensor(np.arange(8.0)),
        "c": Tensor(np.arange(9.0).reshape(3, 3)),
    }
    ms.save_checkpoint(content, tmp_path / "x.ckpt", crc_check=True)
    assert (tmp_path / "x.ckpt").read_bytes().count(b"Float64") == 13 + 1 + 2
    assert plain(ms.load_checkpoint(tmp_path / "x.ckpt")) == plain(content)


def test_arrays_that_are_not_contiguous(tmp_path):
    array = np.arange(12.0).reshape(3, 4)
    for format in FORMATS:
        ms.save_checkpoint({"t": array.T, "s": array[::2, ::-1]}, tmp_path / f"x.{format}")
        found = ms.load_checkpoint(tmp_path / f"x.{format}")
        np.testing.assert_array_equal(found["t"].asnumpy(), array.T)
        np.testing.assert_array_equal(found["s"].asnumpy(), array[::2, ::-1])


@pytest.mark.parametrize(
    "save_obj",
    [
        [Parameter(Tensor([1.0]), name="a"), Parameter(Tensor([2.0]), name="b")],
        [{"name": "a", "data": Tensor([1.0])}, {"name": "b", "data": Parameter(Tensor([2.0]), name="z")}],
        {"a": Parameter(Tensor([1.0]), name="z"), "b": np.array([2.0], np.float32)},
    ],
    ids=["parameters", "names and data", "dict"],
)
def test_what_can_be_saved(tmp_path, save_obj):
    ms.save_checkpoint(save_obj, tmp_path / "x.ckpt", choice_func=lambda name: name != "c")
    found = ms.load_checkpoint(tmp_path / "x.ckpt")
    assert {name: each.asnumpy().tolist() for name, each in found.items()} == {"a": [1.0], "b": [2.0]}


@pytest.mark.parametrize(
    ("save_obj", "options", "error", "text"),
    [
        (3, {}, TypeError, "'save_obj' must be a Cell, a list or a dict, but got int"),
        ([3], {}, TypeError, "a list must contain Parameters"),
        ({"a": 3}, {}, TypeError, "'a' in 'save_obj' must be Tensor, ndarray, str, but got int"),
        ({3: Tensor(1.0)}, {}, TypeError, "names must be strings, but got 3"),
        (
            [Parameter(1.0, name="a"), Parameter(2.0, name="a")],
            {},
            ValueError,
            "two entries have the name 'a'",
        ),
        ({"a": Tensor(1.0)}, {"append_dict": {"a": 1}}, ValueError, "two entries have the name 'a'"),
        ({}, {"append_dict": {"a": None}}, TypeError, "'a' in 'append_dict' must be .*, but got NoneType"),
        ({}, {"append_dict": {"a": 2**80}}, ValueError, "'a' in 'append_dict' does not fit Int64"),
        ({}, {"append_dict": {"a": "x\0"}}, ValueError, "'a' ends with NUL"),
        ({}, {"enc_key": b"0" * 16}, ValueError, "'enc_key' is not supported"),
        ({}, {"format": "onnx"}, ValueError, "'format' must be 'ckpt' or 'safetensors'"),
        ({}, {"async_save": "later"}, ValueError, "'async_save' must be a bool"),
        ({}, {"spelled": 1}, TypeError, "unexpected keyword argument 'spelled'"),
    ],
)
def test_what_cannot_be_saved(tmp_path, save_obj, options, error, text):
    with pytest.raises(error, match=text):
        ms.save_checkpoint(save_obj, tmp_path / "x.ckpt", **options)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "format", "made"),
    [
        ("net", None, "net.ckpt"), ("net.ckpt", None, "net.ckpt"), ("net.safetensors", None, "net.safetensors"),
        ("net", "safetensors", "net.safetensors"), ("net.v2", None, "net.v2.ckpt"),
        ("net.ckpt", "safetensors", "net.ckpt.safetensors"), ("net.safetensors", "safetensors", "net.safetensors"),
    ],
)  # fmt: skip
def test_the_name_says_the_format(tmp_path, name, format, made):
    ms.save_checkpoint(Net(), tmp_path / name, format=format)
    assert os.listdir(tmp_path) == [made]
    head = (tmp_path / made).read_bytes()[:9]
    assert (head[8:] == b"{") == made.endswith("safetensors")
    assert len(ms.load_checkpoint(tmp_path / made)) == 2


# -- MindSpore's own files -------------------------------------------------------------------------

TYPES = ["Bool", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float16", "Float32", "Float64", "BFloat16"]  # fmt: skip


@pytest.mark.parametrize("format", FORMATS)
def test_files_of_mindspore_load(format):
    actual = ms.load_checkpoint(FILES / f"net.{format}", crc_check=format == "ckpt")
    texts = {name: actual.pop(name) for name in ("text", "empty") if name in actual}
    assert texts == ({"text": "héllo 𝛁", "empty": ""} if format == "ckpt" else {})
    assert [actual[name].item() for name in ("scalar", "epoch", "done")] == [-1.5, 7, True]
    assert actual["loss"].asnumpy() == np.float32(0.1)
    np.testing.assert_array_equal(actual["layer.weight"].asnumpy(), np.arange(6).reshape(3, 2) / 8)
    for number, name in enumerate(TYPES):
        held = actual[f"of_{'bool_' if name == 'Bool' else name.lower()}"]
        assert (str(held.dtype), held.shape) == (name, (2, 2))
        np.testing.assert_array_equal(
            held.asnumpy(), (np.arange(4).reshape(2, 2) + number).astype(held.asnumpy().dtype)
        )
    adam = ms.load_checkpoint(FILES / f"adam.{format}", crc_check=format == "safetensors")
    assert {"global_step", "learning_rate", "beta1_power", "moment1.layer.weight", "moment2.scalar"} < set(
        adam
    )


def test_a_file_written_here_has_the_bytes_of_mindspore(tmp_path):
    """The same entries in the same order give the same file."""
    for name in ("net.ckpt", "adam.ckpt"):
        ms.save_checkpoint(ms.load_checkpoint(FILES / name), tmp_path / name, crc_check=name == "net.ckpt")
        assert (tmp_path / name).read_bytes() == (FILES / name).read_bytes()


@pytest.mark.skipif(not PEER.exists(), reason="no MindSpore in .bench; scripts/bench makes it")
def test_mindspore_reads_files_written_here(tmp_path, monkeypatch):
    content = {f"of_{d.name}": Tensor(np.arange(4).reshape(2, 2), d) for d in DTYPES if d.kind != "complex"}
    files = []
    for format in FORMATS:
        files.append(tmp_path / f"net.{format}")
        ms.save_checkpoint(
            content, files[-1], append_dict={"epoch": 3, "f": 0.5, "s": "tëxt" if format == "ckpt" else 1}
        )
        files.append(tmp_path / f"checked.{format}")
        ms.save_checkpoint(Outer(2.0), files[-1], append_dict={"epoch": 3}, crc_check=True)
    monkeypatch.setattr(ckpt, "_SLICE", 16)
    files.append(tmp_path / "slices.ckpt")
    ms.save_checkpoint({"a": np.arange(9.0).reshape(3, 3), "b": np.arange(2.0)}, files[-1], crc_check=True)
    done = subprocess.run([PEER, FILES / "make.py", "read", *files], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for name, found in json.loads(done.stdout).items():
        own = ms.load_checkpoint(name)
        assert found == {
            key: each if isinstance(each, str)
            else [str(each.dtype), list(each.shape), each.asnumpy().astype(float).ravel().tolist()]
            for key, each in own.items()
        }  # fmt: skip


def test_scalars_of_old_files_have_one_size_of_zero(tmp_path):
    """MindSpore 1.x writes the shape of a scalar as [0]; a tensor without elements has no content."""
    (tmp_path / "x.ckpt").write_bytes(entry(b"a", tensor([0])) + entry(b"b", tensor([0], elements=b"")))
    found = ms.load_checkpoint(tmp_path / "x.ckpt")
    assert (found["a"].shape, found["b"].shape) == ((), (0,))


def test_the_optimizer_of_mindspore_goes_on_here():
    class Both(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layer = nn.Dense(2, 3)
            self.scalar = Parameter(Tensor(0.0), name="scalar")

    net = Both()
    adam = nn.Adam(net.trainable_params(), 0.5)
    assert ms.load_param_into_net(adam, ms.load_checkpoint(FILES / "adam.ckpt")) == ([], [])
    assert net.scalar.item() == -1.5
    assert adam.parameters_dict()["learning_rate"].asnumpy() == np.float32(0.001)


# -- writing is all or nothing ---------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch, format, step):
    place = tmp_path / f"net.{format}"
    ms.save_checkpoint(Net(1.0), place)
    before = place.read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, step, full)
    with pytest.raises(OSError, match=f"No space left on device: '{place}'"):
        ms.save_checkpoint(Net(2.0), place)
    assert os.listdir(tmp_path) == [place.name]
    assert place.read_bytes() == before


@pytest.mark.parametrize("format", FORMATS)
def test_a_write_that_really_fails_leaves_the_old_file(tmp_path, format):
    place = tmp_path / f"net.{format}"
    ms.save_checkpoint(Net(1.0), place)
    before = place.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, hard))
    try:
        with pytest.raises(OSError, match=rf"({place}.*File too large|File too large.*{place})"):
            ms.save_checkpoint({"big": np.zeros(1 << 16)}, place)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert os.listdir(tmp_path) == [place.name]
    assert place.read_bytes() == before


def test_an_exception_of_the_user_leaves_the_old_file(tmp_path):
    place = tmp_path / "net.ckpt"
    ms.save_checkpoint(Net(1.0), place)
    before = place.read_bytes()
    with pytest.raises(ZeroDivisionError):
        ms.save_checkpoint(Net(2.0), place, choice_func=lambda name: 1 / 0)
    assert (os.listdir(tmp_path), place.read_bytes()) == ([place.name], before)


def test_where_files_are_put(tmp_path):
    target, link = tmp_path / "target.ckpt", tmp_path / "link.ckpt"
    ms.save_checkpoint(Net(1.0), target)
    target.chmod(0o640)
    link.symlink_to(target)
    ms.save_checkpoint(Net(2.0), link)
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    assert ms.load_checkpoint(target)["bias"].asnumpy().tolist() == [2.0, 2.0]
    with pytest.raises(FileNotFoundError, match="does not exist; create it first"):
        ms.save_checkpoint(Net(), tmp_path / "none" / "x.ckpt")
    (tmp_path / "folder.ckpt").mkdir()
    with pytest.raises(IsADirectoryError, match="is a folder"):
        ms.save_checkpoint(Net(), tmp_path / "folder.ckpt")
    long = tmp_path / ("n" * 250 + ".ckpt")
    ms.save_checkpoint(Net(), long)
    assert long.exists()


# -- damaged and foreign files ---------------------------------------------------------------------


class Bomb:
    def __reduce__(self):
        return (os.mkdir, ("exploded",))


def zipped():
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as file:
        file.writestr("data.pkl", pickle.dumps(Bomb()))
    return held.getvalue()


GOOD = entry(b"a", tensor([1]))
CKPT = {
    "pickle": (pickle.dumps(Bomb()), "a pickle"),
    "old pickle": (pickle.dumps(Bomb(), protocol=0), "not a MindSpore checkpoint|there is no field|truncated"),
    "zip": (zipped(), "a zip archive"),
    "text": (b"hello, world, this is no checkpoint", "a Checkpoint has no field 13"),
    "cut off": (GOOD[:-1], "only 21 follow: the file is truncated"),
    "cut in a number": (GOOD + b"\x0a\xff", "truncated"),
    "huge length": (b"\x0a" + varint(2**63), "declares 9223372036854775808 bytes, but only 0 follow"),
    "number of 70 bits": (b"\x0a" + b"\xff" * 9 + b"\x7f", "more than 64 bits"),
    "long number": (b"\x0a" + b"\xff" * 12, "more than 64 bits"),
    "field number 0": (b"\x02\x00", "number 0 is not possible"),
    "group": (b"\x0b\x0c", "wire type 3 is not possible"),
    "lying wire type": (b"\x08\x01", "the value of a Checkpoint is encoded as a number, not as a byte string"),
    "eight bytes for a name": (bytes_head(1, 9) + b"\x09" + b"x" * 8, "the tag of a Value is encoded as eight bytes"),
    "other field": (GOOD + b"\x12\x00", "a Checkpoint has no field 2"),
    "no name": (bytes_head(1, 2) + b"\x12\x00", "has no name"),
    "no tensor": (bytes_head(1, 3) + b"\x0a\x01a", "'a' has no tensor"),
    "no type": (entry(b"a", bytes_head(3, 0)), "'a' has no dtype"),
    "no content": (entry(b"a", bytes_head(2, 1) + b"x"), "'a' has no content"),
    "two names": (bytes_head(1, 6) + b"\x0a\x01a\x0a\x01b", "two names"),
    "name twice": (GOOD + entry(b"b", tensor([1])) + GOOD, "'a' appears twice"),
    "name twice in a row": (GOOD + GOOD, "'a' of type Float32 and shape .1,. needs 4 bytes, but has 8"),
    "slices of two types": (GOOD + entry(b"a", tensor([1], b"Int32")), "'a' appears twice"),
    "empty slices": (entry(b"a", tensor([0], elements=b"")) * 2, "'a' appears twice"),
    "name not text": (entry(b"\xff\xfe", tensor([1])), "a name is not UTF-8"),
    "unknown type": (entry(b"a", tensor([1], b"Float31")), "type 'Float31', which mindgrad does not have"),
    "int4": (entry(b"a", tensor([1], b"Int4")), "type 'Int4', which mindgrad does not have"),
    "map": (bytes_head(1, 5) + b"\x0a\x01a\x1a\x00", "'a' is a MapParameter"),
    "negative": (entry(b"a", tensor([-1])), "'a' has the shape .-1,., with a negative size"),
    "two negatives": (entry(b"a", tensor([-1, -1])), "negative size"),
    "too few": (entry(b"a", tensor([2])), "needs 8 bytes, but has 4"),
    "too many": (entry(b"a", tensor([1], elements=b"\0" * 8)), "needs 4 bytes, but has 8"),
    "overflowing product": (entry(b"a", tensor([2**62, 4, 1], elements=b"")), "needs 73786976294838206464 bytes"),
    "overflow to the right size": (entry(b"a", tensor([2**62, 2**62, 4])), "needs "),
    "zero of a huge shape": (entry(b"a", tensor([0, 2**62, 2**62], elements=b"")), "which no array can have"),
    "70 axes": (entry(b"a", tensor([1] * 70)), "more than 64 axes"),
    "many packed axes": (entry(b"a", bytes_head(1, 9999) + b"\x01" * 9999), "more than 64 axes"),
    "a long name": (entry(b"n" * 9999, tensor([2])), r"nnn \.\.\."),
    "truth value 2": (entry(b"a", tensor([1], b"Bool", b"\x02")), "neither 0 nor 1"),
    "text of 3 bytes": (entry(b"a", tensor([0], b"str", b"abc")), "not valid UTF-32"),
    "checksum": (GOOD + b"crc_num" + bytes(10), "checksum does not agree"),
    "empty": (b"", "without entries"),
}  # fmt: skip
SPEC = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
SAFETENSORS = {
    "pickle": (pickle.dumps(Bomb()), "not a safetensors file"),
    "zip": (zipped(), "not a safetensors file"),
    "empty": (b"", "header too small"),
    "huge header": (b"\xff" * 20, "header too large"),
    "cut off": (raw_safetensors({"a": SPEC}, b"\0\0\0"), "damaged"),
    "more": (raw_safetensors({"a": SPEC}, b"\0" * 5), "damaged"),
    "negative": (raw_safetensors({"a": SPEC | {"shape": [-1]}}, b"\0" * 4), "damaged"),
    "overflow": (raw_safetensors({"a": SPEC | {"shape": [2**62, 4], "data_offsets": [0, 0]}}), "overflow"),
    "no array": (raw_safetensors({"a": SPEC | {"shape": [0, 2**62], "data_offsets": [0, 0]}}), "'a' has a shape that no array"),
    "overlap": (raw_safetensors({"a": SPEC, "b": SPEC}, b"\0" * 4), "damaged"),
    "twice": (
        raw_safetensors(b'{"a":%b,"a":%b}' % (json.dumps(SPEC).encode(), json.dumps(SPEC | {"dtype": "I32"}).encode()), b"\0" * 4),
        "'a' appears twice",
    ),
    "float8": (raw_safetensors({"a": SPEC | {"dtype": "F8_E5M2", "shape": [4]}}, b"\0" * 4), "type F8_E5M2, which mindgrad does not have"),
    "truth value 2": (raw_safetensors({"a": SPEC | {"dtype": "BOOL", "shape": [4]}}, b"\2" * 4), "neither 0 nor 1"),
    "texts": (raw_safetensors({"__metadata__": {"mindgrad.texts": "[1]"}, "a": SPEC}, b"\0" * 4), "not a mapping of strings"),
    "text and array": (raw_safetensors({"__metadata__": {"mindgrad.texts": '{"a": "b"}'}, "a": SPEC}, b"\0" * 4), "'a' appears twice"),
    "nothing": (raw_safetensors({}), "without entries"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("format", "content", "text"),
    [pytest.param("ckpt", *each, id=f"ckpt-{name}") for name, each in CKPT.items()]
    + [pytest.param("safetensors", *each, id=f"safetensors-{name}") for name, each in SAFETENSORS.items()],
)
def test_damaged_files_are_refused_by_name(tmp_path, monkeypatch, format, content, text):
    monkeypatch.chdir(tmp_path)
    Path(f"bad.{format}").write_bytes(content)
    with pytest.raises(ValueError, match=text) as caught:
        ms.load_checkpoint(f"bad.{format}")
    assert f"bad.{format}" in str(caught.value)
    assert caught.value.__cause__ is None
    assert os.listdir() == [f"bad.{format}"], "a file ran something"


def test_names_that_are_no_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ms.save_checkpoint(Net(), "net.ckpt")
    for name, text in [
        (".", "'.' is a folder"), ("none.ckpt", "'none.ckpt' does not exist"), ("net", "there is 'net.ckpt'"),
        (os.devnull, "a device or pipe"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=text):
            ms.load_checkpoint(name)
    Path("weights.bin").write_bytes(Path("net.ckpt").read_bytes())
    with pytest.raises(ValueError, match=r"neither with \.ckpt nor with \.safetensors"):
        ms.load_checkpoint("weights.bin")
    assert len(ms.load_checkpoint("weights.bin", format="ckpt")) == 2
    with pytest.raises(TypeError, match="must be a string or a path, but got int"):
        ms.load_checkpoint(3)


def test_a_checksum_that_is_not_there(tmp_path):
    for format in FORMATS:
        ms.save_checkpoint(Net(), tmp_path / f"x.{format}")
        with pytest.raises(ValueError, match="the file has no checksum"):
            ms.load_checkpoint(tmp_path / f"x.{format}", crc_check=True)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("crc_check", [False, True])
def test_a_checksum_is_compared_whenever_there_is_one(tmp_path, format, crc_check):
    path = tmp_path / f"x.{format}"
    elements = np.arange(1.0, 7.0, dtype=np.float32)
    ms.save_checkpoint({"x": Tensor(elements)}, path, crc_check=True)
    damaged = bytearray(path.read_bytes())
    damaged[damaged.index(elements.tobytes())] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(ValueError, match="checksum does not agree"):
        ms.load_checkpoint(path, crc_check=crc_check)


SAMPLE = (FILES / "net.ckpt").read_bytes()[:-17]  # a checksum would be all that is ever looked at


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_no_bytes_do_anything_else_than_load_or_be_refused(data):
    """Changed, cut, joined and invented files: a Malformed, or arrays that lie inside of the file."""
    kind = data.draw(st.sampled_from(["random", "changed", "cut", "structured"]))
    if kind == "random":
        content = data.draw(st.binary(max_size=200))
    elif kind == "cut":
        content = SAMPLE[: data.draw(st.integers(0, len(SAMPLE) - 1))]
    elif kind == "changed":
        changed = bytearray(SAMPLE)
        for _ in range(data.draw(st.integers(1, 4))):
            changed[data.draw(st.integers(0, len(SAMPLE) - 1))] = data.draw(st.integers(0, 255))
        content = bytes(changed)
    else:
        sizes = st.one_of(st.integers(-2, 3), st.sampled_from([2**31, 2**62, -(2**63), 2**63 - 1]))
        names = st.sampled_from([b"a", b"b", b"", b"\xff"])
        types = st.sampled_from([b"Float32", b"Bool", b"str", b"Complex128", b"Int4", b""])
        made = st.builds(
            lambda name, dims, kind, held: entry(name, tensor(dims, kind, held)),
            names, st.lists(sizes, max_size=4), types, st.binary(max_size=16),
        )  # fmt: skip
        content = b"".join(data.draw(st.lists(made, max_size=4)))
    try:
        actual = ckpt.read(content)
    except Malformed:
        return
    assert sum(len(each) if isinstance(each, str) else each.nbytes for each in actual.values()) <= len(
        content
    )


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_changed_safetensors_load_or_are_refused(tmp_path_factory, data):
    content = bytearray((FILES / "adam.safetensors").read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(content) - 1))
        match data.draw(st.sampled_from(["change", "cut", "repeat"])):
            case "change":
                content[place] = data.draw(st.one_of(st.integers(0, 255), st.sampled_from(b'0129{}[],:"-')))
            case "cut":
                del content[place : place + data.draw(st.integers(1, 20))]
            case "repeat":
                content[place:place] = content[place : place + data.draw(st.integers(1, 60))]
    place = tmp_path_factory.getbasetemp() / "changed.safetensors"
    place.write_bytes(content)
    try:
        actual = ms.load_checkpoint(place)
    except ValueError as error:
        assert "changed.safetensors" in str(error)  # noqa: PT017 - most examples are refused, not all
        return
    assert sum(each.nbytes for each in actual.values() if not isinstance(each, str)) <= len(content)


def test_a_hostile_length_allocates_nothing():
    content = entry(b"a", tensor([2**40])) + b"\x0a" + varint(2**40)
    tracemalloc.start()
    try:
        for bad in (content, entry(b"a", tensor([2**40])), b"\x0a" + varint(2**40) + bytes(100)):
            with pytest.raises(Malformed):
                ckpt.read(bad)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


# -- into nets -------------------------------------------------------------------------------------


def test_what_is_left_out_when_loading(tmp_path):
    ms.save_checkpoint(Outer(1.0), tmp_path / "x.ckpt")
    load = lambda **options: sorted(ms.load_checkpoint(tmp_path / "x.ckpt", **options))
    assert load(filter_prefix="net") == ["scale"]
    assert load(filter_prefix=["scale", "net.w"]) == ["net.bias"]
    assert load(specify_prefix=("net",)) == ["net.bias", "net.weight"]
    assert load(specify_prefix="net", filter_prefix="net.b") == ["net.weight"]
    assert load(choice_func=lambda name: name.endswith("bias")) == ["net.bias"]
    with pytest.raises(
        ValueError, match=r"no entry of .* is selected\. It has 3 entries \(scale, net.weight"
    ):
        load(specify_prefix="other")
    with pytest.raises(ValueError, match="'filter_prefix' must not be empty"):
        load(filter_prefix="")
    with pytest.raises(TypeError, match="'specify_prefix' must be a string"):
        load(specify_prefix=3)
    with pytest.raises(ValueError, match="'dec_key' is not supported"):
        load(dec_key=b"key")


def test_loading_into_a_net_in_both_modes(tmp_path):
    ms.save_checkpoint(Net(2.0), tmp_path / "x.ckpt")
    net = Net(0.0)
    x = Tensor([[1.0, 1.0]])
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        try:
            net.weight.set_data(Tensor(np.zeros((2, 2), np.float32)))
            net.bias.set_data(Tensor(np.zeros(2, np.float32)))
            assert net(x).asnumpy().tolist() == [[0.0, 0.0]]
            ms.load_checkpoint(tmp_path / "x.ckpt", net)
            assert net(x).asnumpy().tolist() == [[6.0, 6.0]]  # the compiled program reads the new values
        finally:
            ms.set_context(mode=ms.PYNATIVE_MODE)


def test_all_that_does_not_fit_is_in_one_error_and_nothing_is_loaded():
    net = Outer(0.0)
    before = arrays(net)
    given = {
        "net.weight": Parameter(Tensor(np.ones((3, 2), np.float32))),
        "scale": Parameter(Tensor(1)),
        "old": Parameter(Tensor(1.0)),
    }
    with pytest.raises(RuntimeError) as caught:
        ms.load_param_into_net(net, given | {"net.bias": Parameter(Tensor([1.0, 1.0]))})
    text = str(caught.value)
    assert "'net.weight' has the shape (2, 2), but (3, 2) in the checkpoint" in text
    assert "'scale' is Float32, but Int64 in the checkpoint" in text
    assert "not in the net:\n    'old'" in text
    assert "not in the checkpoint" not in text.replace("but (3, 2) in the checkpoint", "")
    with pytest.raises(RuntimeError, match=r"not in the checkpoint:\n    'net\.bias'"):
        ms.load_param_into_net(net, given)
    assert {name: each.tolist() for name, each in arrays(net).items()} == {
        n: a.tolist() for n, a in before.items()
    }


def test_names_behind_a_prefix():
    saved = {f"backbone.{name}": Parameter(Tensor(each)) for name, each in arrays(Net(5.0)).items()}
    net = Net(0.0)
    with pytest.warns(UserWarning, match="prefix 'backbone.' was removed from names in the checkpoint"):
        assert ms.load_param_into_net(net, saved) == ([], [])
    assert net.bias.asnumpy().tolist() == [5.0, 5.0]
    with pytest.warns(UserWarning, match="2 Parameters of Net are not in the checkpoint"):
        assert ms.load_param_into_net(Net(), saved, strict_load=True) == (["weight", "bias"], list(saved))
    two = {
        f"{prefix}.{name}": each
        for prefix in ("moment1", "moment2")
        for name, each in arrays(Net(7.0)).items()
    }
    net = Net(0.0)
    with pytest.warns(UserWarning, match="not in the checkpoint"):  # two prefixes do: none is guessed
        missing, unused = ms.load_param_into_net(
            net, {name: Parameter(Tensor(each)) for name, each in two.items()}
        )
    assert (missing, len(unused)) == (["weight", "bias"], 4)
    assert net.bias.asnumpy().tolist() == [0.0, 0.0]
    whole = {
        f"{before}net.{name}": each
        for before in ("moment1.", "", "moment2.")
        for name, each in arrays(Net(8.0)).items()
    }
    whole = {
        n: Parameter(Tensor(a * (9 if n[0] == "m" else 1))) for n, a in whole.items()
    }  # as an optimizer's file
    with pytest.warns(UserWarning, match=r"the prefix 'net\.' was removed from names"):
        missing, unused = ms.load_param_into_net(net, whole)
    assert (missing, len(unused), net.bias.asnumpy().tolist()) == ([], 4, [8.0, 8.0])
    # a value that a Parameter of its name took is not given to another one as well
    outer = Outer(0.0)
    outer.weight = Parameter(Tensor(np.zeros((2, 2), np.float32)), name="weight")
    with pytest.warns(UserWarning, match="1 Parameters of Outer"):
        missing, _ = ms.load_param_into_net(
            outer, {n: Parameter(Tensor(a)) for n, a in arrays(Outer(3.0)).items()}
        )
    assert missing == ["weight"]


def test_element_types_are_converted_within_their_kind():
    net = Net(0.0)
    given = {"weight": Parameter(Tensor(np.ones((2, 2)))), "bias": Parameter(Tensor([1.5, 2.5], ms.bfloat16))}
    with pytest.warns(UserWarning, match="'weight' from Float64 to Float32, 'bias' from BFloat16 to Float32"):
        ms.load_param_into_net(net, given)
    assert (str(net.weight.dtype), net.bias.asnumpy().tolist()) == ("Float32", [1.5, 2.5])
    with pytest.raises(RuntimeError, match="'weight' is Float32, but Float64"):
        ms.load_param_into_net(net, given, strict_load=True)
    net.bias.set_data(Tensor([0.0, 0.0]))
    ms.load_param_into_net(
        net,
        {
            "weight": Parameter(Tensor(np.ones((2, 2, 1, 1), np.float32))),
            "bias": Parameter(Tensor([3.0, 4.0])),
        },
    )
    assert net.bias.asnumpy().tolist() == [3.0, 4.0]


def test_what_cannot_be_loaded_into_a_net():
    with pytest.raises(TypeError, match="'net' should be a Cell, but got dict"):
        ms.load_param_into_net({}, Net())
    with pytest.raises(TypeError, match="'parameter_dict' should be a dict, but got str"):
        ms.load_param_into_net(Net(), "net.ckpt")
    with pytest.raises(TypeError, match="'bias' maps to ndarray"):
        ms.load_param_into_net(Net(), {"bias": np.zeros(2)})
    with pytest.raises(ValueError, match="'remove_redundancy' must be False, because"):
        ms.load_param_into_net(Net(), {}, remove_redundancy=True)


# -- the rest --------------------------------------------------------------------------------------


def test_one_format_to_the_other(tmp_path):
    ms.ckpt_to_safetensors(str(FILES / "net.ckpt"), str(tmp_path), name_map={"scalar": "number"})
    ms.safetensors_to_ckpt(str(tmp_path / "net.safetensors"))
    was, now = plain(ms.load_checkpoint(FILES / "net.ckpt")), plain(ms.load_checkpoint(tmp_path / "net.ckpt"))
    was["number"] = was.pop("scalar")
    assert was == now
    assert str(ms.load_checkpoint(tmp_path / "net.safetensors")["of_bfloat16"].asnumpy().dtype) == "bfloat16"


def test_programs_of_mindspore_are_refused_with_a_way_out():
    with pytest.raises(NotImplementedError, match="load_param_into_net"):
        ms.load("net.mindir")
    with pytest.raises(NotImplementedError, match="save_checkpoint"):
        ms.export(Net(), Tensor(1.0), file_name="net", file_format="MINDIR")
    assert serialization.save_checkpoint is ms.save_checkpoint is ms.train.save_checkpoint
