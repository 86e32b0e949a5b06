"""What holds no tests."""

collect_ignore = [
    "mindspore_files",  # a program for MindSpore, and what it wrote
    "references/make_references.py",  # runs with PyTorch
]
