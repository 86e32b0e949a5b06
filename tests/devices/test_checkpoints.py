"""Sharded checkpoints: a file for each device, complete with the index, loaded on other numbers of devices."""

import json

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn
from mindgrad.train import sharded_checkpoint
from tests.devices.programs import Perceptron, agree, divided, normal


def written(folder, seed=0):
    """A perceptron with values of its own, divided among eight devices, in ``folder``; its values."""
    with divided():
        net = Perceptron()
        net.first.set_data(Tensor(normal(16, 64, seed=seed)))
        net.extra = ms.Parameter(Tensor(normal(3)), name="extra")
        ms.jit(net)(Tensor(normal(4, 16)))
        ms.save_checkpoint(net, folder, integrated_save=False, append_dict={"epoch": 7, "note": "half way"})
    return [p.asnumpy() for p in net.get_parameters()]


def test_each_device_writes_its_slices(tmp_path):
    folder = tmp_path / "net"
    values = written(folder)
    index = json.loads((folder / "index.json").read_text())
    assert len(list(folder.iterdir())) == 9
    assert [s[2] for s in index["entries"]["first"]["slices"]] == [[16, 8]] * 8
    content = ms.load_checkpoint(folder)
    assert int(content["epoch"]) == 7
    assert content["note"] == "half way"
    agree([content[name] for name in ("first", "second", "extra")], values, "exact")
    net = Perceptron()
    ms.load_distributed_checkpoint(net, folder)  # on one device
    agree([net.first, net.second], values[:2], "exact")


@pytest.mark.parametrize("devices", [2, 4, 8])
def test_on_another_number_of_devices(tmp_path, devices):
    values = written(tmp_path / "net")
    with divided(device_num=devices):
        net = Perceptron()
        plan = {"first": (1, devices), "second": (devices, 1)}
        run = net.shard(None, parameter_plan=plan)
        for matrix in (net.columns, net.rows):
            matrix.strategies = None
        run(Tensor(normal(4, 16)))
        ms.load_distributed_checkpoint(net, str(tmp_path / "net"), strict_load=True)
        assert net.first._array.addressable_shards[0].data.shape == (16, 64 // devices)
        agree([net.first, net.second], values[:2], "exact")
        array = net.first._array
        run(Tensor(normal(4, 16)))
        assert net.first._array is array


def test_a_set_is_replaced_as_a_whole(tmp_path, monkeypatch):
    folder = tmp_path / "net"
    values = written(folder)
    replaced = sharded_checkpoint.replaced

    def stops_before_the_index(target):
        if str(target).endswith("index.json"):
            raise KeyboardInterrupt
        return replaced(target)

    with monkeypatch.context() as patch:
        patch.setattr(sharded_checkpoint, "replaced", stops_before_the_index)
        with pytest.raises(KeyboardInterrupt):
            written(folder, seed=5)
    assert len(list(folder.glob("*.safetensors"))) == 16
    agree([ms.load_checkpoint(folder)["first"]], values[:1], "exact")
    values = written(folder, seed=6)
    agree([ms.load_checkpoint(folder)["first"]], values[:1], "exact")
    assert len(list(folder.iterdir())) == 9  # what was left behind is gone


def test_a_damaged_set_says_so(tmp_path):
    folder = tmp_path / "net"
    written(folder)
    index = json.loads((folder / "index.json").read_text())
    gone = index["entries"]["first"]["slices"].pop(3)
    (folder / "index.json").write_text(json.dumps(index))
    with pytest.raises(ValueError, match="slices of 'first' are missing"):
        ms.load_checkpoint(folder)
    (folder / gone[0]).unlink()
    index["entries"]["first"]["slices"].append(gone)
    (folder / "index.json").write_text(json.dumps(index))
    with pytest.raises(ValueError, match=r"is damaged: .*00003.safetensors"):
        ms.load_checkpoint(folder)
    index["entries"]["first"]["slices"][0][0] = "../../secret.safetensors"
    (folder / "index.json").write_text(json.dumps(index))
    with pytest.raises(
        ValueError, match=r"the file of 'first' must have a name of .*'\.\./\.\./secret\.safetensors'"
    ):
        ms.load_checkpoint(folder)
    (folder / "index.json").unlink()
    with pytest.raises(ValueError, match="is not a complete sharded checkpoint"):
        ms.load_distributed_checkpoint(Perceptron(), folder)


def test_a_set_that_does_not_fit_loads_nothing(tmp_path):
    folder = tmp_path / "net"
    written(folder)
    net = nn.Cell()
    net.first = ms.Parameter(Tensor(np.zeros((16, 64), np.float32)), name="first")
    net.second = ms.Parameter(Tensor(np.zeros((8, 8), np.float32)), name="second")
    with pytest.raises(RuntimeError, match=r"'second' is Float32 of shape \(64, 16\) in the checkpoint"):
        ms.load_distributed_checkpoint(net, folder)
    assert not net.first.asnumpy().any()
    net = nn.Cell()
    net.other = ms.Parameter(Tensor([0.0]), name="other")
    with pytest.raises(RuntimeError, match="'other' is not in the checkpoint"):
        ms.load_distributed_checkpoint(net, folder, strict_load=True)
    with pytest.raises(ValueError, match="'predict_strategy' is not supported"):
        ms.load_distributed_checkpoint(net, folder, predict_strategy={})
