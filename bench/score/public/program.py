"""One public program in a process of its own: program.py KIND NAME MODE CHECKOUTS ANSWER, in an empty folder.

The answer, a file of JSON, holds what the program gave, or the error in which it ended.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
import numpy as np
import stand_ins

#: names that NumPy had when most programs were written
OUTDATED = {"float": float, "int": int, "bool": bool, "complex": complex, "object": object}

FRAMES = 3


def main() -> None:
    kind, name, mode, checkouts, answer = sys.argv[1:]
    warnings.simplefilter("ignore")
    if kind != "documents":
        stand_ins.install()
        vars(np).update({name: type_ for name, type_ in OUTDATED.items() if name not in vars(np)})
    started = time.perf_counter()
    result: dict[str, Any]
    try:
        mindspore = importlib.import_module("mindspore")
        mindspore.set_context(mode=int(mode))
        result = importlib.import_module(kind).run(Path(checkouts), name, int(mode))
    except (Exception, SystemExit) as error:
        frames = traceback.extract_tb(error.__traceback__)[-FRAMES:]
        where = [f"{frame.filename}:{frame.lineno} {frame.line}" for frame in frames]
        result = {"error": f"{type(error).__name__}: {str(error)[:600]}", "where": where}
    result["seconds"] = round(time.perf_counter() - started, 1)
    Path(answer).write_text(json.dumps(result))
    sys.stdout.flush()
    os._exit(0)  # without waiting for threads that compile


if __name__ == "__main__":
    main()
