"""Layouts, strategies and partitions as they are written, on one device; collectives in texts of XLA."""

import pytest

import mindgrad as ms
from mindgrad import Layout, Tensor, context, nn, ops
from mindgrad.distributed.partition import Allocation, Partition, current, leading, mesh_sizes, slices
from mindgrad.inspect.collectives import Collective, collectives_of, totals
from mindgrad.parallel import shard

LAYOUT = Layout((2, 2, 2), ("dp", "sp", "mp"))


def test_a_layout_is_written_as_mindspore_writes_it():
    assert LAYOUT("dp", "mp").to_dict() == {
        "device_matrix": (2, 2, 2), "tensor_map": (2, 0), "interleaved_parallel": False,
        "alias_name": ("dp", "sp", "mp"), "rank_list": [0, 1, 2, 3, 4, 5, 6, 7],
    }  # fmt: skip
    assert LAYOUT("None", ("dp", "mp")).to_dict()["tensor_map"] == (-1, (2, 0))
    assert LAYOUT(("sp", "dp"), "None").slices() == (4, 1)
    assert LAYOUT(("sp", "dp"), "None").axes() == ((1, 0), ())
    assert LAYOUT("dp") == Layout((2, 2, 2), ("dp", "sp", "mp"))("dp") != LAYOUT("sp")
    assert Layout((3, 4), ("a", "b"))("a", "b").axes() == ((2,), (0, 1))
    assert repr(LAYOUT("dp", ("sp", "mp"), "None")) == (
        "Layout((2, 2, 2), ('dp', 'sp', 'mp'))('dp', ('sp', 'mp'), 'None')"
    )


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Layout([2], ("a",)), TypeError, "'device_matrix' must be a tuple of ints"),
        (lambda: Layout((2,), "a"), TypeError, "'alias_name' must be a tuple of strings"),
        (lambda: Layout((2, 0), ("a", "b")), ValueError, "must be positive"),
        (lambda: Layout((2, 2), ("a",)), ValueError, "a name for each axis"),
        (lambda: Layout((2, 2), ("a", "a")), ValueError, "names must differ"),
        (lambda: Layout((2, 2), ("a", "interleaved_parallel")), ValueError, "not supported"),
        (lambda: Layout((2,), ("a",), [1, 0]), ValueError, "'rank_list' must list all 2 devices"),
        (lambda: LAYOUT("dp", "dp"), ValueError, "one axis of a tensor only"),
        (lambda: LAYOUT("tp"), ValueError, "no axis 'tp' in the mesh"),
        (lambda: LAYOUT(None), TypeError, "Write 'None', in quotes"),
        (LAYOUT.slices, ValueError, "call it with an axis of the mesh"),
        (lambda: ops.MatMul().shard([(1, 1)]), TypeError, "'in_strategy' must be a tuple"),
        (lambda: ops.MatMul().shard(((1, 1), "x")), TypeError, "tuples of ints or Layouts"),
        (lambda: ops.MatMul().shard(((0, 1), (1, 1))), ValueError, "must be positive"),
        (lambda: shard(3, ((1,),)), TypeError, "'fn' must be a function or Cell"),
        (lambda: shard(ops.relu, ((1,),), None, {"w": (1,)}), TypeError, "'parameter_plan' is for a Cell"),
        (lambda: nn.Dense(1, 1).shard(None, parameter_plan={"v": (1,)}), ValueError, "names 'v', but"),
        (
            lambda: nn.Dense(1, 1).shard(None, parameter_plan=3),
            TypeError,
            "a dict whose keys are Parameter names",
        ),
    ],
)
def test_what_is_wrong_is_said(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_axes_of_the_mesh_are_handed_out_once():
    assert mesh_sizes(1) == ()
    assert mesh_sizes(60) == (2, 2, 3, 5)
    axes = Allocation(12)
    assert [axes.take(3), axes.take(4), axes.take(2)] == [(2,), (0, 1), None]
    assert slices(12, (0, 2)) == 6
    assert leading(8, (4, 16), ((0,), ())) == ((0,), (1, 2))
    assert leading(8, (3, 5), ((), ())) == ((), ())


def test_one_device_is_not_divided():
    before = ms.jit(ops.MatMul().shard(((2, 1), (1, 2))))
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    context.set_auto_parallel_context(parallel_mode="semi_auto_parallel")
    try:
        assert current() is None
        assert before(x, x).asnumpy().tolist() == [[7.0, 10.0], [15.0, 22.0]]
        run = nn.ReLU().shard(((8, 1),), parameter_plan={})
        assert run(x).asnumpy().tolist() == x.asnumpy().tolist()
    finally:
        context.reset_auto_parallel_context()
    assert Partition() == Partition(0, "free", False)


TEXT = """HloModule jit_run, is_scheduled=true

%add (a: f32[], b: f32[]) -> f32[] {
  ROOT %sum = f32[] add(%a, %b)
}

%body (p: (s32[], f32[8,4])) -> (s32[], f32[8,4]) {
  %r = f32[8,4]{1,0} all-reduce(%x), channel_id=1, replica_groups={{0,1}}, to_apply=%add
  %s = f32[4]{0} reduce-scatter(%y), replica_groups=[1,2]<=[2], dimensions={0}, to_apply=%add
}

ENTRY %main (p: f32[8,4]) -> f32[8,4] {
  %w = (s32[], f32[8,4]{1,0}) while(%t), condition=%c, body=%body, backend_config={"known_trip_count":{"n":"3"}}
  %g = (f32[1,4]{1,0}, f32[2,4]{1,0}) all-gather-start(%z), dimensions={0}
  %d = f32[2,4]{1,0} all-gather-done(%g)
  %m = (f32[2]{0}, bf16[4]{0}) all-reduce(%u, %v), to_apply=%add
  %p = pred[5]{0} collective-permute(%q), source_target_pairs={{0,1}}
}
"""


def test_collectives_are_read_from_the_text():
    assert collectives_of(TEXT) == [
        Collective("all-reduce", 128, 3),
        Collective("reduce-scatter", 32, 3),
        Collective("all-gather", 32, 1),
        Collective("all-reduce", 16, 1),
        Collective("collective-permute", 5, 1),
    ]
    assert totals(TEXT)["all-reduce"] == (4, 3 * 128 + 16)
