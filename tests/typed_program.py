"""A user's program with types, which scripts/check gives to mypy and tests/unit/ops/test_types_of_tensors.py runs."""

import numpy as np

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(2, 3)
        self.scale = Parameter(Tensor(1.0), name="scale")

    def construct(self, x: Tensor) -> Tensor:
        return self.dense(x).tanh().sum(axis=-1) * self.scale


def energy(r: Tensor) -> Tensor:
    return (4.0 * (r**-12 - r**-6)).sum()


x = Tensor([1.0, 2.0])
y: Tensor = x + 1 - 2.0 * x / x**2 @ x
z: Tensor = -y.sum(dim=0, keepdims=True) + np.ones(1)
shape: tuple[int, ...] = (x[0] < x.T).shape
values, order = x.sort(axis=0, descending=True)
parts: tuple[Tensor, ...] = x.split(1)
number: float = float(x.max())
rows: list[Tensor] = [row.exp().astype(ms.float64) for row in x]
slope: Tensor = ms.grad(energy)(x)
total: Tensor = ops.sin(x) * Net()(x.reshape(1, 2))
loss: Tensor = ops.cross_entropy(ops.stack([x, x]), Tensor([0, 1]), reduction="mean")
joined: Tensor = ops.concat((x, ops.zeros((2,), ms.float32)), axis=0)
summed: Tensor = ops.ReduceSum(keep_dims=True)(x) + ops.Add()(x, x)
wide: Tensor = ops.complex(x, x) + ops.max(x)[0] + ops.abs(x)
x[0] = 3.0
if __name__ == "__main__":
    print(y, z, shape, values, order, parts, number, rows, slope, total, round(x.mean(), 2))
