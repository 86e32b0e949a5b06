"""The command ``mindgrad launch``: run a program in several processes."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
from collections.abc import Sequence

from mindgrad.communication.channel import address_of
from mindgrad.distributed.processes import HEARTBEAT_SECONDS, START_SECONDS
from mindgrad.launch.plan import Plan
from mindgrad.launch.supervisor import supervised

__all__ = ["KEY", "checked_key", "divided", "main"]

KEY = "MINDGRAD_STORE_KEY"

_EXAMPLE = """examples:
  mindgrad launch --workers 4 train.py --epochs 3
      four processes on this machine
  mindgrad launch --workers 4 --restarts 3 train.py
      restart all four, up to three times, if one fails
  export MINDGRAD_STORE_KEY=...  # the same on both machines
  mindgrad launch --workers 4 --machines 2 --rank 0 --coordinator 10.0.0.1:8118 train.py
  mindgrad launch --workers 4 --machines 2 --rank 1 --coordinator 10.0.0.1:8118 train.py
      eight processes on two machines: run one line on each. The first machine has the address 10.0.0.1
      and listens on ports 8118 and 8119

If a process fails or is stopped, the others are terminated, and the last line names the failed process and
the reason. See docs/scale.md for clusters, security and failure detection.

Exit status: 0 if all processes succeeded, the status of the first failure (128 plus the number of a signal),
or 2 (usage error)."""


def main(arguments: Sequence[str]) -> int:
    """Run the command.

    Args:
        arguments (list or tuple of str): arguments of the command line after ``launch``.

    Returns:
        The exit status: 0, or the status of the first process that failed.

    Raises:
        SystemExit: If the command line is wrong (status 2) or contains ``--help`` (status 0).
    """
    parser = _parser()
    own, program = divided(parser, arguments)
    options = parser.parse_args(own)
    if not program:
        parser.error("no program given")
    for name in ("workers", "machines", "heartbeat", "start_timeout"):
        if getattr(options, name) < 1:
            parser.error(f"--{name.replace('_', '-')} must be at least 1")
    if options.restarts < 0:
        parser.error("--restarts must be at least 0")
    if not 0 <= options.rank < options.machines:
        parser.error(f"--rank is the number of this machine, from 0 to {options.machines - 1}")
    if options.machines > 1 and not options.coordinator:
        parser.error("--machines needs --coordinator host:port, of the first machine")
    if options.coordinator:
        try:
            if not 0 < address_of(options.coordinator)[1] < 65535:
                raise ValueError(
                    "the port of --coordinator must be from 1 to 65534, because the launcher also uses "
                    "the next port."
                )
        except ValueError as error:
            parser.error(str(error))
    return supervised(
        Plan(
            program=tuple(program),
            workers=options.workers,
            machines=options.machines,
            machine=options.rank,
            coordinator=options.coordinator,
            bind=options.bind,
            secret=checked_key(parser, options.machines > 1),
            restarts=options.restarts,
            heartbeat=options.heartbeat,
            timeout=options.start_timeout,
            log_dir=options.log_dir,
            is_shown=True,
            name="mindgrad launch",
        )
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "mindgrad launch",
        usage="mindgrad launch --workers N [options] {script.py | folder | -m module | -c code} [args ...]",
        description="Launch a program in several processes, which connect with communication.init().",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--workers", type=int, required=True, metavar="N", help="processes on this machine")
    add(
        "--machines",
        type=int,
        default=1,
        metavar="N",
        help="number of machines, each with the same number of processes; default: 1",
    )
    add("--rank", type=int, default=0, metavar="R", help="index of this machine, from 0; default: 0")
    add(
        "--coordinator",
        default="",
        metavar="HOST:PORT",
        help="the first machine; it uses this port and the next. Default: any port of the loopback interface",
    )
    add(
        "--bind",
        default="",
        metavar="HOST",
        help="the address on which the first machine listens; default: HOST",
    )
    add(
        "--restarts",
        type=int,
        default=0,
        metavar="N",
        help="restart all processes if one fails, at most N times; default: 0",
    )
    add("--log-dir", default="", metavar="FOLDER", help="also write the output to FOLDER/worker_R.log")
    add(
        "--heartbeat",
        type=int,
        default=HEARTBEAT_SECONDS,
        metavar="S",
        help="seconds without a sign of life after which a process counts as failed; default: "
        f"{HEARTBEAT_SECONDS}",
    )
    add(
        "--start-timeout",
        type=int,
        default=START_SECONDS,
        metavar="S",
        help=f"seconds that processes wait for each other in communication.init(); default: {START_SECONDS}",
    )
    return parser


def divided(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split a command line into the launcher's options and the program's command line."""
    position, options = 0, parser._option_string_actions
    while position < len(arguments) and arguments[position].startswith("-"):
        name, _, value = arguments[position].partition("=")
        if name in ("-m", "-c") and name not in options:
            break
        action = options.get(name)
        following = arguments[position + 1 : position + 2]
        if action is None or action.nargs == 0 or value:
            position += 1
        elif action.nargs == "?":  # the value is optional: --join or --join True
            position += 2 if following and following[0].lower() in ("true", "false") else 1
        else:
            position += 2
    return list(arguments[:position]), list(arguments[position:])


def checked_key(parser: argparse.ArgumentParser, is_needed: bool) -> str:
    """Return the secret of the job: from the environment, or a new one."""
    key = os.environ.get(KEY, "")
    if is_needed and len(key) < 16:
        parser.error(
            f"on several machines, {KEY} must be the same secret of at least 16 characters on each: make "
            f"one with `{os.path.basename(sys.executable)} -c 'import secrets; print(secrets.token_hex(32))'`"
        )
    return key or secrets.token_hex(32)
