"""Mistakes of people who come from MindSpore, PyTorch and JAX, each as a small program.

The expression at which the error is to end is marked ``«x @ w»``. A mistake says what it is, the program,
and what its message has to say: what is wrong, and what to write instead (a regular expression each).
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["MISTAKES", "WARNINGS", "Mistake"]


class Mistake(NamedTuple):
    """A program with a mark, and parts of its message."""

    title: str
    program: str
    says: tuple[str, ...]


def _read(text: str) -> list[Mistake]:
    """The mistakes of a text: a title behind ``##``, what the message says behind ``#:``, the program."""
    mistakes = []
    for part in text.split("\n## ")[1:]:
        title, _, rest = part.partition("\n")
        lines = rest.strip("\n").splitlines()
        says = tuple(line[3:] for line in lines if line.startswith("#: "))
        program = "\n".join(line for line in lines if not line.startswith("#: ")) + "\n"
        mistakes.append(Mistake(title, program, says))
    return mistakes


#: what the programs share
PRELUDE = """import random, time
import numpy as np
import mindgrad as ms
from mindgrad import Parameter, Tensor, mint, nn, ops

x = Tensor(np.ones((2, 3), np.float32))
y = Tensor(np.ones((4, 5), np.float32))
v = Tensor([1.0, 2.0, 3.0])

class Inner(nn.Cell):
    def __init__(self, size=3):
        super().__init__()
        self.dense = nn.Dense(size, 2)

    def construct(self, x):
        return self.dense(x)

class Net(nn.Cell):
    def __init__(self, *sizes):
        super().__init__()
        self.blocks = nn.SequentialCell(*[Inner(size) for size in sizes or (3,)])

    def construct(self, x):
        return self.blocks(x)
"""

MISTAKES = _read(
    """
## operators: matrices that do not fit
#: 'matmul'.*\\(2, 3\\) and \\(4, 5\\)
#: has size 3, but the second-to-last axis of the second has size 4
z = «x @ y»

## operators: shapes that do not broadcast
#: 'Add', the shapes \\(2, 3\\) and \\(4, 5\\) do not broadcast
#: must be equal, or one of them must be 1
z = «x + y»

## operators: by function, in a function of the user's
#: \\(2, 3\\) and \\(4, 5\\)
#: shapes .* do not match
def layer(a, b):
    return «ops.matmul(a, b)»

layer(x, y)

## operators: reshape
#: \\(4,\\) does not hold the 6 elements
z = «x.reshape(4)»

## operators: an axis that is not there
#: 'axis' must be in range \\[-2, 2\\), but got 2
z = «ops.softmax(x, axis=2)»

## operators: concatenation
#: must have the same shape, except along axis 0
#: \\(2, 3\\), \\(4, 5\\)
z = «ops.concat((x, y))»

## operators: an index that is not there
#: the index 5 is out of bounds for axis 0 with size 2
z = «x[5]»

## operators: too many indices
#: 3|three|too many
z = «x[0, 0, 0]»

## operators: a text
#: must be a Tensor or a number, but got 'a' of type str
z = «x + "a"»

## operators: without an input
#: For 'Sin', the input is missing
z = «ops.sin()»

## operators: a list of tensors
#: is a list that holds tensors
#: ops.stack
z = «ops.tanh([v, v])»

## operators: permutation
#: 'Transpose'|permute
z = «x.transpose(0, 1, 2)»

## operators: wrong number of sections
#: split|Split
z = «ops.split(v, [1, 1])»

## operators: where of three shapes
#: do not broadcast
z = «ops.where(x > 0, x, y)»

## operators: einsum
#: einsum|Einsum
z = «ops.einsum("ij,jk->ik", x, y)»

## operators: assignment that does not fit
#: \\(4, 5\\)
«x[0]» = y

## operators: a float as an index
#: index
z = «x[1.5]»

## operators: Boolean value of several elements
#: Boolean value is ambiguous
#: all\\(\\) or any\\(\\)
if «x > 0»:
    pass

## Cells: two deep
#: last axis of the input must have size in_channels = 4
#: in the Cell net.blocks.0.dense \\(Dense\\)
net = Net(4)
net(x)
#@ return «self.dense(x)»

## Cells: the path with several blocks
#: in the Cell net.blocks.2.dense
net = Net(3, 2, 7)
net(x)
#@ return «self.dense(x)»

## Cells: under a gradient
#: in the Cell net.blocks.0.dense
net = Net(4)
ms.grad(net)(x)
#@ return «self.dense(x)»

## Cells: in a training step
#: in the Cell net.blocks.0.dense
net = Net(4)
step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Adam(net.trainable_params(), 1e-3))
step(x, x)
#@ return «self.dense(x)»

## Cells: in Model.train
#: in the Cell net.blocks.0.dense
net = Net(4)
data = ms.dataset.NumpySlicesDataset({"x": np.ones((2, 3), np.float32), "y": np.ones((2, 2), np.float32)}).batch(1)
ms.Model(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 1e-3)).train(1, data)
#@ return «self.dense(x)»

## Cells: a layer in a script
#: last axis of the input must have size in_channels = 5
net = nn.Dense(5, 2)
z = «net(x)»

## Cells: forward
#: rename its 'forward' to 'construct'
class Model(nn.Cell):
    def forward(self, x):
        return x

«Model()(x)»

## Cells: a misspelled construct
#: 'construct' of Model is not defined
#: nearest: 'constuct'
class Model(nn.Cell):
    def constuct(self, x):
        return x
«Model()(x)»

## Cells: no super().__init__()
#: call super\\(\\).__init__\\(\\) in .__init__. before
class Model(nn.Cell):
    def __init__(self):
        «self.dense» = nn.Dense(3, 2)

Model()

## Cells: an attribute that is not there
#: 'Model' object has no attribute 'dens'
class Model(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 2)

    def construct(self, x):
        return «self.dens»(x)

Model()(x)

## Cells: too few arguments
#: missing 1 required positional argument: 'mask'
class Model(nn.Cell):
    def construct(self, x, mask):
        return x * mask

«Model()(x)»

## Cells: out_channels is a text
#: 'out_channels' must be an int, but got str
net = «nn.Dense(3, "a")»

## Cells: an activation that is not there
#: but got 'tanhh'
#: tanh, tanhshrink
net = «nn.Dense(3, 2, activation="tanhh")»

## Cells: PyTorch's names of arguments
#: unexpected keyword argument 'in_features'
#: in_channels=
net = «nn.Dense(in_features=3, out_features=2)»

## Cells: a misspelled argument
#: unexpected keyword argument 'kernel'
#: kernel_size
net = «nn.Conv2d(3, 4, kernel=3)»

## Cells: an int lost as a Parameter
#: 'w' is a Parameter and would be lost
#: Assign a Tensor to change its value
net = nn.Cell()
net.w = Parameter(v)
«net.w» = 3

## gradients: argnums
#: unexpected keyword argument 'argnums'
#: grad_position=
g = «ms.grad(lambda a, b: a * b, argnums=1)»

## gradients: argnums of a Hessian
#: unexpected keyword argument 'argnums'
#: grad_position=
g = «ms.hessian(lambda a: (a * a).sum(), argnums=0)»

## gradients: the input instead of a position
#: 'grad' returns a function that takes the inputs, grad\\(fn\\)\\(x\\)
g = «ms.grad(lambda a: a * a, v)»

## gradients: weights in the second place
#: weights are the third argument
net = nn.Dense(3, 2)
g = «ms.value_and_grad(net, net.trainable_params())»

## gradients: a position that is not there
#: 2
g = ms.grad(lambda a, b: a * b, 2)
«g(v, v)»

## gradients: a negative position
#: must be >= 0, but got -1
g = «ms.grad(lambda a: a * a, -1)»

## gradients: weights that are none
#: weights
g = «ms.grad(lambda a: a * a, None, 3.0)»

## gradients: a Cell in the place of its weights
#: should be ParameterTuple type
#: net.trainable_params\\(\\)
net = nn.Dense(3, 2)
g = «ms.grad(net, None, net)»

## gradients: an iterator of weights
#: list\\(weights\\)
net = nn.Dense(3, 2)
g = «ms.grad(net, None, net.get_parameters())»

## gradients: weights by name
#: list\\(weights.values\\(\\)\\)
net = nn.Dense(3, 2)
g = «ms.grad(net, None, net.parameters_dict())»

## gradients: a keyword that the function does not take
#: 'square' .* has no positional argument 'b'; its positional arguments are 'a'
def square(a):
    return a * a

g = ms.grad(square)
«g(b=v)»

## gradients: too many inputs of a compiled Cell
#: The function is 'Dense'
g = ms.grad(ms.jit(nn.Dense(3, 2)))
«g(x, v)»

## gradients: inputs in the place of an option of explain
#: 'compiled' should be bool, but got Tensor
#: explain\\(fn\\)\\(x\\)
g = «ms.explain(lambda a: a * a, v)»

## gradients: the sens that is missing
#: sens
g = ops.GradOperation(sens_param=True)(lambda a: a * a)
«g(v)»

## gradients: a sens of another shape
#: \\(2, 3\\)
g = ops.GradOperation(sens_param=True)(lambda a: a * a)
«g(v, x)»

## gradients: v of jvp of another shape
#: \\(2, 3\\)
z = «ms.jvp(lambda a: a * a, v, x)»

## gradients: v of vjp of another shape
#: \\(2, 3\\)
out, pull = ms.vjp(lambda a: a * a, v)
«pull(x)»

## gradients: of a class
#: got the class 'Net'
#: Net\\(...\\)
g = «ms.grad(Net)»

## gradients: of a value
#: should be callable|must be a 'Function'
g = «ms.grad(v.sum())»

## gradients: too few inputs
#: missing 1 required positional argument|takes|argument
g = ms.grad(lambda a, b: a * b)
«g(v)»

## gradients: sizes of vmap
#: vmap
#: 2.*3|3.*2
z = «ms.vmap(lambda a, b: a * b)(x, v)»

## gradients: PyTorch's vmap
#: unexpected keyword argument 'in_dims'
#: in_axes=
z = «ms.vmap(lambda a: a, in_dims=1)»

## gradients: NumPy inside
#: derivative
#: mindgrad.ops|stop_gradient
def energy(a):
    return «np.sin(a)».sum()

ms.grad(energy)(v)

## PyTorch: nn.Module
#: no attribute 'Module'
#: nn.Cell, with a method 'construct'
class Model(«nn.Module»):
    pass

## PyTorch: nn.Sequential
#: nn.SequentialCell
net = «nn.Sequential»(nn.Dense(3, 2))

## PyTorch: nn.ModuleList
#: nn.CellList
cells = «nn.ModuleList»([])

## PyTorch: backward
#: no attribute 'backward'
#: ms.grad\\(fn\\)\\(x\\)
loss = (v * v).sum()
«loss.backward»()

## PyTorch: requires_grad_
#: ms.grad\\(fn, grad_position\\)
«v.requires_grad_»()

## PyTorch: requires_grad
#: ms.grad\\(fn, grad_position\\)
«v.requires_grad» = True

## PyTorch: a tensor with requires_grad
#: unexpected keyword argument 'requires_grad'
#: ms.grad\\(fn, grad_position\\)
z = «ms.tensor([1.0], requires_grad=True)»

## PyTorch: x.grad
#: ms.grad\\(fn\\)\\(x\\)
print(«v.grad»)

## PyTorch: detach
#: ops.stop_gradient\\(x\\)
def loss(a):
    return (a * «a.detach»()).sum()

ms.grad(loss)(v)

## PyTorch: no_grad
#: stop_gradient
with «ms.no_grad»():
    z = v * v

## PyTorch: lr
#: unexpected keyword argument 'lr'
#: learning_rate=
opt = «nn.Adam(nn.Dense(3, 2).trainable_params(), lr=1e-3)»

## PyTorch: optimizer.step
#: no attribute 'step'
#: optimizer\\(gradients\\)
opt = nn.Adam(nn.Dense(3, 2).trainable_params(), 1e-3)
«opt.step»()

## PyTorch: zero_grad
#: leave it out
opt = nn.Adam(nn.Dense(3, 2).trainable_params(), 1e-3)
«opt.zero_grad»()

## PyTorch: parameters
#: net.trainable_params\\(\\)
opt = nn.Adam(«Net().parameters»(), 1e-3)

## PyTorch: eval
#: net.set_train\\(False\\)
«Net().eval»()

## PyTorch: optim
#: the optimizers are in nn
«ms.optim».Adam

## PyTorch: functional
#: mint.nn.functional
z = «nn.functional».relu(x)

## PyTorch: dim in a Cell
#: unexpected keyword argument 'dim'
#: In mindgrad: axis=
class Model(nn.Cell):
    def construct(self, x):
        return «ops.softmax(x, dim=1)»

Model()(x)

## JAX: custom_vjp
#: @ops.custom_vjp
f = «ms.custom_vjp»(lambda a: a)

## JAX: defvjp
#: no attribute 'defvjp'
#: fn.defbwd\\(bwd\\)
f = ops.functional.custom_vjp(lambda a: a * a)
«f.defvjp»(None, None)

## JAX: lax
#: plain Python loop
z = «ms.lax».scan(lambda c, a: (c, a), v, v)

## JAX: fori_loop
#: plain Python loop
z = «ops.fori_loop»(0, 3, lambda i, a: a, v)

## JAX: at
#: x\\[0\\] = value
z = «v.at»[0].set(1.0)

## JAX: at, compiled
#: x\\[0\\] = value
@ms.jit
def f(a):
    return «a.at»[0].set(1.0)

f(v)

## JAX: random keys
#: ms.set_seed
key = «ms.random».key(0)

## JAX: tree_util
#: ms.tree_map
z = «ms.tree_util».tree_map(lambda a: a, [v])

## JAX: make_jaxpr
#: ms.explain
print(«ms.make_jaxpr»(lambda a: a)(v))

## JAX: checkpoint
#: ms.recompute
f = «ms.checkpoint»(lambda a: a)

## JAX: static_argnums
#: unknown option 'static_argnum'
#: int, str, tuple
f = «ms.jit(lambda a: a, static_argnum=1)»

## options: set_context
#: unknown option 'modee'
#: 'mode'
«ms.set_context(modee=0)»

## options: an option of jit
#: unknown option 'jit_levl'
#: 'jit_level'
f = «ms.jit(jit_levl="O1")»

## names: a misspelled operator
#: no attribute 'SoftMax'
#: 'Softmax'
f = «ops.SoftMax»()

## names: of another module
#: write mindgrad.ops.matmul
z = «ms.matmul»(x, x)

## names: of another module, beside other names that are near
#: write mindgrad.odeint$
z = «ops.odeint»(lambda y, t: y, v, v)

## names: from an import
#: cannot import name 'Linearr'
«from mindgrad.nn import Linearr»

## compiled: a tensor in Python's arithmetic
#: float|math
#: ops
import math

@ms.jit
def f(a):
    return «math.sin(a.sum())»

f(x)

## compiled: an operator in a branch
#: do not broadcast
@ms.jit
def f(a, b):
    if a.sum() > 0:
        a = «a + b»
    return a

f(x, y)

## compiled: a function in a function
#: shapes .* do not match
def inner(a, b):
    return «a @ b»

@ms.jit
def outer(a, b):
    return inner(a, b) * 2

outer(x, y)

## compiled: its value is asked for
#: not known
#: Instead
@ms.jit
def f(a):
    return «a.asnumpy()»

f(x)

## data: a Parameter of a text
#: one of Tensor, ndarray.* got .text. of type str
p = «Parameter("text")»

## data: a tensor of objects
#: 'input_data' should be one of Tensor, ndarray
z = «Tensor(object())»

## training: no Parameters
#: must be a list of Parameters, but got int
opt = «nn.Adam(3)»

## training: labels of another size
#: 'MSELoss'|broadcast
loss = nn.MSELoss()
z = «loss(x, y)»

## training: columns that do not fit
#: \\(data, label\\)
net = Net()
data = ms.dataset.NumpySlicesDataset([np.ones((2, 3), np.float32)], ["x"]).batch(1)
model = ms.Model(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 1e-3))
«model.train(1, data)»

## training: a checkpoint that does not fit
#: \\(2, 4\\)|shape
net = Net()
«ms.load_param_into_net(net, Net(4).parameters_dict())»

## training: a negative learning rate
#: learning_rate
opt = «nn.SGD(Net().trainable_params(), -0.1)»
"""
)

#: what computes, and is almost always a mistake
WARNINGS = _read(
    """
## a loss that compares every pair
#: \\(4, 1\\) and \\(4,\\) are broadcast to \\(4, 4\\)
loss = nn.MSELoss()
loss(Tensor(np.ones((4, 1), np.float32)), Tensor(np.ones(4, np.float32)))  # <

## another such loss
#: \\(4, 1\\) and \\(4,\\) are broadcast to \\(4, 4\\)
loss = nn.L1Loss()
loss(Tensor(np.ones((4, 1), np.float32)), Tensor(np.ones(4, np.float32)))  # <

## Cells in a list
#: nn.CellList
class Model(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Dense(3, 2)]

Model().trainable_params()  # <

## NumPy's random numbers in a compiled function
#: np.random.rand\\(\\) is called while a function is compiled\\. The compiled function stores its value
@ms.jit
def f(a):
    return a * np.random.rand()  # <

f(x)

## Python's random numbers in a compiled function
#: The compiled function stores its value
@ms.jit
def f(a):
    return a * random.random()  # <

f(x)

## the time in a compiled function
#: The compiled function stores its value
@ms.jit
def f(a):
    return a * time.time()  # <

f(x)
"""
)
