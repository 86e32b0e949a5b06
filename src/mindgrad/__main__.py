"""``python -m mindgrad``: run :mod:`mindgrad.cli`.

If this process is a worker of a job, it first asks the kernel to end it when its launcher ends.
"""

import sys

from .cli import main
from .launch.begin import tie

tie()
sys.exit(main())
