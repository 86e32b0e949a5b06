"""The cost model holds every number that was tuned on a machine, by kind of device.

Rewrites, loops, sparse derivatives and the back end read those of the device for which programs are
compiled (:func:`costs`); eager mode reads those of the host (``HOST``). A new kind of device is one entry of
``DEVICES``. The decisions that the groups name say how the numbers were found.
"""

from typing import NamedTuple

from mindgrad.ir import settings

__all__ = ["DEVICES", "HOST", "Costs", "HostCosts", "costs"]


class Costs(NamedTuple):
    """The numbers of one kind of device; by default those of a CPU."""

    # Products of matrices, see docs/decisions/0009
    #: floating-point operations that take as long as moving a byte
    flops_per_byte: int = 8
    #: trees of products that cost less are left alone
    reordered_flops: int = 100_000
    #: the part of its cost that the best tree takes at most
    reordered_part: float = 0.8
    #: columns of a matrix that gets one more
    merged_columns: range = range(8, 25)
    #: a difference of fewer elements is left alone
    distributed_elements: int = 4096
    #: how many times as large as its terms a difference is
    distributed_part: int = 4
    #: factors of values of fewer elements stay where they are
    scaled_elements: int = 16384
    #: values of fewer elements are repeated all the same
    repeated_elements: int = 4096
    #: transposed values of fewer elements are left alone
    transposed_elements: int = 4096
    #: a product of fewer elements is not turned for a reduction
    turned_elements: int = 1 << 15
    #: terms of a reduction for which a product is turned
    turned_terms: range = range(33, 1 << 13)
    #: the rows from which on a first operand is long
    long_rows: int = 256
    #: the rows and columns up to which a second operand is small
    short_sides: int = 24
    #: whether convolutions, and what lies between them, have their channels last (docs/decisions/0029)
    channels_last: bool = True
    #: channels from which on vectors run well along them
    vector_channels: int = 8
    #: the most elements of a window whose convolution with one channel is a sum of shifted products
    stencil_taps: int = 49
    #: the most outputs of such a channel
    stencil_outputs: int = 16

    # Derivatives, see docs/decisions/0012
    #: columns of a gradient that are a sweep each
    series_columns: int = 4
    #: inputs of a gradient that are a sweep each
    series_inputs: int = 16
    #: columns of one gradient, whose value is one for each row
    gradient_columns: int = 128
    #: equations of such a gradient times its columns: its derivative has them all for each column again
    gradient_equations: int = 2048
    #: second derivatives in a sum from which on it is collapsed
    collapsed_directions: int = 3

    # Sums over rows, see docs/decisions/0019
    #: terms of a sum along the last axes that is taken in halves
    halved_terms: range = range(16, 129)
    #: results side by side of such a sum
    halved_width: int = 1024
    #: terms, and results side by side, of one with axes in front
    halved_inner: int = 64
    #: the most sums of a program that are taken so, for XLA compiles them slowly (docs/decisions/0029)
    halved_sums: int = 24
    #: elements of the operand of such a one
    halved_elements: range = range(1 << 16, (1 << 17) + 1)

    # Tiles of rows, see docs/decisions/0019
    #: rows of data from which on narrow values have them last
    tiled_rows: int = 1024
    #: products of a program that is worth another order of axes
    tiled_products: int = 8
    #: features for each product up to which vectors run better along the rows
    tiled_features: int = 64
    #: bytes of products that are kept whole: glibc takes more from the system anew in each call
    whole_bytes: int = 30 << 20
    #: bytes of all products in a tile with the rows last
    tile_bytes: int = 18 << 20
    #: bytes of the largest value in a tile of stacks
    stack_tile_bytes: int = 1 << 18
    #: the same with few products, which are too little work for two threads
    lone_stack_tile_bytes: int = 8 << 20
    #: how many tiles of stacks are worth a loop
    stack_tiles: int = 8
    #: how many times as many elements as a row of data a row of the stack has
    stack_width: int = 48
    #: products of a chain of layers
    stack_products: int = 3
    #: the fewest tiles of a chain of stacks
    fewest_tiles: int = 4
    #: bytes of weights that stay in the cache between two tiles
    weight_bytes: int = 1 << 20
    #: bytes of the stack of one value along some directions
    direction_tile_bytes: int = 1 << 19
    #: how many such stacks are worth a loop over directions
    direction_tiles: int = 4

    # Reverse mode of loops, see docs/decisions/0003
    #: how many times as large as what is stacked the sum is that it replaces
    stacked_part: int = 4
    #: equations and operands that are looked at to make one value again
    rematerialised_equations: int = 64
    #: bytes that a loop stacks for its way back from which on stacking less is compared with it
    residual_bytes: int = 8 << 20
    #: trips whose derivatives are made at once
    joint_trips: int = 128
    #: the same where a value of so many has more than ``block_elements``: short loops pay for all of them
    joint_block_trips: int = 32
    block_elements: int = 1024
    #: the same for a loop inside of another
    joint_inner_trips: int = 16
    #: the most elements of a value of these trips: rows that no trip fills are work for nothing
    joint_elements: int = 4096
    #: fewer are not worth it
    fewest_joint_trips: int = 8
    #: bytes that the slots of one loop may take, unless that leaves too few
    slot_bytes: int = 1 << 18
    #: the fewest slots of a loop
    fewest_slots: int = 16
    #: the most slots of a loop inside of another, which are filled anew in every trip of that
    inner_slots: int = 64
    #: bytes of a carry from which on the first trips save every one: XLA compiles a loop over less to one
    #: piece of machine code as long as it touches nothing larger, and running it twice is cheaper than
    #: saving
    saved_carry_bytes: int = 1 << 10
    #: guarded products of a trip from which on it has plain ones first, and the most elements of its values
    postponed_guards: int = 4
    guarded_elements: int = 64
    #: operators of an unrolled loop from which on it becomes a scan: below, XLA compiles it about as fast
    #: unrolled, and runs it faster
    scan_equations: int = 128
    #: the fewest trips of such a scan, which XLA compiles about as long as three unrolled ones
    scan_trips: int = 4
    #: operators that compile as slowly as one that calls a library
    library_call_equations: int = 8

    # Sparse derivatives, see docs/decisions/0008
    #: equations of all colours together that are still unrolled
    unrolled_equations: int = 3000
    #: parts of a value that are worth looking at one by one
    single_parts: int = 100
    #: entries of a pattern of which they are
    single_entries: int = 10_000_000
    #: the most entries of a dense matrix that is computed all the same
    dense_entries: int = 100_000_000
    #: colours with which no other strategy is tried, if no row allows fewer
    few_colours: int = 8
    #: the most entries of a pattern
    pattern_entries: int = 50_000_000
    #: equations of the trips of a scan that are followed one by one
    pattern_equations: int = 20_000
    #: trips after which a loop whose pattern still grows is taken to mix everything
    pattern_trips: int = 64
    #: positions of a window that are followed
    window_positions: int = 512
    #: steps between columns that count as repeating
    colouring_steps: int = 2048
    #: products that a search of a colouring may take
    colouring_products: int = 40_000_000
    #: constants of more elements are data to the compiler
    seed_elements: int = 2048
    #: products from which on a value with several uses is computed once
    shared_products: int = 6
    #: contributions to one entry that are read side by side; more are added up
    parallel_entries: int = 4

    # Compilation, see docs/decisions/0011
    #: bytes of a message between processes that is large enough
    message_bytes: int = 1 << 25
    #: constants of more elements are passed to the program instead of being built into it
    inlined_elements: int = 1024
    #: trips of a loop that may take longer than the tenth of a second
    long_loop_trips: int = 100_000
    #: trips that a loop of unknown length is taken for: more than what is outside of it
    assumed_trips: int = 100
    #: nanoseconds in all that are worth an option
    option_nanoseconds: float = 1000.0
    #: nanoseconds per element that library kernels save where many elements become one
    kernel_saves: float = 0.5
    #: the same where few do
    kernel_saves_few: float = -0.25
    #: the same where few results lie side by side
    kernel_saves_narrow: float = -0.8
    #: the same where many do, in one block
    kernel_saves_wide: float = -3.5
    #: elements up to which few become one
    few_terms: int = 32
    #: results up to which few lie side by side
    narrow_results: int = 8
    #: bytes of results side by side from which on they are many
    wide_bytes: int = 1 << 16


class HostCosts(NamedTuple):
    """The numbers of the host, which runs Python and hands operands to programs."""

    # Compilation of eager calls, see eager/tiers.py
    #: seconds of the shortest call of a kind; below, calls of the kind are not compiled
    shortest_seconds: float = 2e-4
    #: seconds that all calls of a kind must have taken before they are compiled
    compiling_seconds: float = 0.05
    #: seconds that calls of all kinds must have taken before jax is imported to compile one
    importing_seconds: float = 0.1
    #: a call waits for the program of its kind, while that is being compiled, as long as so many calls take
    waiting_calls: float = 8.0
    #: calls of a kind that may differ from the recording before the kind is never compiled
    divergences: int = 6
    #: calls that ask for a value inside a recording before a program is compiled for it
    requested_calls: int = 3

    #: calls of an operator of one signature that run on the host before it is compiled for another device
    kernel_calls: int = 8
    #: largest number of elements of its operands for which they do
    kernel_elements: int = 1 << 20

    #: bytes of a value from which on those of a gradient are given back as soon as they are not needed
    freed_bytes: int = 1 << 20

    #: numbers of a convolution's windows that are written out at a time
    window_elements: int = 1 << 25

    # Operands of programs
    #: elements up to which an array is handed to a program as it is, when it comes for the first time
    handed_elements: int = 16384
    #: elements up to which an array is not remembered
    forgotten_elements: int = 16
    #: bytes of an array of which a program may know the values
    known_bytes: int = 4096
    #: elements up to which arrays are compared by value, and constants of the program where they are equal
    compared_elements: int = 16
    #: elements that are copied in the time in which NumPy makes a view
    copied_elements: int = 4096
    #: smallest size that a program of open sizes is compiled for; larger ones are powers of two
    open_capacity: int = 16
    #: seconds of a program that is quick: another thread costs 60 µs
    quick_seconds: float = 0.002
    #: calls in a row that have to be
    quick_calls: int = 8
    #: seconds after which users begin to think of Ctrl-C
    interrupted_seconds: float = 0.1
    #: seconds that an arithmetic operation, an element of an array, one of a function and one of an algorithm
    #: take at most: an upper bound, on slow machines too, not an estimate
    operation_seconds: float = 1e-9
    element_seconds: float = 3e-9
    function_seconds: float = 2e-8
    library_seconds: float = 1e-7


#: by kind of device, as ``set_device`` names them; loops over tiles serve the caches of a CPU
DEVICES = {
    "CPU": Costs(),
    "GPU": Costs(direction_tile_bytes=1 << 28, channels_last=False, stencil_taps=0, guarded_elements=0),
}
HOST = HostCosts()


def costs() -> Costs:
    """The numbers of the device for which programs are compiled."""
    return DEVICES.get(str(settings.options["device_target"]), DEVICES["GPU"])
