"""Files of ranks and strategy files: one number of devices to another, or to one file, and loaded by nets."""

import json

import jax
import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor
from mindgrad.distributed.device_mesh import sharding
from mindgrad.distributed.strategy_file import Strategy, read_strategy, write_strategy
from tests.devices.programs import Perceptron, agree, divided, normal

NAMES = ("first", "second", "extra")


def trained(folder, devices, **options):
    """A net on a number of devices whose strategies are in ``folder``; its set of files too."""
    with divided(device_num=devices, **options):
        net = Perceptron()
        net.extra = ms.Parameter(Tensor(normal(3)), name="extra")
        for matrix in (net.columns, net.rows):
            matrix.strategies = None
        plan = {"first": (1, devices), "second": (devices, 1)}
        net.shard(None, parameter_plan=plan)(Tensor(normal(4, 16)))
        ms.save_checkpoint(net, folder / f"set{devices}", integrated_save=False)
    return net, [getattr(net, name).asnumpy() for name in NAMES]


@pytest.fixture
def saved(tmp_path):
    """Strategies for 8 and 4 devices, and the values of a net in a set for 8."""
    _, values = trained(tmp_path, 8, strategy_ckpt_save_file=str(tmp_path / "s" / "8.json"))
    trained(tmp_path, 4, strategy_ckpt_config={"save_file": str(tmp_path / "4.json")})
    return tmp_path, values


def files(folder, devices):
    return [folder / f"rank_{k}" / f"net{k}.ckpt" for k in range(devices)]


def test_a_strategy_file_says_where_jax_puts_the_slices(saved):
    folder, _ = saved
    strategy = read_strategy(folder / "s" / "8.json", "test")
    assert strategy.devices == 8
    assert set(strategy.parameters) == {"first", "second"}, "those that the program reads"
    shape = (8, 12, 4)
    for axes in [((0, 2), (), ()), ((2, 1), (), (0,)), ((), (), (1, 0)), ((0,), (1,), (2,))]:
        other = Strategy(8, {"w": (shape, axes)})
        target = sharding(tuple(jax.devices()), axes).devices_indices_map(shape)
        for number, device in enumerate(jax.devices()):
            ours = [(part.start, part.stop) for part in other.bounds("w", number)]
            assert ours == [part.indices(n)[:2] for part, n in zip(target[device], shape, strict=True)], axes


def test_from_a_set_to_ranks_to_other_ranks_and_to_one_file(saved, tmp_path):
    folder, values = saved
    eight, four = folder / "s" / "8.json", folder / "4.json"
    ms.transform_checkpoints(folder / "set8", tmp_path / "a", "net", dst_strategy_file=eight)
    assert ms.load_checkpoint(files(tmp_path / "a", 8)[3])["first"].shape == (16, 8)
    ms.transform_checkpoints(tmp_path / "a", tmp_path / "b", "net", eight, four, output_format="safetensors")
    slices = [ms.load_checkpoint(tmp_path / "b" / f"rank_{k}" / f"net{k}.safetensors") for k in range(4)]
    np.testing.assert_array_equal(np.concatenate([s["first"].asnumpy() for s in slices], 1), values[0])
    np.testing.assert_array_equal(np.concatenate([s["second"].asnumpy() for s in slices], 0), values[1])
    ms.transform_checkpoints(tmp_path / "b", tmp_path / "c", "net", four)
    content = ms.load_checkpoint(tmp_path / "c" / "rank_0" / "net0.ckpt")
    agree([content[name] for name in NAMES], values, "exact")
    for k in (0, 2):
        ranks = ms.rank_list_for_transform(k, eight, four)
        assert ranks == sorted({0, 2 * k, 2 * k + 1})
        chosen = {rank: str(files(tmp_path / "a", 8)[rank]) for rank in ranks}
        ms.transform_checkpoint_by_rank(k, chosen, str(tmp_path / f"one{k}"), eight, four)
        np.testing.assert_array_equal(
            ms.load_checkpoint(tmp_path / f"one{k}.ckpt")["first"], slices[k]["first"]
        )
    assert ms.rank_list_for_transform(0, eight) == [*range(8)]
    assert ms.rank_list_for_transform(3, None, four) == [0]
    del chosen[4]
    with pytest.raises(ValueError, match="slices of 'first' are missing"):
        ms.transform_checkpoint_by_rank(2, chosen, str(tmp_path / "one"), eight, four)


def test_files_of_ranks_are_loaded_on_any_number_of_devices(saved, tmp_path):
    folder, values = saved
    eight = folder / "s" / "8.json"
    ms.transform_checkpoints(folder / "set8", tmp_path / "a", "net", dst_strategy_file=eight)
    net = Perceptron()
    ms.load_distributed_checkpoint(net, files(tmp_path / "a", 8), train_strategy_filename=str(eight))
    agree([net.first, net.second], values[:2], "exact")
    with divided(device_num=4):
        net = Perceptron()
        for matrix in (net.columns, net.rows):
            matrix.strategies = None
        net.shard(None, parameter_plan={"first": (1, 4), "second": (4, 1)})(Tensor(normal(4, 16)))
        paths = [str(path) for path in files(tmp_path / "a", 8)]
        ms.load_distributed_checkpoint(net, paths, None, str(eight), strict_load=True, dec_mode="AES-CBC")
        assert net.first._array.addressable_shards[0].data.shape == (16, 16)
        agree([net.first, net.second], values[:2], "exact")
    net = Perceptron()
    ms.save_checkpoint({"first": Tensor(values[0] + 1)}, tmp_path / "one.ckpt")
    ms.load_distributed_checkpoint(net, [tmp_path / "one.ckpt"])
    agree([net.first], [values[0] + 1], "exact")


def test_strategies_of_parts_are_merged(tmp_path):
    layout = ((8, 4), ((0,), ()))
    write_strategy(tmp_path / "s" / "0.json", Strategy(4, {"a": layout, "b": layout}))
    write_strategy(tmp_path / "s" / "1.json", Strategy(4, {"b": layout, "c": layout}))
    ms.merge_pipeline_strategys(tmp_path / "s", tmp_path / "all.json")
    assert read_strategy(tmp_path / "all.json", "test") == Strategy(4, dict.fromkeys("abc", layout))
    write_strategy(tmp_path / "s" / "2.json", Strategy(4, {"c": ((8, 4), ((), ()))}))
    with pytest.raises(ValueError, match="another layout of 'c'"):
        ms.merge_pipeline_strategys(tmp_path / "s", tmp_path / "all.json")
    with pytest.raises(ValueError, match="there are no strategy files"):
        ms.merge_pipeline_strategys(tmp_path / "none", tmp_path / "all.json")


def test_what_does_not_belong_together_is_refused(saved, tmp_path):
    folder, _ = saved
    eight, four = folder / "s" / "8.json", folder / "4.json"
    ms.transform_checkpoints(folder / "set8", tmp_path / "a", "net", dst_strategy_file=eight)
    with pytest.raises(
        ValueError, match="there is a file for rank 4, but the strategy file is for 4 devices"
    ):
        ms.transform_checkpoint_by_rank(0, dict(enumerate(files(tmp_path / "a", 8))), "x", four)
    with pytest.raises(ValueError, match="8 files of ranks, but no strategy file"):
        ms.transform_checkpoints(tmp_path / "a", tmp_path / "b", "net")
    with pytest.raises(ValueError, match="8 files of ranks, but no strategy file"):
        ms.load_distributed_checkpoint(Perceptron(), files(tmp_path / "a", 8))
    with pytest.raises(ValueError, match="there are 7 files"):
        ms.load_distributed_checkpoint(Perceptron(), files(tmp_path / "a", 7), None, eight)
    files(tmp_path / "a", 8)[5].rename(tmp_path / "a" / "rank_5" / "later-2_1.ckpt")
    with pytest.raises(ValueError, match=r"belong to different checkpoints: later-2_1\.ckpt, net0\.ckpt"):
        ms.transform_checkpoints(tmp_path / "a", tmp_path / "b", "net", eight)
    (tmp_path / "a" / "rank_5" / "later-2_1.ckpt").unlink()
    with pytest.raises(ValueError, match="no file for rank 5"):
        ms.transform_checkpoints(tmp_path / "a", tmp_path / "b", "net", eight)
    ms.save_checkpoint({"slope": Tensor([1.0, 2.0])}, tmp_path / "slope.ckpt")
    write_strategy(tmp_path / "2.json", Strategy(2, {"slope": ((4,), ((0,),))}))
    with pytest.raises(ValueError, match="'slope' has the shape"):
        ms.transform_checkpoint_by_rank(0, {0: tmp_path / "slope.ckpt"}, "x", None, tmp_path / "2.json")
    with pytest.raises(ValueError, match=r"'rank_id' must be an int in range \[0, 4\), but got 4"):
        ms.rank_list_for_transform(4, eight, four)


@pytest.mark.parametrize(
    "content",
    [
        b"\x08\x01\x12\x05first",
        b"{}",
        json.dumps({"format": "mindgrad.strategy", "version": 1, "devices": 4,
                    "parameters": {"w": {"shape": [6], "axes": [[0, 1]]}}}).encode(),
        json.dumps({"format": "mindgrad.strategy", "version": 1, "devices": 4,
                    "parameters": {"w": {"shape": [8], "axes": [[7]]}}}).encode(),
        None,
    ],
)  # fmt: skip
def test_foreign_and_damaged_strategies_are_refused(tmp_path, content):
    if content is not None:
        (tmp_path / "s.ckpt").write_bytes(content)
    text = "cannot be read" if content is None else "is not a strategy file of mindgrad, or is damaged"
    with pytest.raises(ValueError, match=text):
        ms.rank_list_for_transform(0, tmp_path / "s.ckpt")
