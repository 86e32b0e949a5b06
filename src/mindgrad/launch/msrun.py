"""The command ``msrun``: run a program in several processes, as in MindSpore."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from mindgrad.backend.processes import HEARTBEAT_SECONDS
from mindgrad.launch.command import checked_key, divided
from mindgrad.launch.plan import Plan
from mindgrad.launch.supervisor import supervised

__all__ = ["main"]

_EXAMPLE = """examples:
  msrun --worker_num 4 --local_worker_num 4 --join=True --log_dir logs train.py --epochs 3
  msrun --worker_num 8 --local_worker_num 4 --master_addr 10.0.0.1 --node_rank 0 --join=True train.py
  python -m mindgrad msrun --worker_num 2 --local_worker_num 2 --join=True train.py

Each process writes to worker_R.log in the log folder. With --join=True the command waits for the processes,
otherwise it returns and they run in the background. On several nodes, set MINDGRAD_STORE_KEY to the same
secret on each. `mindgrad launch` has more options.

Exit status: 0 if all processes succeeded (without --join: were started), the status of the first failure, or
2 (usage error)."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments (list or tuple of str, optional): the command line after ``msrun``. ``None``: the command
            line of this process. Default: ``None``.

    Returns:
        The exit status: 0, or the status of the first process that failed.

    Raises:
        SystemExit: If the command line is wrong (status 2) or contains ``--help`` (status 0).
    """
    parser = _parser("msrun" if arguments is None else "mindgrad msrun")
    own, program = divided(parser, sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_args(own)
    if not program:
        parser.error("no program given")
    workers, total = options.local_worker_num, options.worker_num
    if workers < 1 or total < workers or total % workers:
        parser.error(f"--worker_num {total} must be a multiple of --local_worker_num {workers}")
    machines = total // workers
    machine = max(options.node_rank, 0)
    if machines > 1 and not 0 <= options.node_rank < machines:
        parser.error(
            f"--node_rank must be from 0 to {machines - 1}: each node has {workers} of {total} processes"
        )
    asks_for_port = machines > 1 or any(name.startswith("--master_port") for name in own)
    plan = Plan(
        program=tuple(program),
        workers=workers,
        machines=machines,
        machine=machine,
        coordinator=f"{options.master_addr}:{options.master_port}" if asks_for_port else "",
        bind="",
        secret=checked_key(parser, machines > 1),
        restarts=0,
        heartbeat=HEARTBEAT_SECONDS,
        timeout=options.cluster_time_out,
        log_dir=options.log_dir,
        is_shown=options.join,
        name="msrun",
    )
    return supervised(plan) if options.join else _in_background(plan)


def _in_background(plan: Plan) -> int:
    """Run the launcher in a background process that logs to ``msrun.log``."""
    os.makedirs(plan.log_dir, exist_ok=True)
    file = os.path.join(plan.log_dir, "msrun.log")
    sys.stdout.flush()
    process = os.fork()
    if process:
        print(f"msrun: process {process} runs {plan.workers} processes, and writes to {plan.log_dir}")
        return 0
    os.setsid()
    log = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    for number, descriptor in enumerate((os.open(os.devnull, os.O_RDONLY), log, log)):
        os.dup2(descriptor, number)
    status = 1
    try:
        status = supervised(plan)
    finally:
        sys.stderr.flush()
        os._exit(status)


def _parser(name: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        name,
        usage=f"{name} --worker_num N --local_worker_num N [options] script.py [args ...]",
        description="Launch a program in several processes, with the options of MindSpore's msrun.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--worker_num", type=int, default=8, metavar="N", help="processes in all; default: 8")
    add("--local_worker_num", type=int, default=8, metavar="N", help="processes on this node; default: 8")
    add("--master_addr", default="127.0.0.1", metavar="HOST", help="the first node; default: 127.0.0.1")
    add(
        "--master_port",
        type=int,
        default=8118,
        metavar="PORT",
        help="port of the first node (the next port is also used); default: 8118",
    )
    add("--node_rank", type=int, default=-1, metavar="R", help="the number of this node")
    add("--log_dir", default="output", metavar="FOLDER", help="folder of worker_R.log; default: output")
    add(
        "--join",
        type=_truth,
        nargs="?",
        const=True,
        default=False,
        metavar="True",
        help="wait, and show the output",
    )
    add(
        "--bind_core",
        type=_truth,
        nargs="?",
        const=True,
        metavar="True",
        help="accepted for compatibility; each process already gets an equal number of threads",
    )
    add(
        "--cluster_time_out",
        type=int,
        default=600,
        metavar="S",
        help="seconds that processes wait for each other at the start; default: 600",
    )
    return parser


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise argparse.ArgumentTypeError("must be True or False")
    return text.lower() == "true"
