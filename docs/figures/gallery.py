"""Draws the figures of docs/gallery.md: runs the examples (some six minutes) and makes their pictures small.

python docs/figures/gallery.py               all
python docs/figures/gallery.py burgers       one
"""

import os
import subprocess
import sys
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"
WIDTH, COLOURS = 1400, 128


def draw(name: str) -> None:
    """The figure of an example, as a PNG with a palette."""
    path = HERE / "gallery" / f"{name}.png"
    one_thread = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # threads of other processes do not disturb it
    subprocess.run([sys.executable, EXAMPLES / f"{name}.py", "--figure", path], check=True, env=one_thread)
    picture = Image.open(path).convert("RGB")
    picture = picture.resize((WIDTH, round(picture.height * WIDTH / picture.width)), Image.Resampling.LANCZOS)
    picture.quantize(COLOURS).save(path, optimize=True)


if __name__ == "__main__":
    for name in sys.argv[1:] or ("burgers", "argon", "newton_cg", "pinn_second_order"):
        draw(name)
