"""Cost model: thresholds that were tuned by measurements.

Most thresholds decide whether a graph transformation saves time. They depend on the kind of device, so a
transformation reads them from :func:`costs`, which returns the constants of the device that runs the compiled
function. Eager mode reads the constants of the host from ``HOST``. To support a new kind of device, add an
entry to ``DEVICES``. The comment above each group of constants names the decision record in
``docs/decisions`` that describes the measurements.
"""

from typing import NamedTuple

from mindgrad.core.ir import settings
from mindgrad.core.placement import is_divided

__all__ = ["DEVICES", "HOST", "Costs", "HostCosts", "costs", "is_one_cpu"]


class Costs(NamedTuple):
    """Constants of one kind of device. The defaults are for a CPU."""

    # Products of matrices: decision 0009.
    #: moving one byte to or from memory is counted as this many floating-point operations
    flops_per_byte: int = 8
    #: a chain of matrix products that costs fewer floating-point operations is not reordered
    reordered_flops: int = 100_000
    #: a chain is reordered only if the best order costs at most this fraction of the operations of the
    #: present order
    reordered_part: float = 0.8
    #: if the contracted axis of ``(a - b) @ c`` has one of these sizes, and one term is the same for all
    #: samples, the two products become one, in which this axis is longer by 1
    merged_columns: range = range(8, 25)
    #: an operand of a product is rewritten (as a difference or a repeated value) only if it has at least this
    #: many elements
    distributed_elements: int = 4096
    #: ``(a - b) @ c`` becomes ``a @ c - b @ c`` only if the difference has at least this many times the
    #: elements of each term. In a product, a value counts as small if it has at most 1 / ``distributed_part``
    #: of the elements of the largest value
    distributed_part: int = 4
    #: a scalar factor is moved to a small value of a product only if the largest value has at least this many
    #: elements
    scaled_elements: int = 16384
    #: a broadcast operand of an inner graph is replaced by the smaller value that it repeats only if the
    #: broadcast has at least this many elements
    repeated_elements: int = 4096
    #: the layout of a graph is changed only if it transposes a value of at least this many elements
    transposed_elements: int = 4096
    #: a product is transposed for a reduction over its first axis only if the product has at least this many
    #: elements
    turned_elements: int = 1 << 15
    #: a product is transposed for a reduction over its first axis only if this axis has one of these sizes
    turned_terms: range = range(33, 1 << 13)
    #: a matrix is *long* if it has at least this many rows. Products of a long and a small matrix are
    #: transposed
    long_rows: int = 256
    #: a matrix is *small* if it has at most this many rows and at most this many columns
    short_sides: int = 24
    #: whether convolutions and the operators between them are computed with channels last
    #: (docs/decisions/0029)
    channels_last: bool = True
    #: convolutions are computed with channels last only if most results have at least this many channels,
    #: because fewer channels do not fill a vector register
    vector_channels: int = 8
    #: a convolution whose output channels each read one input channel becomes a sum of shifted products if
    #: its window has at most this many elements
    stencil_taps: int = 49
    #: a convolution becomes a sum of shifted products only if each input channel has at most this many output
    #: channels
    stencil_outputs: int = 16

    # Derivatives: decision 0012.
    #: a gradient with respect to at most this many input dimensions is computed by one forward pass per
    #: dimension
    series_columns: int = 4
    #: a gradient with respect to more than this many inputs always uses reverse mode
    series_inputs: int = 16
    #: like ``series_columns`` (largest number of input dimensions for forward mode), for a function with one
    #: value per sample
    gradient_columns: int = 128
    #: for a function with one value per sample, forward mode is not used if equations × input dimensions
    #: exceed this number, because forward mode repeats the equations for each dimension
    gradient_equations: int = 2048
    #: a sum of at least this many second derivatives is computed in one pass (a forward Laplacian)
    collapsed_directions: int = 3

    # Sums over the first axes: decision 0019.
    #: a sum over the first axes is computed by repeated halving if its number of terms is in this range
    halved_terms: range = range(16, 129)
    #: a sum over the first axes is halved only if it has at least this many results
    halved_width: int = 1024
    #: if other axes come before the summed axes, a sum is halved only if it has at least this many terms and
    #: this many contiguous results
    halved_inner: int = 64
    #: if halving would pay for more than this many sums of a graph, none of them is halved, because XLA
    #: compiles halved sums slowly (docs/decisions/0029)
    halved_sums: int = 24
    #: if other axes come before the summed axes, the number of elements of the operand must be in this range
    halved_elements: range = range(1 << 16, (1 << 17) + 1)

    # Tiles of a batch: decision 0019.
    #: the batch axis is moved to the end only if the batch has at least this many samples
    tiled_rows: int = 1024
    #: the batch axis is moved to the end only if at least this many matrix products have a batch axis
    tiled_products: int = 8
    #: if the batch fits into one tile, its axis is moved to the end only if the products have on average at
    #: most this many features
    tiled_features: int = 64
    #: a batch is divided into tiles if the results of its products have more bytes in total than this. glibc
    #: requests such a large memory block from the operating system in each call
    whole_bytes: int = 30 << 20
    #: target size of a tile of a batch, in bytes: the results of all matrix products for the samples in it
    tile_bytes: int = 18 << 20
    #: target size of a tile of *stacks* (tangents of each sample along all directions), in bytes of the
    #: largest value of the tile
    stack_tile_bytes: int = 1 << 18
    #: like ``stack_tile_bytes``, for a graph with fewer than ``stack_products`` products. These tiles are
    #: larger, because a small tile with little work cannot occupy two threads
    lone_stack_tile_bytes: int = 8 << 20
    #: stacks are divided into tiles only if the largest stack has at least this many times
    #: ``stack_tile_bytes``
    stack_tiles: int = 8
    #: stacks are divided into tiles only if the largest stack has at least this many times the bytes of the
    #: batch
    stack_width: int = 48
    #: a graph with at least this many products over stacks counts as a chain of layers, whose tiles are small
    stack_products: int = 3
    #: a chain of layers is divided into tiles only if this yields at least this many tiles
    fewest_tiles: int = 4
    #: weights of at most this many bytes are assumed to stay in the cache between two tiles. Larger weights
    #: need larger tiles
    weight_bytes: int = 1 << 20
    #: target size of a group of directions in a forward Laplacian, in bytes: the tangents of one value along
    #: these directions
    direction_tile_bytes: int = 1 << 19
    #: directions are divided into groups only if the tangents of a value along all directions have more bytes
    #: than this many groups of ``direction_tile_bytes``
    direction_tiles: int = 4

    # Reverse mode of loops: decision 0003.
    #: the cotangent of a constant is computed after the loop if it has at least this many times the elements
    #: that each iteration must then stack
    stacked_part: int = 4
    #: the search for a cheap recomputation of a value stops after this many operands
    rematerialized_equations: int = 64
    #: if a scan would stack more residual bytes than this, also consider recomputing some residuals
    residual_bytes: int = 8 << 20
    #: reverse mode of a ``while`` loop computes the coefficients (partial derivatives) of at most this many
    #: iterations in one batch
    joint_iterations: int = 128
    #: a batch of iterations is halved until no value has more than ``block_elements`` elements, but not to
    #: fewer iterations than this
    joint_block_iterations: int = 32
    #: see ``joint_block_iterations``: largest number of elements of a value over all iterations of a batch
    block_elements: int = 1024
    #: like ``joint_iterations`` (largest number of iterations in a batch), for a loop inside another loop
    joint_inner_iterations: int = 16
    #: a batch of iterations is halved until no value has more elements than this, because unused iterations
    #: of a batch take time
    joint_elements: int = 4096
    #: if a batch would have fewer iterations than this, reverse mode processes the iterations one by one
    fewest_joint_iterations: int = 8
    #: a loop stores at most this many bytes in its checkpoint slots, or ``fewest_slots`` slots if they need
    #: more
    slot_bytes: int = 1 << 18
    #: number of checkpoint slots that a loop may use regardless of ``slot_bytes``
    fewest_slots: int = 16
    #: a loop inside another loop has at most this many slots, because every outer iteration fills them again
    inner_slots: int = 64
    #: a carry of at least this many bytes is saved in each of the first iterations. A smaller carry is not,
    #: because XLA compiles a loop over small values to one piece of machine code, and running that loop twice
    #: takes less time than saving
    saved_carry_bytes: int = 1 << 10
    #: a loop with at least this many shielded products per iteration first runs with plain products, and runs
    #: again with shields only if a result is not finite (``passes.guarded_loops``)
    postponed_guards: int = 4
    #: ``passes.guarded_loops`` rewrites a loop only if each of its values has at most this many elements
    guarded_elements: int = 64
    #: if unrolling a loop would emit more operators than this, it becomes a scan. XLA compiles a shorter
    #: unrolled loop about as fast as a scan, and the unrolled loop runs faster
    scan_equations: int = 128
    #: a loop with fewer iterations than this is unrolled, because XLA compiles a scan in about the time of
    #: three unrolled iterations
    scan_iterations: int = 4
    #: an operator that calls a library, such as a matrix product, counts as this many operators in
    #: ``scan_equations``
    library_call_equations: int = 8

    # Sparse derivatives: decision 0008.
    #: colors are processed one by one only if the graph has at most this many equations for all colors
    #: together
    unrolled_equations: int = 3000
    #: the parts of a value are colored separately only if it has at most this many parts
    single_parts: int = 100
    #: if a sparsity pattern has more nonzeros than this, its parts are not colored separately and no other
    #: coloring is tried
    single_entries: int = 10_000_000
    #: if a sparsity pattern has no zeros, the dense matrix is computed if it has at most this many entries
    dense_entries: int = 100_000_000
    #: if forward mode needs at most this many colors, and no more colors than the fullest row has nonzeros,
    #: no other strategy is tried
    few_colors: int = 8
    #: a sparsity pattern with more nonzeros than this counts as too dense
    pattern_entries: int = 50_000_000
    #: if the iterations of a scan have more equations in total, its pattern is propagated to a fixed point,
    #: as for ``while``
    pattern_equations: int = 20_000
    #: if the pattern of a loop still grows after this many iterations, every output is assumed to depend on
    #: every input
    pattern_iterations: int = 64
    #: the pattern of a convolution is exact only if its window has at most this many elements
    window_positions: int = 512
    #: a periodic coloring is tried only if the distances between columns of a row have at most this many
    #: distinct values
    coloring_steps: int = 2048
    #: the search for a periodic coloring stops if it would need more products than this
    coloring_products: int = 40_000_000
    #: a value with several uses and more elements than this is computed into a separate array
    #: (``sparse.color_seeds``)
    seed_elements: int = 2048
    #: a value with several uses is computed only once if it costs at least as much as this many products
    shared_products: int = 6
    #: if no matrix entry has more contributions than this, all contributions are read together; otherwise
    #: they are added by a scatter
    parallel_entries: int = 4

    # Compilation: decision 0011.
    #: messages between processes are joined until they have this many bytes
    message_bytes: int = 1 << 25
    #: a constant with more elements than this is an operand of the compiled function instead of part of its
    #: code
    inlined_elements: int = 1024
    #: a loop with more iterations than this may take longer than ``interrupted_seconds``
    long_loop_iterations: int = 100_000
    #: assumed number of iterations of a loop whose length depends on data, so that its body has more weight
    #: than the code outside
    assumed_iterations: int = 100
    #: XLA's library kernels for reductions are turned off if this saves more than this many nanoseconds per
    #: call
    option_nanoseconds: float = 1000.0
    #: nanoseconds per element that XLA's library kernel saves in a reduction of many terms; a negative value
    #: is a loss
    kernel_saves: float = 0.5
    #: like ``kernel_saves``, for a reduction of at most ``few_terms`` terms
    kernel_saves_few: float = -0.25
    #: like ``kernel_saves``, if fewer than ``narrow_results`` results are contiguous
    kernel_saves_narrow: float = -0.8
    #: like ``kernel_saves``, for a reduction over the first axes whose result has more than ``wide_bytes``
    #: (jaxlib before 0.11)
    kernel_saves_wide: float = -3.5
    #: a reduction of at most this many terms is short (``kernel_saves_few``)
    few_terms: int = 32
    #: a reduction with fewer contiguous results than this is narrow (``kernel_saves_narrow``)
    narrow_results: int = 8
    #: a reduction with more bytes of contiguous results than this is wide (``kernel_saves_wide``)
    wide_bytes: int = 1 << 16


class HostCosts(NamedTuple):
    """Constants of the host, which runs Python and calls compiled functions."""

    # Compilation of eager calls (``eager.tiers``). A *kind* of call is one function with arguments of given
    # types.
    #: calls of a kind are not compiled if the shortest of them took less than this many seconds
    shortest_seconds: float = 2e-4
    #: calls of a kind are compiled after they have taken this many seconds in total
    compiling_seconds: float = 0.05
    #: JAX is imported after calls of all kinds have taken this many seconds in total
    importing_seconds: float = 0.1
    #: while a kind is being compiled, each of its calls waits for at most this many times the duration of the
    #: shortest call
    waiting_calls: float = 16.0
    #: a kind is never compiled if this many calls differed from the recording and no two calls agreed
    divergences: int = 6
    #: if this many calls read the same value before they end, a function that computes this value is compiled
    requested_calls: int = 3

    #: on another device than the CPU, the first calls of an operator with one signature run on the host, up
    #: to this number
    kernel_calls: int = 8
    #: the first calls of an operator run on the host only if the operands have at most this many elements in
    #: total
    kernel_elements: int = 1 << 20

    #: an intermediate value of a gradient with at least this many bytes is freed after its last use
    freed_bytes: int = 1 << 20

    #: NumPy's convolution copies windows in portions of at most this many elements
    window_elements: int = 1 << 25

    # Operands of compiled functions.
    #: an array with at most this many elements is passed as a NumPy array at its first use; a larger one is
    #: moved to the device
    handed_elements: int = 16384
    #: for an array with at most this many elements, no facts (such as whether it is finite) are stored
    #: between calls
    forgotten_elements: int = 16
    #: the values of an array with more bytes than this are never constants of a compiled function
    known_bytes: int = 4096
    #: the value of an input with at most this many elements is compared in each call, and the compiled
    #: function treats it as a constant while it is unchanged
    compared_elements: int = 16
    #: NumPy copies this many elements in the time in which it creates a view
    copied_elements: int = 4096
    #: smallest capacity of an axis of any size; larger capacities are powers of two
    open_capacity: int = 16
    #: a call that takes fewer seconds is *quick*. For such a call, the 60 µs of waiting for another thread
    #: would matter
    quick_seconds: float = 0.002
    #: after this many quick calls in a row, calls run in the calling thread
    quick_calls: int = 8
    #: a call that may take more seconds than this must be interruptible by Ctrl-C
    interrupted_seconds: float = 0.1
    #: upper bound of the seconds of one arithmetic operation, on slow machines too
    operation_seconds: float = 1e-9
    #: upper bound of the seconds for one element of a pointwise operator
    element_seconds: float = 3e-9
    #: upper bound of the seconds for one element of a mathematical function, such as ``exp``
    function_seconds: float = 2e-8
    #: upper bound of the seconds for one element of a library algorithm, such as a sort
    library_seconds: float = 1e-7


#: maps each device name of ``set_device`` to its ``Costs``. The default sizes of tiles fit a CPU's caches
DEVICES = {
    "CPU": Costs(),
    "GPU": Costs(direction_tile_bytes=1 << 28, channels_last=False, stencil_taps=0, guarded_elements=0),
}
HOST = HostCosts()


def costs() -> Costs:
    """Return the constants of the device for which functions are compiled."""
    return DEVICES.get(str(settings.options["device_target"]), DEVICES["GPU"])


def is_one_cpu() -> bool:
    """Whether functions run on one CPU, as rewrites for its caches require."""
    return settings.options["device_target"] == "CPU" and not is_divided()
