"""A record of MindSpore's public names, written by the MindSpore whose interpreter runs it.

`PYTHON_WITH_MINDSPORE docs/coverage/record.py` writes names.json beside this file: for each module its
sorted public names.
"""

import importlib
import json
from pathlib import Path

import mindspore

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


def main() -> None:
    """Write names.json."""
    names = {"mindspore": sorted(set(mindspore.__all__))}
    for path in MODULES:
        module = importlib.import_module(f"mindspore.{path}")
        public = getattr(module, "__all__", dir(module))
        names[f"mindspore.{path}"] = sorted({name for name in public if not name.startswith("_")})
    names["mindspore.Tensor"] = sorted(name for name in dir(mindspore.Tensor) if not name.startswith("_"))
    record = {"version": mindspore.__version__, "names": names}
    Path(__file__).with_name("names.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
