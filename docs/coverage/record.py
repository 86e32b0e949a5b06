"""A record of MindSpore's public names, written by the MindSpore whose interpreter runs it.

`PYTHON_WITH_MINDSPORE docs/coverage/record.py` writes names.json beside this file: for each module its
sorted public names.
"""

import importlib
import json
from pathlib import Path
from typing import Any

MODULES = [
    "amp",
    "communication",
    "dataset",
    "dataset.text",
    "dataset.transforms",
    "dataset.vision",
    "experimental.optim",
    "mindrecord",
    "mint",
    "mint.linalg",
    "mint.nn",
    "mint.nn.functional",
    "mint.optim",
    "mint.special",
    "nn",
    "numpy",
    "ops",
    "scipy",
    "train",
]


def public(module: Any) -> list[str]:
    """The sorted names that a module says it exports, and has."""
    names = {name for name in getattr(module, "__all__", dir(module)) if name.isidentifier()}
    return sorted(name for name in names if not name.startswith("_") and hasattr(module, name))


def main() -> None:
    """Write names.json."""
    mindspore = importlib.import_module("mindspore")
    names = {"mindspore": public(mindspore)}
    for path in MODULES:
        names[f"mindspore.{path}"] = public(importlib.import_module(f"mindspore.{path}"))
    names["mindspore.Tensor"] = sorted(name for name in dir(mindspore.Tensor) if not name.startswith("_"))
    record = {"version": mindspore.__version__, "names": names}
    Path(__file__).with_name("names.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
