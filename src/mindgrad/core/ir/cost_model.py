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
    #: a chain of matrix products is reordered only if it needs at least this many floating-point operations
    reordered_flops: int = 100_000
    #: a chain of matrix products is reordered only if the best order needs at most this fraction of the
    #: floating-point operations of the original order
    reordered_part: float = 0.8
    #: ``(a - b) @ c`` is computed as a single product with a contracted axis longer by 1, if the contracted
    #: axis has one of these sizes, and ``a`` or ``b`` is the same for all samples
    merged_columns: range = range(8, 25)
    #: an operand of a matrix product is rewritten only if it has at least this many elements. A difference is
    #: split into its terms, and a broadcast is replaced by the array that it repeats
    distributed_elements: int = 4096
    #: ``(a - b) @ c`` becomes ``a @ c - b @ c`` only if ``a - b`` has at least this many times the elements
    #: of ``a``, and of ``b``. A scalar factor is moved only to a value with at most 1 / ``distributed_part``
    #: of the elements of the largest value in the product
    distributed_part: int = 4
    #: a scalar factor of a product is moved to the smallest value only if the largest value has at least this
    #: many elements
    scaled_elements: int = 16384
    #: a broadcast operand of a loop body or branch is replaced by the array that it repeats only if the
    #: operand has at least this many elements
    repeated_elements: int = 4096
    #: the order of axes in memory is changed only if the graph transposes a value with at least this many
    #: elements
    transposed_elements: int = 4096
    #: a matrix product that is summed over its first axis is computed as a transposed product only if it has
    #: at least this many elements
    turned_elements: int = 1 << 15
    #: a matrix product that is summed over its first axis is computed as a transposed product only if this
    #: axis has one of these sizes
    turned_terms: range = range(33, 1 << 13)
    #: a matrix with at least this many rows is *long*. The product of a long and a small matrix is computed
    #: as a transposed product
    long_rows: int = 256
    #: a matrix is *small* if it has at most this many rows and at most this many columns
    short_sides: int = 24
    #: whether convolutions, and the operators between them, are computed with the channel axis last (decision
    #: 0029)
    channels_last: bool = True
    #: convolutions are computed with the channel axis last only if most of their results have at least this
    #: many channels: fewer channels do not fill a vector register
    vector_channels: int = 8
    #: a depthwise convolution (each output channel reads one input channel) is computed as a sum of products
    #: with shifted inputs, if its window has at most this many elements
    stencil_taps: int = 49
    #: a depthwise convolution is computed as a sum of products with shifted inputs only if each input channel
    #: has at most this many output channels
    stencil_outputs: int = 16

    # Choice between forward and reverse mode: decision 0012.
    #: a gradient with respect to at most this many input elements is always computed in forward mode, with
    #: one pass per element
    series_columns: int = 4
    #: forward mode is considered for a gradient only if it differentiates with respect to at most this many
    #: tensors
    series_inputs: int = 16
    #: forward mode is considered for per-sample gradients only if each sample has at most this many input
    #: elements
    gradient_columns: int = 128
    #: forward mode is considered for per-sample gradients only if the number of equations times the number of
    #: input elements is at most this, because forward mode repeats the equations for each input element
    gradient_equations: int = 2048
    #: a sum of at least this many second derivatives is computed in one pass (a forward Laplacian)
    collapsed_directions: int = 3

    # Sums over the first axes: decision 0019. *Pairwise summation* adds the second half of the terms to the
    # first half, and repeats this with the result.

    #: a sum over the first axes uses pairwise summation only if its number of terms is in this range
    halved_terms: range = range(16, 129)
    #: a sum over the first axes uses pairwise summation only if its result has at least this many elements
    halved_width: int = 1024
    #: If other axes precede the summed axes, pairwise summation is used only if the sum has at least this
    #: many terms. In addition, the axes after the summed axes must have at least this many elements together
    halved_inner: int = 64
    #: if pairwise summation would speed up more sums of a graph than this, no sum uses it, because XLA
    #: compiles it slowly (decision 0029)
    halved_sums: int = 24
    #: if other axes precede the summed axes, pairwise summation is used only if the number of elements of the
    #: operand is in this range
    halved_elements: range = range(1 << 16, (1 << 17) + 1)

    # Tiles of a batch: decision 0019. A tile is a group of samples. A loop computes one tile per iteration,
    # so that intermediate values fit into the processor cache.

    #: the batch axis is moved to the end, and the batch may be computed in tiles, only if it has at least
    #: this many samples
    tiled_rows: int = 1024
    #: the batch axis is moved to the end only if at least this many matrix products have a batch axis
    tiled_products: int = 8
    #: the batch axis of a batch that is computed in one piece is moved to the end only if the results of its
    #: matrix products have on average at most this many elements per sample
    tiled_features: int = 64
    #: a batch is computed in tiles only if the results of its matrix products have more bytes in total than
    #: this. Above this size, glibc requests the memory from the operating system in every call
    whole_bytes: int = 30 << 20
    #: target size of a tile: bytes of the results of all matrix products for the samples of the tile
    tile_bytes: int = 18 << 20
    #: A *stack* contains the tangents of all samples along all directions. This constant is the target number
    #: of bytes of the largest stack in one tile
    stack_tile_bytes: int = 1 << 18
    #: target number of bytes of the largest stack in one tile, for a graph with fewer than ``stack_products``
    #: matrix products of stacks. A smaller tile would not contain enough work for two threads
    lone_stack_tile_bytes: int = 8 << 20
    #: stacks of tangents are tiled only if the largest stack has at least this many times
    #: ``stack_tile_bytes``
    stack_tiles: int = 8
    #: stacks of tangents are tiled only if the largest stack has at least this many times the bytes of the
    #: batch itself
    stack_width: int = 48
    #: a graph with at least this many matrix products of stacks of tangents gets small tiles
    #: (``stack_tile_bytes``)
    stack_products: int = 3
    #: stacks of tangents are tiled only if the number of tiles is at least this
    fewest_tiles: int = 4
    #: weights of at most this many bytes are assumed to stay in the processor cache from one tile to the
    #: next. With larger weights, tiles are larger
    weight_bytes: int = 1 << 20
    #: A forward Laplacian may divide its directions into groups and compute one group after another. This
    #: constant is the target number of bytes of the tangents of a value along one group
    direction_tile_bytes: int = 1 << 19
    #: a forward Laplacian divides its directions into groups only if the tangents of a value along all
    #: directions have more bytes than this many times ``direction_tile_bytes``
    direction_tiles: int = 4

    # Reverse mode of loops: decision 0003.
    #: the cotangent of a constant of a scan is computed after the loop only if it has at least this many
    #: times the elements that each iteration must then stack
    stacked_part: int = 4
    #: the search for the values from which a residual can be recomputed visits at most this many values. If
    #: it would need more, the residual is stored
    rematerialized_equations: int = 64
    #: if a scan would stack more bytes of residuals than this, also consider recomputing some of them
    residual_bytes: int = 8 << 20
    #: Reverse mode of a ``while`` loop computes the residuals of several iterations together (a *chunk*). A
    #: chunk has at most this many iterations
    joint_iterations: int = 128
    #: a chunk of loop iterations is halved while a value in it has more than ``block_elements`` elements, but
    #: not below this number of iterations
    joint_block_iterations: int = 32
    #: target number of elements of the largest value in a chunk of loop iterations, for all its iterations
    #: together
    block_elements: int = 1024
    #: maximum number of iterations whose residuals are computed together, for a loop inside another loop
    joint_inner_iterations: int = 16
    #: maximum number of elements of a value in a chunk of loop iterations, for all its iterations together.
    #: In larger chunks, the padding of the last chunk takes too much time
    joint_elements: int = 4096
    #: if a chunk of loop iterations would have fewer iterations than this, reverse mode processes the
    #: iterations one by one
    fewest_joint_iterations: int = 8
    #: a loop saves carries of at most this many bytes in total for reverse mode, but it can always save
    #: ``fewest_slots`` carries
    slot_bytes: int = 1 << 18
    #: a loop can save this many carries for reverse mode, even if they have more than ``slot_bytes`` bytes
    fewest_slots: int = 16
    #: a loop inside another loop saves at most this many carries, because it saves them again in each
    #: iteration of the outer loop
    inner_slots: int = 64
    #: The first carries of a ``while`` loop are saved one by one only if a carry has at least this many
    #: bytes. A loop over smaller values is compiled to one piece of machine code, and running it again is
    #: faster than saving its carries
    saved_carry_bytes: int = 1 << 10
    #: A *shield* replaces infinite factors of a product by zero, so that 0 · ∞ is 0. A loop with at least
    #: this many shields per iteration first runs without them, and runs again with them if a result is not
    #: finite (``passes.guarded_loops``)
    postponed_guards: int = 4
    #: ``passes.guarded_loops`` rewrites a loop only if each of its values has at most this many elements
    guarded_elements: int = 64
    #: a Python loop is unrolled if this emits at most this many operators, and otherwise becomes a scan.
    #: Below this number, the unrolled loop runs faster, and XLA compiles it about as fast as the scan
    scan_equations: int = 128
    #: a Python loop with fewer iterations than this is always unrolled: XLA compiles a scan in about the time
    #: of three unrolled iterations
    scan_iterations: int = 4
    #: a library routine, such as a matrix product, counts as this many operators for ``scan_equations``
    library_call_equations: int = 8

    # Sparse derivatives: decision 0008. One tangent computes all columns of a Jacobian that have the same
    # *color*.

    #: the tangents of the colors are computed one by one, not as a batch, if this needs at most this many
    #: equations
    unrolled_equations: int = 3000
    #: a sparse function that reads its input through slices and gathers is differentiated with respect to
    #: each tensor that it reads, if it reads at most this many tensors (``sparse.movement_split``)
    single_parts: int = 100
    #: for a sparsity pattern with more nonzeros than this, only colorings that can be computed fast are tried
    single_entries: int = 10_000_000
    #: A matrix whose pattern is too dense for coloring is computed densely. If the matrix has more entries
    #: than this, ``ValueError`` is raised instead
    dense_entries: int = 100_000_000
    #: no other strategy is tried if forward mode needs at most this many colors, and no more colors than the
    #: fullest row has nonzeros
    few_colors: int = 8
    #: if a sparsity pattern would have more nonzeros than this, it is not computed, and the matrix is
    #: computed densely
    pattern_entries: int = 50_000_000
    #: the pattern of a scan is computed iteration by iteration only if all iterations have at most this many
    #: equations together. For a longer scan, as for a ``while`` loop, the pattern is propagated through the
    #: body until it does not change
    pattern_equations: int = 20_000
    #: if the pattern of a loop still changes after this many propagations through the body, every output is
    #: assumed to depend on every input
    pattern_iterations: int = 64
    #: if the window of a convolution has more elements than this, its pattern is an approximation that
    #: contains additional nonzeros
    window_positions: int = 512
    #: a periodic coloring is tried only if the distances between the nonzeros of a row have at most this many
    #: distinct values
    coloring_steps: int = 2048
    #: the search for a periodic coloring ends without a result if it needs more integer products than this
    coloring_products: int = 40_000_000
    #: a value with several uses is computed once into a separate array only if it has more elements than this
    #: (``sparse.color_seeds``)
    seed_elements: int = 2048
    #: a value with several uses is computed once into a separate array only if computing it costs at least
    #: this many multiplications
    shared_products: int = 6
    #: if each entry of a sparse matrix is a sum of at most this many computed elements, the elements are
    #: gathered and added. Otherwise a scatter adds them
    parallel_entries: int = 4

    # Compilation: decision 0011.
    #: messages between processes are combined only if the combined message has at most this many bytes
    message_bytes: int = 1 << 25
    #: a constant with more elements than this is passed to the compiled function as an operand; a smaller one
    #: is part of the compiled code
    inlined_elements: int = 1024
    #: a loop with more iterations than this is assumed to take longer than ``interrupted_seconds``
    long_loop_iterations: int = 100_000
    #: assumed iteration count of a loop whose iteration count is unknown. Operators in
    #: such a loop count more than operators outside it
    assumed_iterations: int = 100
    # A reduction is computed by a library kernel or by generated code. The next constants select one of them.

    #: the library kernels of a compiled function are turned off if each call is then faster by more than this
    #: many nanoseconds
    option_nanoseconds: float = 1000.0
    #: time that a library kernel saves, in nanoseconds per element, for a reduction of many terms. Negative
    #: times, as below, mean that the kernel is slower than generated code
    kernel_saves: float = 0.5
    #: nanoseconds per element that a library kernel saves in a reduction of at most ``few_terms`` terms
    kernel_saves_few: float = -0.25
    #: nanoseconds per element that a library kernel saves if the axes after the reduced axes have fewer than
    #: ``narrow_results`` elements together
    kernel_saves_narrow: float = -0.8
    #: nanoseconds per element that a library kernel saves in a reduction over the first axes whose result has
    #: more than ``wide_bytes`` bytes (jaxlib before 0.11)
    kernel_saves_wide: float = -3.5
    #: ``kernel_saves_few`` applies to reductions of at most this many terms
    few_terms: int = 32
    #: ``kernel_saves_narrow`` applies to reductions for which the axes after the reduced axes have fewer
    #: elements than this together
    narrow_results: int = 8
    #: ``kernel_saves_wide`` applies to reductions over the first axes whose result has more bytes than this
    wide_bytes: int = 1 << 16


class HostCosts(NamedTuple):
    """Tuned thresholds for the host, which runs Python and calls compiled functions."""

    # Compilation of eager calls (``eager.tiers``). All calls of one function with arguments of equal types
    # form one *kind* of call.

    #: a kind of call is compiled only if its shortest call took at least this many seconds
    shortest_seconds: float = 2e-4
    #: a kind of call is compiled as soon as its calls have taken this many seconds in total
    compiling_seconds: float = 0.05
    #: JAX is imported as soon as all eager calls of a thread have taken this many seconds in total
    importing_seconds: float = 0.1
    #: maximum time that a call waits for the compilation of its kind of call, as a multiple of the duration
    #: of the shortest call of this kind
    waiting_calls: float = 16.0
    #: a kind of call is never compiled if this many of its calls applied different operators from the
    #: recorded call, and no two of these calls applied the same operators
    divergences: int = 6
    #: if Python code reads the same intermediate value in this many calls, the computation of this value is
    #: compiled
    requested_calls: int = 3

    #: on a device other than the CPU, the first calls of an operator with operands of given types run on the
    #: host. After this many calls, the operator is compiled for the device
    kernel_calls: int = 8
    #: an operator runs on the host only if its operands have at most this many elements in total
    kernel_elements: int = 1 << 20

    #: an intermediate value of a gradient is freed after its last use if it has at least this many bytes
    freed_bytes: int = 1 << 20

    #: NumPy's convolution kernel copies the input windows in blocks of at most this many elements
    window_elements: int = 1 << 25

    # Operands of compiled functions.
    #: an array with at most this many elements is passed to a compiled function as a NumPy array when it is
    #: first used; a larger array is copied to the device
    handed_elements: int = 16384
    #: for an array with at most this many elements, each call checks whether all elements are finite, because
    #: this is faster than looking up a stored answer
    forgotten_elements: int = 16
    #: the elements of an array may become constants of a compiled function only if it has at most this many
    #: bytes
    known_bytes: int = 4096
    #: an input with at most this many elements is compared by value in each call. The compiled function
    #: treats it as a constant until its value changes
    compared_elements: int = 16
    #: NumPy copies this many elements in about the time that it takes to create a view. Smaller arrays are
    #: copied
    copied_elements: int = 4096
    #: Compiled functions pad an axis of dynamic size to a *capacity*, a power of two. This constant is the
    #: smallest capacity
    open_capacity: int = 16
    #: A call that takes less than this time in seconds is *quick*. For quick calls, switching to another
    #: thread would take too long (60 µs)
    quick_seconds: float = 0.002
    #: after this many successive quick calls, a function runs in the calling thread
    quick_calls: int = 8
    #: if a call may take longer than this time in seconds, Ctrl-C must be able to interrupt it
    interrupted_seconds: float = 0.1
    #: upper bound for the time of one arithmetic operation in seconds, even on slow machines
    operation_seconds: float = 1e-9
    #: upper bound for the time per element of a pointwise operator in seconds
    element_seconds: float = 3e-9
    #: upper bound for the time per element of a mathematical function, such as ``exp``, in seconds
    function_seconds: float = 2e-8
    #: upper bound for the time per element of a library algorithm, such as a sort, in seconds
    library_seconds: float = 1e-7


#: maps each device name of ``set_device`` to its cost constants. The default tile sizes fit the caches of a
#: CPU
DEVICES = {
    "CPU": Costs(),
    "GPU": Costs(direction_tile_bytes=1 << 28, channels_last=False, stencil_taps=0, guarded_elements=0),
}
HOST = HostCosts()


def costs() -> Costs:
    """Return the thresholds of the device for which functions are compiled."""
    return DEVICES.get(str(settings.options["device_target"]), DEVICES["GPU"])


def is_one_cpu() -> bool:
    """Return whether functions run on one CPU, for which some rewrites are tuned."""
    return settings.options["device_target"] == "CPU" and not is_divided()
