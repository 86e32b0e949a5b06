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
    """Tuned thresholds for one kind of device. The defaults are for a CPU."""

    # Products of matrices: decision 0009.
    #: assumed cost of moving one byte to or from memory, in floating-point operations
    flops_per_byte: int = 8
    #: a chain of matrix products is reordered only if it costs at least this many floating-point operations
    reordered_flops: int = 100_000
    #: a chain of matrix products is reordered only if the best order costs at most this fraction of the
    #: floating-point operations of the present order
    reordered_part: float = 0.8
    #: if the contracted axis of ``(a - b) @ c`` has one of these sizes, and ``a`` or ``b`` is the same for
    #: all samples, ``a @ c - b @ c`` is computed as one product, whose contracted axis is longer by 1
    merged_columns: range = range(8, 25)
    #: an operand of a matrix product that is a difference or a broadcast is replaced by its terms or its
    #: smaller value only if it has at least this many elements
    distributed_elements: int = 4096
    #: ``(a - b) @ c`` becomes ``a @ c - b @ c`` only if ``a - b`` has at least this many times the elements
    #: of ``a`` and of ``b``. A scalar factor is moved only to a value that has at most 1 /
    #: ``distributed_part`` of the elements of the largest value in the product
    distributed_part: int = 4
    #: a scalar factor is moved to the smallest value of a product only if the largest value has at least this
    #: many elements
    scaled_elements: int = 16384
    #: a broadcast operand of an inner graph is replaced by the smaller value that it repeats only if the
    #: broadcast has at least this many elements
    repeated_elements: int = 4096
    #: the order of axes in memory is changed only if the graph transposes a value of at least this many
    #: elements
    transposed_elements: int = 4096
    #: a matrix product that is then reduced over its first axis is computed in transposed form only if it has
    #: at least this many elements
    turned_elements: int = 1 << 15
    #: a matrix product that is then reduced over its first axis is computed in transposed form only if this
    #: axis has one of these sizes
    turned_terms: range = range(33, 1 << 13)
    #: a matrix with at least this many rows is *long*. The product of a long and a small matrix is computed
    #: in transposed form
    long_rows: int = 256
    #: a matrix is *small* if it has at most this many rows and at most this many columns
    short_sides: int = 24
    #: whether convolutions and the operators between them are computed with the channel axis last
    #: (docs/decisions/0029)
    channels_last: bool = True
    #: convolutions are computed with the channel axis last only if most results have at least this many
    #: channels, because fewer channels do not fill a vector register
    vector_channels: int = 8
    #: a convolution in which each output channel reads one input channel becomes a sum of products of shifted
    #: arrays only if its window has at most this many elements
    stencil_taps: int = 49
    #: a convolution becomes a sum of products of shifted arrays only if each input channel has at most this
    #: many output channels
    stencil_outputs: int = 16

    # Derivatives: decision 0012.
    #: maximum number of input dimensions for which a gradient is always computed by forward mode, with one
    #: pass per dimension
    series_columns: int = 4
    #: maximum number of differentiated inputs (tensors) for which forward mode is considered for a gradient
    series_inputs: int = 16
    #: maximum number of input dimensions for which forward mode is considered for a gradient per sample
    gradient_columns: int = 128
    #: maximum number of equations × input dimensions for which forward mode is considered for a gradient per
    #: sample. Forward mode repeats the equations for each dimension
    gradient_equations: int = 2048
    #: minimum number of second derivatives whose sum is computed in one pass (a forward Laplacian)
    collapsed_directions: int = 3

    # Sums over the first axes: decision 0019. Such a sum is *halved* if it is computed by repeatedly adding
    # the second half of the terms to the first half (pairwise summation).

    #: a sum over the first axes is halved only if its number of terms is in this range
    halved_terms: range = range(16, 129)
    #: a sum over the first axes is halved only if its result has at least this many elements
    halved_width: int = 1024
    #: if other axes come before the summed axes, a sum is halved only if it has at least this many terms, and
    #: the axes after the summed axes have at least this many elements together
    halved_inner: int = 64
    #: if a graph has more sums that halving would speed up than this, no sum is halved, because XLA compiles
    #: halved sums slowly (docs/decisions/0029)
    halved_sums: int = 24
    #: if other axes come before the summed axes, a sum is halved only if its operand has a number of elements
    #: in this range
    halved_elements: range = range(1 << 16, (1 << 17) + 1)

    # Tiles of a batch: decision 0019. A tile is a group of samples that is computed as one iteration of a
    # loop, so that intermediate values fit into the processor cache.

    #: the batch axis is moved to the end only if the batch has at least this many samples
    tiled_rows: int = 1024
    #: the batch axis is moved to the end only if at least this many matrix products have a batch axis
    tiled_products: int = 8
    #: if a batch need not be divided, its batch axis is moved to the end only if the results of its matrix
    #: products have on average at most this many elements per sample
    tiled_features: int = 64
    #: a batch is divided into tiles only if the results of its matrix products have more bytes in total than
    #: this. glibc requests memory of this size from the operating system in each call
    whole_bytes: int = 30 << 20
    #: target number of bytes of a tile of a batch: the results of all matrix products for the samples in the
    #: tile
    tile_bytes: int = 18 << 20
    #: a *stack* contains the tangents of each sample along all directions. Target number of bytes of the
    #: largest stack in a tile
    stack_tile_bytes: int = 1 << 18
    #: replaces ``stack_tile_bytes`` for a graph with fewer than ``stack_products`` matrix products over
    #: stacks. These tiles are larger, because a small tile with little work cannot occupy two threads
    lone_stack_tile_bytes: int = 8 << 20
    #: stacks are divided into tiles only if the largest stack has at least this many times
    #: ``stack_tile_bytes``
    stack_tiles: int = 8
    #: stacks are divided into tiles only if the largest stack has at least this many times the bytes of the
    #: batch itself
    stack_width: int = 48
    #: a graph with at least this many matrix products over stacks is divided into small tiles
    #: (``stack_tile_bytes``)
    stack_products: int = 3
    #: minimum number of tiles of stacks; smaller batches are computed in one piece
    fewest_tiles: int = 4
    #: weights of at most this many bytes are assumed to stay in the processor cache between two tiles. Larger
    #: weights need larger tiles
    weight_bytes: int = 1 << 20
    #: target number of bytes of the tangents of one value along a group of directions. The groups of a
    #: forward Laplacian are computed one after another
    direction_tile_bytes: int = 1 << 19
    #: directions are divided into groups only if the tangents of a value along all directions have more bytes
    #: than this many times ``direction_tile_bytes``
    direction_tiles: int = 4

    # Reverse mode of loops: decision 0003.
    #: the cotangent of a constant of a scan is computed after the loop, if it has at least this many times
    #: the elements that each iteration must then stack
    stacked_part: int = 4
    #: maximum number of values that are visited to decide whether a residual is cheap to recompute
    rematerialized_equations: int = 64
    #: if a scan would stack more bytes of residuals than this, also consider recomputing some residuals
    residual_bytes: int = 8 << 20
    #: reverse mode of a ``while`` loop computes residuals for a *chunk* of iterations together. Maximum
    #: number of iterations in a chunk
    joint_iterations: int = 128
    #: a chunk is halved while a value in it has more than ``block_elements`` elements, but only down to this
    #: many iterations
    joint_block_iterations: int = 32
    #: target for the number of elements of the largest value in a chunk, over all iterations
    block_elements: int = 1024
    #: maximum number of iterations in a chunk of a loop inside another loop
    joint_inner_iterations: int = 16
    #: maximum number of elements of a value in a chunk, over all iterations. In larger chunks, the unused
    #: iterations of the last chunk take too much time
    joint_elements: int = 4096
    #: minimum number of iterations in a chunk; otherwise reverse mode processes the iterations one by one
    fewest_joint_iterations: int = 8
    #: maximum number of bytes of the carries that a loop saves for reverse mode, except that it can always
    #: save ``fewest_slots`` carries
    slot_bytes: int = 1 << 18
    #: number of carries that a loop can save even if they have more than ``slot_bytes`` bytes
    fewest_slots: int = 16
    #: maximum number of carries that a loop inside another loop saves, because every outer iteration saves
    #: them again
    inner_slots: int = 64
    #: minimum number of bytes of a carry that is saved in each of the first iterations. XLA compiles a loop
    #: over smaller values to one piece of machine code, and running this code twice takes less time than
    #: saving
    saved_carry_bytes: int = 1 << 10
    #: a *shield* replaces infinite factors in a product by zero. A loop with at least this many shields per
    #: iteration first runs without them, and again with them if a result is not finite
    #: (``passes.guarded_loops``)
    postponed_guards: int = 4
    #: ``passes.guarded_loops`` rewrites a loop only if each of its values has at most this many elements
    guarded_elements: int = 64
    #: a Python loop is unrolled only if this emits at most this many operators; otherwise it becomes a scan.
    #: XLA compiles a shorter unrolled loop about as fast as a scan, and the unrolled loop runs faster
    scan_equations: int = 128
    #: a Python loop with fewer iterations than this is always unrolled, because XLA compiles a scan in about
    #: the time of three unrolled iterations
    scan_iterations: int = 4
    #: a library routine, such as a matrix product, counts as this many operators for ``scan_equations``
    library_call_equations: int = 8

    # Sparse derivatives: decision 0008. All columns of a Jacobian with the same *color* are computed by one
    # tangent.

    #: the tangents of all colors are computed separately, instead of as a batch, only if this needs at most
    #: this many equations
    unrolled_equations: int = 3000
    #: maximum number of tensors z that a sparse function may read from its input through slices and gathers,
    #: if it is differentiated with respect to each z (``sparse.movement_split``)
    single_parts: int = 100
    #: for a sparsity pattern with more nonzeros than this, only the colorings that are fast to compute are
    #: tried
    single_entries: int = 10_000_000
    #: maximum number of entries of a matrix that is computed densely because its pattern is too dense; larger
    #: matrices raise ``ValueError``
    dense_entries: int = 100_000_000
    #: if forward mode needs at most this many colors, and at most as many colors as the fullest row has
    #: nonzeros, no other strategy is tried
    few_colors: int = 8
    #: a sparsity pattern with more nonzeros than this is not computed; the matrix is then computed densely
    pattern_entries: int = 50_000_000
    #: maximum number of equations in all iterations of a scan for which its pattern is computed iteration by
    #: iteration. The pattern of a longer scan is propagated until it does not change, as for ``while``
    pattern_equations: int = 20_000
    #: if the pattern of a loop still changes after this many iterations, every output is assumed to depend on
    #: every input
    pattern_iterations: int = 64
    #: the pattern of a convolution is exact only if its window has at most this many elements
    window_positions: int = 512
    #: a periodic coloring is tried only if the differences between the positions of nonzeros in a row have at
    #: most this many distinct values
    coloring_steps: int = 2048
    #: maximum number of integer products in the search for a periodic coloring
    coloring_products: int = 40_000_000
    #: a value with several uses is computed into a separate array only if it has more elements than this
    #: (``sparse.color_seeds``)
    seed_elements: int = 2048
    #: a value with several uses is computed into a separate array only if it costs at least as much as this
    #: many products
    shared_products: int = 6
    #: if each entry of a sparse matrix is a sum of at most this many computed elements, the elements are
    #: gathered and added; otherwise they are added by a scatter
    parallel_entries: int = 4

    # Compilation: decision 0011.
    #: maximum number of bytes of a message that combines several messages between processes
    message_bytes: int = 1 << 25
    #: a constant with more elements than this is an operand of the compiled function instead of part of its
    #: code
    inlined_elements: int = 1024
    #: a loop with more iterations than this may take longer than ``interrupted_seconds``
    long_loop_iterations: int = 100_000
    #: assumed iteration count of a loop whose iteration count depends on data. It gives the loop body more
    #: weight than the code outside
    assumed_iterations: int = 100
    # XLA can compute a reduction by a library kernel or by generated code.

    #: library kernels are turned off for a compiled function if this saves more than this many nanoseconds
    #: per call
    option_nanoseconds: float = 1000.0
    #: nanoseconds per element that the library kernel saves in a reduction of many terms; a negative value is
    #: a loss
    kernel_saves: float = 0.5
    #: nanoseconds per element that the library kernel saves in a reduction of at most ``few_terms`` terms
    kernel_saves_few: float = -0.25
    #: nanoseconds per element that the library kernel saves if the axes after the reduced axes have fewer
    #: than ``narrow_results`` elements together
    kernel_saves_narrow: float = -0.8
    #: nanoseconds per element that the library kernel saves in a reduction over the first axes, if its result
    #: has more than ``wide_bytes`` bytes (jaxlib before 0.11)
    kernel_saves_wide: float = -3.5
    #: a reduction of at most this many terms uses ``kernel_saves_few``
    few_terms: int = 32
    #: a reduction uses ``kernel_saves_narrow`` if the axes after the reduced axes have fewer elements than
    #: this
    narrow_results: int = 8
    #: a reduction over the first axes uses ``kernel_saves_wide`` if its result has more bytes than this
    wide_bytes: int = 1 << 16


class HostCosts(NamedTuple):
    """Tuned thresholds for the host, which runs Python and calls compiled functions."""

    # Compilation of eager calls (``eager.tiers``). A *kind* of call is one function with arguments of given
    # types.

    #: a kind of call is compiled only if its shortest call took at least this many seconds
    shortest_seconds: float = 2e-4
    #: a kind of call is compiled after its calls have taken this many seconds in total
    compiling_seconds: float = 0.05
    #: JAX is imported after calls of all kinds have taken this many seconds in total
    importing_seconds: float = 0.1
    #: while a kind of call is being compiled, each of its calls waits for the compiler. Maximum waiting time,
    #: as a multiple of the duration of the shortest call
    waiting_calls: float = 16.0
    #: a kind of call is never compiled if this many calls applied other operators than the recorded call, and
    #: no two calls applied the same operators
    divergences: int = 6
    #: if Python code reads the same intermediate value in this many calls, a function that computes this
    #: value is compiled
    requested_calls: int = 3

    #: on a device other than the CPU, this many calls of an operator with operands of given types run on the
    #: host before the operator is compiled for the device
    kernel_calls: int = 8
    #: calls of an operator run on the host only if its operands have at most this many elements in total
    kernel_elements: int = 1 << 20

    #: an intermediate value of a gradient with at least this many bytes is freed after its last use
    freed_bytes: int = 1 << 20

    #: NumPy's convolution copies windows in blocks of at most this many elements
    window_elements: int = 1 << 25

    # Operands of compiled functions.
    #: an array with at most this many elements is passed as a NumPy array at its first use; a larger array is
    #: moved to the device
    handed_elements: int = 16384
    #: for an array with at most this many elements, properties such as whether it is finite are computed in
    #: each call instead of stored between calls
    forgotten_elements: int = 16
    #: maximum number of bytes of an array whose elements can become constants of a compiled function
    known_bytes: int = 4096
    #: an input with at most this many elements is compared by value in each call, and the compiled function
    #: treats it as a constant while it is unchanged
    compared_elements: int = 16
    #: number of elements that NumPy copies in the time in which it creates a view
    copied_elements: int = 4096
    #: compiled functions pad an axis of dynamic size to a *capacity*, a power of two. Smallest capacity
    open_capacity: int = 16
    #: a call that takes fewer seconds than this is *quick*. For quick calls, the 60 µs of switching to
    #: another thread would matter
    quick_seconds: float = 0.002
    #: after this many quick calls in a row, calls run in the calling thread
    quick_calls: int = 8
    #: a call that may take more seconds than this must be interruptible by Ctrl-C
    interrupted_seconds: float = 0.1
    #: upper bound of the seconds of one arithmetic operation, even on slow machines
    operation_seconds: float = 1e-9
    #: upper bound of the seconds for one element of a pointwise operator
    element_seconds: float = 3e-9
    #: upper bound of the seconds for one element of a mathematical function, such as ``exp``
    function_seconds: float = 2e-8
    #: upper bound of the seconds for one element of a library algorithm, such as a sort
    library_seconds: float = 1e-7


#: maps each device name of ``set_device`` to its constants. The default tile sizes fit the caches of a CPU
DEVICES = {
    "CPU": Costs(),
    "GPU": Costs(direction_tile_bytes=1 << 28, channels_last=False, stencil_taps=0, guarded_elements=0),
}
HOST = HostCosts()


def costs() -> Costs:
    """Return the thresholds of the device for which functions are compiled."""
    return DEVICES.get(str(settings.options["device_target"]), DEVICES["GPU"])


def is_one_cpu() -> bool:
    """Whether functions run on a single CPU, as rewrites for CPU caches require."""
    return settings.options["device_target"] == "CPU" and not is_divided()
