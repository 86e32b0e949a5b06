"""``python -m mindgrad`` runs :mod:`mindgrad.cli`; a worker of a job ties its life to its launcher before."""

import sys

from .cli import main
from .launch.begin import tie

tie()
sys.exit(main())
