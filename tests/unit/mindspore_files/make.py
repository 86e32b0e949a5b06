"""Writes the files of this folder with a real MindSpore, and reads files that mindgrad wrote with it.

python -m venv ms && ms/bin/pip install mindspore==2.10.0 "numpy<2"
ms/bin/python tests/unit/mindspore_files/make.py write tests/unit/mindspore_files
ms/bin/python tests/unit/mindspore_files/make.py read FILE...      # prints what is in them, as JSON
"""

import json
import sys
import tempfile
import zipfile
from pathlib import Path

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn
from mindspore.mindrecord import FileWriter


class Net(nn.Cell):
    """A layer, and Parameters of every element type that MindSpore writes."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Dense(2, 3)
        self.scalar = Parameter(Tensor(-1.5), name="scalar")
        for number, name in enumerate(TYPES):
            value = Tensor(np.arange(4).reshape(2, 2) + number, getattr(ms, name))
            setattr(self, f"of_{name}", Parameter(value, name=f"of_{name}", requires_grad=False))


TYPES = [
    "bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "bfloat16",
]  # fmt: skip
APPENDED = {"epoch": 7, "loss": 0.1, "done": True}
TEXTS = {"text": "héllo 𝛁", "empty": ""}


def write(folder: Path) -> None:
    net = Net()
    net.layer.weight.set_data(Tensor(np.arange(6).reshape(3, 2) / 8, ms.float32))
    net.layer.bias.set_data(Tensor([0.5, -0.25, 4.0]))
    optimizer = nn.Adam(net.trainable_params(), 0.001)
    ms.save_checkpoint(net, str(folder / "net.ckpt"), append_dict=APPENDED | TEXTS, crc_check=True)
    ms.save_checkpoint(optimizer, str(folder / "adam.ckpt"))
    ms.save_checkpoint(net, str(folder / "net"), append_dict=APPENDED, format="safetensors")
    # MindSpore 2.10 cannot make the checksum of a bfloat16 array
    ms.save_checkpoint(
        optimizer, str(folder / "adam"), append_dict=APPENDED, crc_check=True, format="safetensors"
    )
    for name in ("net.ckpt", "adam.ckpt", "net.safetensors", "adam.safetensors"):
        (folder / name).chmod(0o644)  # MindSpore makes them read-only


def write_records(folder: Path) -> None:
    """MindRecord files and their indices, which are mostly zeros, in a zip file."""
    numbers = {"label": {"type": "int32"}, "score": {"type": "float64"}}
    arrays = {"field": {"type": "float32", "shape": [2, 3]}, "path": {"type": "int64", "shape": [-1]}}
    with tempfile.TemporaryDirectory() as temporary:
        writer = FileWriter(f"{temporary}/rows.mindrecord", 2)
        writer.set_header_size(1 << 14)
        writer.set_page_size(1 << 15)
        writer.add_schema({"name": {"type": "string"}, "data": {"type": "bytes"}} | numbers | arrays, "rows")
        writer.write_raw_data([
            {
                "name": f"n{i}", "label": 300 * i - 50, "score": i / 3, "data": bytes([i]) * 5,
                "field": np.arange(6, dtype=np.float32).reshape(2, 3) + i,
                "path": np.array([1, -i, 300 * i, 70000 * i, i << 40]),
            }
            for i in range(5)
        ])  # fmt: skip
        writer.commit()
        with zipfile.ZipFile(folder / "rows.mindrecord.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(Path(temporary).iterdir()):
                archive.write(file, file.name)


def plain(value) -> object:
    if isinstance(value, str):
        return value
    wide = value.astype(ms.float32) if value.dtype == ms.bfloat16 else value
    return [str(value.dtype), list(value.shape), wide.asnumpy().astype(np.float64).ravel().tolist()]


def read(file: Path) -> dict[str, object]:
    content = ms.load_checkpoint(str(file), format=file.suffix[1:], crc_check=file.stem != "net")
    return {name: plain(value) for name, value in content.items()}


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(Path(sys.argv[2]))
        write_records(Path(sys.argv[2]))
    else:
        print(json.dumps({each: read(Path(each)) for each in sys.argv[2:]}))
