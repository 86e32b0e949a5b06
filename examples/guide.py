"""A tour of the derivatives that mindgrad computes: each is printed with what it means.

    python examples/guide.py            compiled: every derivative becomes one XLA program
    python examples/guide.py --eager    operator by operator on NumPy, with the same numbers

It follows MindSpore's guide to gradients: first order, scaling, stop_gradient, second order, Jvp and
Vjp, and the functions grad, jvp and vjp. The nets are ones whose derivatives you can check by head.
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
    """`name = value`, with the further lines of a matrix below its first."""
    head = f"    {name} = "
    print(head + str(value).replace("\n", "\n" + " " * len(head)))


# Two customers buy some of three goods, and two shops ask different prices for them.
amounts = Tensor([[2, 1, 0], [1, 0, 4]], ms.float32)  # customer x good
prices = Tensor([[3, 2], [1, 2], [0.5, 0.25]], ms.float32)  # good x shop


class Bills(nn.Cell):
    """What each customer would pay in each shop, tax included."""

    def __init__(self):
        super().__init__()
        self.matmul = ops.MatMul()
        self.tax = Parameter(Tensor([1.25], ms.float32), name="tax")

    def construct(self, amounts, prices):
        return self.tax * self.matmul(amounts, prices)


def first_order() -> None:
    title("First order: what a little more of something changes")
    bills = Bills()
    say("A net has a matrix of four outputs, the bills:")
    show("bills", bills(amounts, prices))

    say("""GradOperation() adds the outputs up and asks what the sum gains from each element of the
        first input. One more of a good costs its prices in both shops, times the tax:""")
    show("d sum / d amounts", ops.GradOperation()(bills)(amounts, prices))

    say("get_all=True asks it for every input. A price counts as often as its good is bought:")
    _, by_price = ops.GradOperation(get_all=True)(bills)(amounts, prices)
    show("d sum / d prices", by_price)

    say("get_by_list=True asks it for weights instead: the sum before tax.")
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
    say("""sens_param=True multiplies the outputs by one more argument before they are added. A one
        among zeros picks a single output: the first customer in the second shop, on whom the
        other customer's amounts have no influence.""")
    pick = Tensor([[0, 1], [0, 0]], ms.float32)
    scaled = ops.GradOperation(sens_param=True)
    show("d bills[0][1] / d amounts", scaled(Bills())(amounts, prices, pick))

    say("Or the net itself returns what is wanted, here the bills of the second customer:")
    show("d sum / d amounts", ops.GradOperation()(Customer())(amounts, prices))


class Discounted(nn.Cell):
    """A bill less a discount that depends on the bill; `agreed` keeps the discount as it is."""

    def __init__(self, agreed: bool):
        super().__init__()
        self.agreed = agreed

    def construct(self, bill):
        discount = 0.25 * bill
        if self.agreed:
            discount = stop_gradient(discount)
        return bill - discount


def stopping() -> None:
    title("stop_gradient: a value that counts as given")
    bill = Tensor([8], ms.float32)
    say("Of one more franc on the bill the customer pays 0.75, for the discount grows as well ...")
    show("d paid / d bill", ops.GradOperation()(Discounted(agreed=False))(bill))
    say("... but all of it, if the discount has been agreed on. The sum to pay is 6 both times.")
    show("d paid / d bill", ops.GradOperation()(Discounted(agreed=True))(bill))


class Swing(nn.Cell):
    """Where a pendulum is at time t."""

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
    """The volume of a cone of radius r and height h, but for pi/3."""

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
    say("""Derived once, the position of a pendulum gives its velocity; derived twice, its
        acceleration, which is the position with the opposite sign:""")
    show("position", position(t))
    show("velocity", velocity(t))
    show("acceleration", acceleration(t))

    say("""With several inputs there are several first derivatives, and a tuple of scales picks the
        one to derive again: (1, 0) the one for the radius, (0, 1) the one for the height.""")
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
    say("""Two hikers stand on a landscape. nn.Jvp gives how high they are, and how fast each climbs
        who walks one east, the second also two north. One sweep, whatever the number of outputs:""")
    height, climb = nn.Jvp(Hills())(x, y, (east, north))
    show("height", height)
    show("climb", climb)

    say("""nn.Vjp goes the other way: the outputs are weighted, here both with one, and every input
        learns its share. One sweep, whatever the number of inputs:""")
    height, (to_east, to_north) = nn.Vjp(Hills())(x, y, Tensor([1, 1], ms.float32))
    show("d height / dx = 2x - y", to_east)
    show("d height / dy =     -x", to_north)


def power(x, y):
    return x**3 + y


def functions() -> None:
    title("The same with functions")
    x, y = Tensor([1, 2], ms.float32), Tensor([4, 8], ms.float32)
    v = Tensor([1, 0.5], ms.float32)
    say("grad takes the positions of the inputs: one, or a tuple of them. Of x**3 + y:")
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

    say("""They nest in any mixture. jvp of grad is the Hessian times a vector, and the Hessian is
        never built:""")
    _, product = jvp(grad(power), (x, y), (v, v))
    show("6x v", product)

    say("And to any order: the derivatives of x**3 from the first to the fourth.")
    derivative = power
    for order in (1, 2, 3, 4):
        derivative = grad(derivative)
        show(f"order {order}", derivative(x, y))


def what_now() -> None:
    title("What now")
    print(
        textwrap.dedent("""
    scripts/demo burgers --quick     second derivatives of a net in its loss: a physics-informed net
    scripts/demo argon --quick       forces of a molecular dynamics, and a net that learns them
    scripts/demo newton_cg --quick   Newton's method from Hessian-vector products
    python -m mindgrad script.py     runs a script that was written for MindSpore
    python -m mindgrad check --help  compares a derivative of yours with differences
    README.md, docs/                 what there is, and how it works""")
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
