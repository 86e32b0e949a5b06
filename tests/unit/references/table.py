"""All cases, and the names of ``mindgrad.nn`` that have none."""

from tests.unit.references import activations, extremes, layers, losses, sequences

USUAL = [*activations.CASES, *layers.CASES, *sequences.CASES, *losses.CASES]
CASES = [*USUAL, *extremes.CASES]

EXCEPTIONS = {
    "CellDict": "holds Cells and computes nothing: tests/unit/test_containers.py",
    "CellList": "holds Cells and computes nothing: tests/unit/test_containers.py",
    "LossBase": "what losses extend: tests/unit/test_losses.py",
    "get_activation": "a function that returns one of the layers here: tests/unit/test_layers.py",
}
