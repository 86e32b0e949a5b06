"""Cost model: every constant that was tuned by measurements, by kind of device.

Graph transformations, loops, sparse derivatives and the back end read the constants of the device for which
a function is compiled (:func:`costs`). Eager mode reads the constants of the host (``HOST``). A new kind of
device is one entry of ``DEVICES``. The comment above each group names the decision record that describes the
measurements.
"""

from typing import NamedTuple

from mindgrad.ir import settings

__all__ = ["DEVICES", "HOST", "Costs", "HostCosts", "costs"]


class Costs(NamedTuple):
    """Constants of one kind of device; the defaults are for a CPU."""

    # Products of matrices, see docs/decisions/0009
    #: number of floating-point operations that take as long as moving one byte
    flops_per_byte: int = 8
    #: a chain of products is reordered only if it costs at least this many operations
    reordered_flops: int = 100_000
    #: a chain of products is reordered only if the best order costs at most this fraction of its order
    reordered_part: float = 0.8
    #: sizes of a contracted axis that may grow by 1 to merge the two products of a difference into one
    merged_columns: range = range(8, 25)
    #: operands of a product with fewer elements are not rewritten as differences or repeated values
    distributed_elements: int = 4096
    #: a difference is distributed over a product if it has at least this many times the elements of each term
    distributed_part: int = 4
    #: scalar factors are moved out of a product only if its largest value has at least this many elements
    scaled_elements: int = 16384
    #: repeated (broadcast) inputs with fewer elements are not replaced by smaller ones
    repeated_elements: int = 4096
    #: transposed values with fewer elements do not start a change of layout
    transposed_elements: int = 4096
    #: a product with fewer elements is not transposed for a reduction
    turned_elements: int = 1 << 15
    #: number of terms of a reduction for which its operand, a product, is transposed
    turned_terms: range = range(33, 1 << 13)
    #: smallest number of rows of a long first operand in a product of a long and a small matrix
    long_rows: int = 256
    #: largest number of rows and of columns of the small second operand in such a product
    short_sides: int = 24
    #: whether convolutions and the operators between them have their channels last (docs/decisions/0029)
    channels_last: bool = True
    #: smallest number of channels that fill vector registers; with fewer, channels are not moved last
    vector_channels: int = 8
    #: largest window (in elements) for which a convolution of one channel is a sum of shifted products
    stencil_taps: int = 49
    #: largest number of outputs of each input channel in such a convolution
    stencil_outputs: int = 16

    # Derivatives, see docs/decisions/0012
    #: largest number of input columns of a gradient for which forward mode uses one pass per column
    series_columns: int = 4
    #: largest number of inputs of a gradient for which forward mode is considered
    series_inputs: int = 16
    #: the same limit for the columns of one gradient whose function has one value per sample
    gradient_columns: int = 128
    #: limit of equations × columns for such a gradient, because its derivative repeats them for each column
    gradient_equations: int = 2048
    #: smallest number of second derivatives in a sum that are combined into one pass
    collapsed_directions: int = 3

    # Sums over rows, see docs/decisions/0019
    #: number of terms for which a sum over the first axes is computed by halving
    halved_terms: range = range(16, 129)
    #: smallest number of results of such a sum
    halved_width: int = 1024
    #: smallest number of terms, and of contiguous results, if other axes come first
    halved_inner: int = 64
    #: if a graph has more such sums, none is halved, because XLA compiles them slowly (docs/decisions/0029)
    halved_sums: int = 24
    #: number of elements of the operand, if other axes come first
    halved_elements: range = range(1 << 16, (1 << 17) + 1)

    # Tiles of a batch, see docs/decisions/0019
    #: smallest number of samples for which the batch axis becomes the last axis of narrow values
    tiled_rows: int = 1024
    #: smallest number of products for which moving the batch axis is considered
    tiled_products: int = 8
    #: largest mean number of features per product for which one tile with the batch axis last pays
    tiled_features: int = 64
    #: products of at most this many bytes are not tiled: above, glibc requests fresh memory in each call
    whole_bytes: int = 30 << 20
    #: bytes of all products in one tile with the batch axis last
    tile_bytes: int = 18 << 20
    #: bytes of the largest value in one tile of stacks (tangents of each sample along all directions)
    stack_tile_bytes: int = 1 << 18
    #: the same limit for fewer than ``stack_products`` products, because a small tile cannot fill two threads
    lone_stack_tile_bytes: int = 8 << 20
    #: a loop over tiles pays if the largest stack has at least this many times ``stack_tile_bytes``
    stack_tiles: int = 8
    #: a stack is tiled only if it has at least this many times the bytes of the data
    stack_width: int = 48
    #: smallest number of products that count as a chain of layers
    stack_products: int = 3
    #: smallest number of tiles for a chain of layers
    fewest_tiles: int = 4
    #: bytes of weights that stay in the cache between two tiles
    weight_bytes: int = 1 << 20
    #: bytes of one value's tangents along the directions of one tile
    direction_tile_bytes: int = 1 << 19
    #: a loop over directions pays if all tangents of a value have more than this many such tiles
    direction_tiles: int = 4

    # Reverse mode of loops, see docs/decisions/0003
    #: a cotangent is summed after the loop if it has this many times the elements to be stacked instead
    stacked_part: int = 4
    #: largest number of operands that the search for a cheap recomputation of one value visits
    rematerialized_equations: int = 64
    #: if a scan would stack more residual bytes than this, also consider recomputing some residuals
    residual_bytes: int = 8 << 20
    #: largest number of iterations whose derivatives are computed in one batch
    joint_iterations: int = 128
    #: a batch with a value of more than ``block_elements`` elements is halved down to this many iterations,
    #: because a loop with fewer iterations pays for the whole batch
    joint_block_iterations: int = 32
    block_elements: int = 1024
    #: the limit ``joint_iterations`` for a loop inside another loop
    joint_inner_iterations: int = 16
    #: largest number of elements of a value of one batch, because unused iterations of a batch cost time
    joint_elements: int = 4096
    #: smaller batches of iterations are not worth the effort
    fewest_joint_iterations: int = 8
    #: bytes that the checkpoint slots of one loop may use, unless fewer than ``fewest_slots`` fit
    slot_bytes: int = 1 << 18
    #: smallest number of checkpoint slots of a loop
    fewest_slots: int = 16
    #: largest number of slots of a loop inside another loop, which refills them in every outer iteration
    inner_slots: int = 64
    #: if the carry has at least this many bytes, each of the first iterations saves it. XLA compiles a loop
    #: over a smaller carry to one piece of machine code if it touches nothing larger, and running that loop
    #: twice is cheaper than saving
    saved_carry_bytes: int = 1 << 10
    #: smallest number of shielded products per iteration for which a loop first runs with plain products, and
    #: the largest number of elements of a value in such a loop (``optimize.guarded_loops``)
    postponed_guards: int = 4
    guarded_elements: int = 64
    #: an unrolled loop becomes a scan if it has more operators than this. XLA compiles a shorter one about as
    #: fast unrolled, and it runs faster
    scan_equations: int = 128
    #: smallest number of iterations of a scan, because XLA compiles a scan about as long as three iterations
    scan_iterations: int = 4
    #: number of operators that compile as slowly as one operator that calls a library
    library_call_equations: int = 8

    # Sparse derivatives, see docs/decisions/0008
    #: largest number of equations of all colors together that are unrolled
    unrolled_equations: int = 3000
    #: largest number of parts of a value that are colored one by one
    single_parts: int = 100
    #: largest number of pattern entries for which parts are colored one by one, or other colorings are tried
    single_entries: int = 10_000_000
    #: largest number of entries of a dense matrix that is computed if its pattern is full
    dense_entries: int = 100_000_000
    #: with at most this many colors no other strategy is tried, unless every row has fewer entries
    few_colors: int = 8
    #: largest number of entries of a pattern
    pattern_entries: int = 50_000_000
    #: largest number of equations, over all iterations of a scan, through which patterns are propagated
    pattern_equations: int = 20_000
    #: if the pattern of a loop still grows after this many iterations, every output depends on every input
    pattern_iterations: int = 64
    #: largest number of elements of a window that are propagated one by one
    window_positions: int = 512
    #: largest number of distinct steps between columns for which a periodic coloring is tried
    coloring_steps: int = 2048
    #: largest number of products in the search for a periodic coloring
    coloring_products: int = 40_000_000
    #: values with more elements are computed into a separate array (``sparse.color_seeds``)
    seed_elements: int = 2048
    #: a value with several uses is computed once if it costs at least this many products
    shared_products: int = 6
    #: largest number of contributions to one entry that are read side by side; more are summed
    parallel_entries: int = 4

    # Compilation, see docs/decisions/0011
    #: bytes up to which messages between processes are joined
    message_bytes: int = 1 << 25
    #: constants with more elements are operands of the compiled function instead of part of it
    inlined_elements: int = 1024
    #: a loop with more iterations may take longer than ``interrupted_seconds``
    long_loop_iterations: int = 100_000
    #: iterations that are assumed for a loop of unknown length, so that its body outweighs the code outside
    assumed_iterations: int = 100
    #: a compile option is set if it saves more than this many nanoseconds per call
    option_nanoseconds: float = 1000.0
    #: nanoseconds per element that library kernels save in a reduction of many terms; negative: they lose
    kernel_saves: float = 0.5
    #: the same for a reduction of at most ``few_terms`` terms
    kernel_saves_few: float = -0.25
    #: the same if fewer than ``narrow_results`` results are contiguous
    kernel_saves_narrow: float = -0.8
    #: the same for a reduction over the first axes to more than ``wide_bytes``
    kernel_saves_wide: float = -3.5
    #: largest number of terms of a short reduction
    few_terms: int = 32
    #: contiguous results below this number are narrow
    narrow_results: int = 8
    #: contiguous results above this number of bytes are wide
    wide_bytes: int = 1 << 16


class HostCosts(NamedTuple):
    """Constants of the host, which runs Python and calls compiled functions."""

    # Compilation of eager calls, see eager/tiers.py
    #: calls of a kind are not compiled if the shortest takes less than this many seconds
    shortest_seconds: float = 2e-4
    #: seconds that all calls of a kind together must have taken before they are compiled
    compiling_seconds: float = 0.05
    #: seconds that calls of all kinds together must have taken before JAX is imported to compile one of them
    importing_seconds: float = 0.1
    #: while a kind is being compiled, each call waits at most as long as this many calls take
    waiting_calls: float = 8.0
    #: number of calls that may differ from the recording before calls of this kind are never compiled
    divergences: int = 6
    #: number of calls that request a value inside a recording before a function is compiled for it
    requested_calls: int = 3

    #: on another device, the first calls of an operator with one signature run on the host: their number
    kernel_calls: int = 8
    #: largest total number of elements of the operands of such calls
    kernel_elements: int = 1 << 20

    #: intermediate values of a gradient with at least this many bytes are freed after their last use
    freed_bytes: int = 1 << 20

    #: largest number of elements that the windows of a convolution occupy at a time
    window_elements: int = 1 << 25

    # Operands of compiled functions
    #: arrays with at most this many elements are passed as NumPy arrays at their first use
    handed_elements: int = 16384
    #: arrays with at most this many elements are not remembered
    forgotten_elements: int = 16
    #: largest number of bytes of an array whose values may be constants of a compiled function
    known_bytes: int = 4096
    #: arrays with at most this many elements are compared by value; if they are equal, they become constants
    compared_elements: int = 16
    #: number of elements that NumPy copies in the time in which it creates a view
    copied_elements: int = 4096
    #: smallest capacity of a function compiled for any size; larger capacities are powers of two
    open_capacity: int = 16
    #: calls shorter than this many seconds are quick: waiting for another thread would add 60 µs
    quick_seconds: float = 0.002
    #: after this many quick calls in a row, calls run without another thread
    quick_calls: int = 8
    #: after about this many seconds a user may press Ctrl-C
    interrupted_seconds: float = 0.1
    #: upper bounds, on slow machines too, of the seconds of an arithmetic operation, and per element of a
    #: pointwise operator, of a mathematical function, and of a library algorithm
    operation_seconds: float = 1e-9
    element_seconds: float = 3e-9
    function_seconds: float = 2e-8
    library_seconds: float = 1e-7


#: constants by the device names of ``set_device``; loops over tiles are tuned for the caches of a CPU
DEVICES = {
    "CPU": Costs(),
    "GPU": Costs(direction_tile_bytes=1 << 28, channels_last=False, stencil_taps=0, guarded_elements=0),
}
HOST = HostCosts()


def costs() -> Costs:
    """Return the constants of the device for which functions are compiled."""
    return DEVICES.get(str(settings.options["device_target"]), DEVICES["GPU"])
