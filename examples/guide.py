"""A tour of mindgrad's derivatives; each is printed with an explanation.

    python examples/guide.py            compiled: every derivative becomes one XLA program
    python examples/guide.py --eager    operator by operator on NumPy, with the same results

It follows MindSpore's guide to gradients: first order, scaling, stop_gradient, second order, Jvp and
Vjp, and the functions grad, jvp and vjp. The derivatives of its nets are easy to check by hand.
"""

import sys
import textwrap

import mindgrad as ms
from mindgrad import Parameter, ParameterTuple, Tensor, context, nn, ops
from mindgrad.ops import grad, jvp, stop_gradient, vjp

EAGER = "--eager" in sys.argv[1:]
context.set_context(mode=context.PYNATIVE_MODE if EAGER else context.GRAPH_MODE)


def title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def say(text: str) -> None:
    print("\n" + textwrap.fill(" ".join(text.split()), 88))


def show(name: str, value: Tensor) -> None:
    """Print `name = value`, and indent the other lines of a matrix."""
    head = f"    {name} = "
    print(head + str(value).replace("\n", "\n" + " " * len(head)))


# Two customers buy three goods, and two shops ask different prices for them.
amounts = Tensor([[2, 1, 0], [1, 0, 4]], ms.float32)  # customer x good
prices = Tensor([[3, 2], [1, 2], [0.5, 0.25]], ms.float32)  # good x shop


class Bills(nn.Cell):
    """The amount that each customer pays in each shop, tax included."""

    def __init__(self):
        super().__init__()
        self.matmul = ops.MatMul()
        self.tax = Parameter(Tensor([1.25], ms.float32), name="tax")

    def construct(self, amounts, prices):
        return self.tax * self.matmul(amounts, prices)


def first_order() -> None:
    title("First order: the effect of a small change")
    bills = Bills()
    say("A net has a matrix of four outputs, the bills:")
    show("bills", bills(amounts, prices))

    say("""GradOperation() sums the outputs and differentiates the sum with respect to each element of the
        first input. One more unit of a good adds its prices in both shops, times the tax:""")
    show("d sum / d amounts", ops.GradOperation()(bills)(amounts, prices))

    say("get_all=True differentiates by every input. A price counts as often as its good is bought:")
    _, by_price = ops.GradOperation(get_all=True)(bills)(amounts, prices)
    show("d sum / d prices", by_price)

    say("get_by_list=True differentiates with respect to weights. For the tax, this is the sum before tax.")
    weights = ParameterTuple(bills.trainable_params())
    (by_tax,) = ops.GradOperation(get_by_list=True)(bills, weights)(amounts, prices)
    show("d sum / d tax", by_tax)


class Customer(nn.Cell):
    """The bills of one customer only."""

    def __init__(self):
        super().__init__()
        self.bills = Bills()

    def construct(self, amounts, prices):
        return self.bills(amounts, prices)[1]


def one_output() -> None:
    title("One output of many")
    say("""sens_param=True multiplies the outputs by one more argument before they are summed. A one
        among zeros selects a single output: the first customer in the second shop. The amounts of the
        other customer do not change it.""")
    pick = Tensor([[0, 1], [0, 0]], ms.float32)
    scaled = ops.GradOperation(sens_param=True)
    show("d bills[0][1] / d amounts", scaled(Bills())(amounts, prices, pick))

    say("Alternatively, the net itself returns the outputs of interest: the second customer's bills.")
    show("d sum / d amounts", ops.GradOperation()(Customer())(amounts, prices))


class Discounted(nn.Cell):
    """A bill minus a discount of 25 %.

    The discount depends on the bill, unless it is `agreed`: then derivatives treat it as a constant.
    """

    def __init__(self, agreed: bool):
        super().__init__()
        self.agreed = agreed

    def construct(self, bill):
        discount = 0.25 * bill
        if self.agreed:
            discount = stop_gradient(discount)
        return bill - discount


def stopping() -> None:
    title("stop_gradient: treat a value as a constant")
    bill = Tensor([8], ms.float32)
    say("If the bill rises by 1, the customer pays 0.75 more, because the discount grows as well ...")
    show("d paid / d bill", ops.GradOperation()(Discounted(agreed=False))(bill))
    say("... but the full 1, if the discount was agreed on. The customer pays 6 in both cases.")
    show("d paid / d bill", ops.GradOperation()(Discounted(agreed=True))(bill))


class Swing(nn.Cell):
    """The position of a pendulum at time t."""

    def construct(self, t):
        return ops.sin(t)


class Gradient(nn.Cell):
    """The gradient of a net is a net again."""

    def __init__(self, net):
        super().__init__()
        self.net = net
        self.gradient = ops.GradOperation()

    def construct(self, x):
        return self.gradient(self.net)(x)


class Cone(nn.Cell):
    """The volume of a cone of radius r and height h, without the factor pi/3."""

    def construct(self, r, h):
        return r * r * h


class Gradients(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.gradient = ops.GradOperation(get_all=True)

    def construct(self, r, h):
        return self.gradient(self.net)(r, h)


def higher_order() -> None:
    title("Higher order: derivatives of derivatives")
    t = Tensor([0.5, 1, 1.5], ms.float32)
    position = Swing()
    velocity = Gradient(position)
    acceleration = Gradient(velocity)
    say("""The first derivative of the position of a pendulum is its velocity. The second derivative is
        its acceleration, which is the position with the opposite sign:""")
    show("position", position(t))
    show("velocity", velocity(t))
    show("acceleration", acceleration(t))

    say("""With several inputs there are several first derivatives. A tuple of scales selects the one to
        differentiate again: (1, 0) the derivative by the radius, (0, 1) the derivative by the height.""")
    r, h = Tensor([2], ms.float32), Tensor([3], ms.float32)
    one, zero = Tensor([1], ms.float32), Tensor([0], ms.float32)
    again = ops.GradOperation(get_all=True, sens_param=True)(Gradients(Cone()))
    drdr, drdh = again(r, h, (one, zero))
    dhdr, dhdh = again(r, h, (zero, one))
    show("d2V / dr dr = 2h", drdr)
    show("d2V / dr dh = 2r", drdh)
    show("d2V / dh dr = 2r", dhdr)
    show("d2V / dh dh =  0", dhdh)


class Hills(nn.Cell):
    """The height of a landscape at (x, y)."""

    def construct(self, x, y):
        return x * x - x * y


def directions() -> None:
    title("Jvp and Vjp: forward along a direction, backward from the outputs")
    x, y = Tensor([1, 2], ms.float32), Tensor([3, 0.5], ms.float32)
    east, north = Tensor([1, 1], ms.float32), Tensor([0, 2], ms.float32)
    say("""Two hikers are on a landscape. nn.Jvp returns their heights, and how fast each climbs: both walk
        one unit east, and the second also two units north. One pass suffices for any number of outputs:""")
    height, climb = nn.Jvp(Hills())(x, y, (east, north))
    show("height", height)
    show("climb", climb)

    say("""nn.Vjp goes the other way: it weights the outputs, here both by one, and computes the derivative
        with respect to every input. One pass suffices for any number of inputs:""")
    height, (to_east, to_north) = nn.Vjp(Hills())(x, y, Tensor([1, 1], ms.float32))
    show("d height / dx = 2x - y", to_east)
    show("d height / dy =     -x", to_north)


def power(x, y):
    return x**3 + y


def functions() -> None:
    title("Derivatives of plain functions")
    x, y = Tensor([1, 2], ms.float32), Tensor([4, 8], ms.float32)
    v = Tensor([1, 0.5], ms.float32)
    say("grad accepts the position of an input, or a tuple of positions. For x**3 + y:")
    show("d/dx = 3x**2", grad(power)(x, y))
    by_y, by_x = grad(power, grad_position=(1, 0))(x, y)
    show("d/dy", by_y)
    show("d/dx", by_x)

    say("jvp and vjp return the output first, then the derivative along or weighted with v:")
    output, along = jvp(power, (x, y), (v, v))
    show("output", output)
    show("jvp = (3x**2 + 1) v", along)
    output, (by_x, by_y) = vjp(power, (x, y), v)
    show("vjp for x = 3x**2 v", by_x)
    show("vjp for y =       v", by_y)

    say("""They nest in any order. jvp of grad is the product of the Hessian and a vector, and the Hessian
        is never built:""")
    _, product = jvp(grad(power), (x, y), (v, v))
    show("6x v", product)

    say("Derivatives exist to any order. These are the first to fourth derivatives of x**3.")
    derivative = power
    for order in (1, 2, 3, 4):
        derivative = grad(derivative)
        show(f"order {order}", derivative(x, y))


def what_now() -> None:
    title("Next steps")
    print(
        textwrap.dedent("""
    scripts/demo burgers --quick     a physics-informed net, with second derivatives in its loss
    scripts/demo argon --quick       forces of molecular dynamics, and a net fitted to them
    scripts/demo newton_cg --quick   Newton's method with Hessian-vector products
    scripts/demo pinn_second_order --quick   a physics-informed net with Levenberg–Marquardt
    python -m mindgrad script.py     run a script that was written for MindSpore
    python -m mindgrad check --help  compare a derivative with finite differences
    README.md, docs/                 features and documentation""")
    )


def main() -> None:
    print(f"mindgrad {ms.__version__}, {'eager' if EAGER else 'compiled'}")
    first_order()
    one_output()
    stopping()
    higher_order()
    directions()
    functions()
    what_now()


if __name__ == "__main__":
    main()
