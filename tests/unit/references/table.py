"""All cases, and the names of ``mindgrad.nn`` that have none."""

from tests.unit.references import activations, extremes, layers, losses, sequences

USUAL = [*activations.CASES, *layers.CASES, *sequences.CASES, *losses.CASES]
CASES = [*USUAL, *extremes.CASES]

EXCEPTIONS = {
    "CTCLoss": "PyTorch has no second derivative of it: all alignments and MindSpore's numbers in tests/unit/core/test_columns.py",
    "CellDict": "holds Cells and computes nothing: tests/unit/frontend/test_containers.py",
    "CellList": "holds Cells and computes nothing: tests/unit/frontend/test_containers.py",
    "CentralCrop": "a slice: tests/unit/core/test_columns.py",
    "FractionalMaxPool2d": "windows at random places: NumPy's windows in tests/unit/ops/test_unpooling.py",
    "FractionalMaxPool3d": "windows at random places: NumPy's windows in tests/unit/ops/test_unpooling.py",
    "ImageGradients": "differences: tests/unit/core/test_columns.py",
    "LossBase": "what losses extend: tests/unit/nn/test_losses.py",
    "MultiFieldEmbeddingLookup": "not in PyTorch: sums over fields in tests/unit/frontend/test_library_modules.py",
    "PSNR": "not in PyTorch: a formula in tests/unit/core/test_columns.py",
    "SSIM": "not in PyTorch: a formula in tests/unit/core/test_columns.py",
    "Unfold": "PyTorch orders the elements otherwise: NumPy's windows in tests/unit/core/test_columns.py",
    "get_activation": "a function that returns one of the layers here: tests/unit/nn/test_layers.py",
}
