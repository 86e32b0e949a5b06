"""Computes with PyTorch what the layers have to give, and writes it to pytorch.npz beside this file.

The file holds ``numbers``, all arrays one behind the other; ``index``, for each case the number of outputs and
the shapes of outputs, first and second derivatives; and ``made_by``, the version of PyTorch.

From the repository's root, with a Python that has PyTorch (and needs nothing of this project):

    python -m tests.unit.references.make_references
"""

import json
import warnings
from pathlib import Path

import numpy as np
import torch

from tests.unit.references import optimizers, table
from tests.unit.references.case import REFERENCES, direction, mask


def _gradients(scalar, leaves, **more):
    """Derivatives of a number; 0 in what it does not depend on."""
    if not leaves:
        return []
    if not scalar.requires_grad:
        return [torch.zeros_like(x) for x in leaves]
    return torch.autograd.grad(scalar, leaves, materialize_grads=True, **more)


def computed(case):
    """The outputs, the gradients of the objective, and those of their product with directions."""
    inputs = [torch.tensor(x) for x in case.inputs]
    weights = {name: torch.tensor(w) for name, w in case.weight_values().items()}
    leaves = [inputs[i] for i in case.places] + list(weights.values())
    for x in leaves:
        x.requires_grad_()
    # the other kernels of attention cannot be differentiated twice
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        found = case.theirs(torch.nn.functional, torch, *inputs, *([weights] if weights else []))
    outputs = list(found) if isinstance(found, (tuple, list)) else [found]
    objective = sum(
        (torch.tensor(mask(tuple(y.shape))) * (y + y * y / 2)).sum() for y in outputs if y.is_floating_point()
    )
    first = _gradients(objective, leaves, create_graph=True)
    slope = sum((torch.tensor(direction(tuple(g.shape), i)) * g).sum() for i, g in enumerate(first))
    second = _gradients(slope, leaves) if leaves else []
    return [y.detach().numpy() for y in [*outputs, *first, *second]], len(outputs)


def main():
    warnings.simplefilter("ignore")
    index, numbers = {}, []
    for case in table.CASES:
        try:
            arrays, outputs = computed(case)
        except Exception as error:
            raise RuntimeError(f"For the case {case.name}: {error}") from error
        index[case.name] = [outputs, [list(x.shape) for x in arrays]]
        numbers += [np.asarray(x, np.float64).ravel() for x in arrays]
    for case in optimizers.CASES:
        arrays = optimizers.steps_of_theirs(torch, case)
        index[case.name] = [len(arrays), [list(x.shape) for x in arrays]]
        numbers += [x.ravel() for x in arrays]
    where = Path(__file__).parent / REFERENCES
    made_by = f"PyTorch {torch.__version__}"
    np.savez_compressed(where, numbers=np.concatenate(numbers), index=json.dumps(index), made_by=made_by)
    print(f"{where.name}: {len(index)} cases, {where.stat().st_size // 1000} kB, {made_by}")


if __name__ == "__main__":
    main()
