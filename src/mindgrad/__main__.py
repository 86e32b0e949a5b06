"""``python -m mindgrad``: see :mod:`mindgrad.cli`."""

import sys

from .cli import main

sys.exit(main())
