"""``python -m mindgrad`` runs :mod:`mindgrad.cli`."""

import sys

from .cli import main

sys.exit(main())
