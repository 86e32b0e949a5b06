"""Programs that run eagerly and that graph mode refuses: what it says, and where."""

from mindgrad import ops
from tests.programs.control.program import integer, program


@program(
    (0.8, 0.5), (0.2, 0.5),
    reference=lambda x, y: (x * y) ** 2 if x > y else x / y,
    refused=r"The value of the expression is(.|\n)*square if x > y else ratio",
)  # fmt: skip
def a_function_chosen_by_a_tensor(x, y):
    square = lambda a, b: (a * b) ** 2
    ratio = lambda a, b: a / b
    return (square if x > y else ratio)(x, y)


@program(
    (0.4,), (-0.4,),
    reference=lambda x: x * 2 if x > 0 else x**3,
    refused=r"variable 'y' has no value(.|\n)*return y",
)  # fmt: skip
def a_variable_of_one_branch(x):
    z = x
    if x > 0:
        y = 2 * x
    else:
        z = x**3
    if z < 0:
        return z
    return y


@program(
    ([0.4, -0.9, 0.7],),
    reference=lambda v: sum(x**2 * (1 if x < 0.5 else 4) for x in v),
    refused=r"mask(.|\n)*where\(mask, x, 0\)",
)  # fmt: skip
def elements_that_a_mask_selects(v):
    """How many there are is not known before the program runs."""
    w = v * 1.0
    w[v > 0.5] *= 2
    return ops.sum(w * w)


@program(
    (0.4,), (-0.4,),
    reference=lambda x: x * 2 if x > 0 else x,
    refused=r"is a list of 2 items in one branch of this 'if' and a list of 1 item in the other(.|\n)*if x > 0",
)  # fmt: skip
def a_list_that_grows_in_a_branch(x):
    row = [x]
    if x > 0:
        row.append(x)
    return sum(row)


@program(
    (0.4, integer(0)), (0.4, integer(3)),
    reference=lambda x, n: x * 2**n,
    refused=r"shape(.|\n)*while n > 0",
)  # fmt: skip
def a_variable_that_changes_its_shape(x, n):
    y = x.reshape(1)
    while n > 0:
        y = ops.concat((y, y))
        n -= 1
    return ops.sum(y)


@program(
    (0.4,), (1.4,),
    reference=lambda x: x**2 if x < 1 else x,
    refused=r"float\(ops.stop_gradient\(x\)\)",
)  # fmt: skip
def the_value_of_a_tensor(x):
    if float(ops.stop_gradient(x)) < 1.0:
        return x * x
    return x


def halved_later(x, limit):
    if x > limit:
        return x
    return 0.5 * halved_later(x * 2, limit)


@program(
    (0.4, 3.0), (3.4, 3.0),
    reference=lambda x, limit: x,
    refused=r"recurs(.|\n)*halved_later\(x \* 2, limit\)",
)  # fmt: skip
def a_recursion_whose_depth_depends_on_a_tensor(x, limit):
    """It is no tail call: something is done with what the inner call gives."""
    return halved_later(x, limit)
