"""Callbacks that save checkpoints during training and remove old ones."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence
from typing import Any

from mindgrad._base.absent import absent
from mindgrad._base.checks import of_type
from mindgrad.communication.management import get_rank
from mindgrad.nn.cell import Cell
from mindgrad.nn.hyperparameters import positive_int
from mindgrad.train.callback.base import Callback, RunContext
from mindgrad.train.serialization import save_checkpoint
from mindgrad.train.sharded_checkpoint import is_set, remove_set
from mindgrad.train.single_writer import agreed

__all__ = ["CheckpointConfig", "ModelCheckpoint"]

_CheckpointManager = absent(
    __name__, "_CheckpointManager", "lists the files of MindSpore's own ModelCheckpoint",
    "ModelCheckpoint itself keeps the latest keep_checkpoint_max files.",
)  # fmt: skip


class CheckpointConfig:
    """Settings of :class:`ModelCheckpoint`: when to write files, how many to keep.

    Args:
        save_checkpoint_steps (int, optional): number of steps between two files. 0 or ``None``: use
            ``save_checkpoint_seconds`` instead. Default: ``1``.
        save_checkpoint_seconds (int, optional): number of seconds between two files, used if
            ``save_checkpoint_steps`` is 0 or ``None``. Default: ``0``.
        keep_checkpoint_max (int, optional): number of latest files to keep; older files are deleted. 0: keep
            all files. Default: ``5``.
        keep_checkpoint_per_n_minutes (int, optional): accepted for compatibility; ``keep_checkpoint_max``
            overrides it. Default: ``0``.
        integrated_save (bool, optional): if ``False`` and programs are divided among devices, write a sharded
            checkpoint: a folder ``<prefix>-<epoch>_<step>``, see :func:`save_checkpoint`. Default: ``True``.
        async_save (bool, optional): accepted for compatibility. Default: ``False``.
        saved_network (Cell, optional): Cell to save. ``None``: the Cell of the training step, which includes
            the state of the optimizer. Default: ``None``.
        append_info (list, optional): additional entries of the file: ``"epoch_num"``, ``"step_num"``, and
            dicts from names to values. Default: ``None``.
        **options (Any): ``crc_check`` and ``map_param_inc``, accepted for compatibility, and
            ``exception_save``, which must be false.

    Raises:
        TypeError: If an argument has an unsupported type or an unknown name.
        ValueError: If an argument is out of range, or both ``save_checkpoint_steps`` and
            ``save_checkpoint_seconds`` are 0 or ``None``.
        NotImplementedError: If ``exception_save`` is true.

    >>> import mindgrad as ms
    >>> ms.train.CheckpointConfig(save_checkpoint_steps=100, keep_checkpoint_max=3).save_checkpoint_steps
    100

    See Also:
        :class:`mindgrad.train.ModelCheckpoint`, :func:`mindgrad.save_checkpoint`
    """

    def __init__(
        self,
        save_checkpoint_steps: int | None = 1,
        save_checkpoint_seconds: int | None = 0,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_per_n_minutes: int | None = 0,
        integrated_save: bool = True,
        async_save: bool = False,
        saved_network: Any = None,
        append_info: Sequence[Any] | None = None,
        **options: Any,
    ) -> None:
        owner = "CheckpointConfig"
        self.save_checkpoint_steps = positive_int(
            owner, "save_checkpoint_steps", save_checkpoint_steps or 0, least=0
        )
        self.save_checkpoint_seconds = positive_int(
            owner, "save_checkpoint_seconds", save_checkpoint_seconds or 0, least=0
        )
        self.keep_checkpoint_max = positive_int(
            owner, "keep_checkpoint_max", keep_checkpoint_max or 0, least=0
        )
        positive_int(owner, "keep_checkpoint_per_n_minutes", keep_checkpoint_per_n_minutes or 0, least=0)
        if not (self.save_checkpoint_steps or self.save_checkpoint_seconds):
            raise ValueError(
                f"For '{owner}', 'save_checkpoint_steps' or 'save_checkpoint_seconds' must be above 0; "
                f"otherwise nothing is saved."
            )
        if saved_network is not None and not isinstance(saved_network, Cell):
            raise TypeError(
                f"For '{owner}', the 'saved_network' must be a Cell, but got {type(saved_network).__name__}."
            )
        for name in options:
            if name not in ("exception_save", "crc_check", "map_param_inc"):
                raise TypeError(f"For '{owner}', unknown option {name!r}.")
        if options.get("exception_save"):
            raise NotImplementedError(
                f"For '{owner}', 'exception_save' is not supported: save in an 'except' block."
            )
        self.integrated_save = bool(integrated_save)
        self.saved_network = saved_network
        self.append_info = list(append_info or [])
        for entry in self.append_info:
            if entry not in ("epoch_num", "step_num") and not isinstance(entry, dict):
                raise TypeError(
                    f"For '{owner}', the 'append_info' must contain only 'epoch_num', 'step_num' and "
                    f"dicts, but got {entry!r}."
                )

    def get_checkpoint_policy(self) -> dict[str, int]:
        """Return a dict with the numbers of steps, seconds, and files to keep."""
        return {
            "save_checkpoint_steps": self.save_checkpoint_steps,
            "save_checkpoint_seconds": self.save_checkpoint_seconds,
            "keep_checkpoint_max": self.keep_checkpoint_max,
        }


class ModelCheckpoint(Callback):
    """Callback that writes checkpoints ``<directory>/<prefix>-<epoch>_<step>.ckpt``.

    If the directory already contains files with the prefix, ``_1``, ``_2``, ... is appended to the prefix.
    The state after the last step is always written. In a job of several processes, all processes may use this
    callback. If they pass the same directory, one process writes each file. If they pass different
    directories, each process writes its own files.

    Args:
        prefix (str, optional): start of the names of checkpoint files. Default: ``"CKP"``.
        directory (str, optional): folder of the checkpoint files, which is created if necessary. ``None``:
            the current folder. Default: ``None``.
        config (CheckpointConfig, optional): when to write files, and how many to keep. ``None``: after each
            step.
            Default: ``None``.

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If ``prefix`` contains a ``/``.

    >>> import tempfile
    >>> import mindgrad as ms
    >>> config = ms.train.CheckpointConfig(save_checkpoint_steps=10)
    >>> checkpoint = ms.train.ModelCheckpoint("net", tempfile.mkdtemp(), config)

    See Also:
        :class:`mindgrad.train.CheckpointConfig`, :func:`mindgrad.load_checkpoint`,
        :func:`mindgrad.train.latest_checkpoint`
    """

    def __init__(
        self, prefix: str = "CKP", directory: str | None = None, config: CheckpointConfig | None = None
    ) -> None:
        owner = "ModelCheckpoint"
        of_type(prefix, str, owner, "prefix", "a string")
        if not prefix or "/" in prefix:
            raise ValueError(f"For '{owner}', the 'prefix' must be a name without '/', but got {prefix!r}.")
        if config is not None and not isinstance(config, CheckpointConfig):
            raise TypeError(
                f"For '{owner}', the 'config' must be a CheckpointConfig, but got {type(config).__name__}."
            )
        self._directory = os.path.abspath(os.fspath(directory) if directory is not None else os.curdir)
        os.makedirs(self._directory, exist_ok=True)
        self._prefix = self._given_prefix = prefix
        self._config = CheckpointConfig() if config is None else config
        self._written: list[str] = []
        self._last_step = 0
        self._last_time = time.monotonic()
        self._latest = ""

    @property
    def latest_ckpt_file_name(self) -> str:
        """Path of the latest checkpoint file, or an empty string if there is none."""
        return self._latest

    def on_train_begin(self, run_context: RunContext) -> None:
        """Find a file name prefix that no existing file has."""
        subject = f"the prefix {self._given_prefix} in {self._directory}"
        # agree with all other processes on the prefix of the file names before a process writes a file
        self._prefix = agreed(subject, self._free_prefix)
        self._written, self._last_step, self._last_time = [], 0, time.monotonic()

    def _free_prefix(self) -> str:
        files = os.scandir(self._directory)
        used = {x.name.rsplit("-", 1)[0] for x in files if x.name.endswith(".ckpt") or is_set(x.path)}
        number, prefix = 0, self._given_prefix
        while prefix in used:
            number += 1
            prefix = f"{self._given_prefix}_{number}"
        return prefix

    def step_end(self, run_context: RunContext) -> None:
        """Write a checkpoint if the configured number of steps or seconds has passed."""
        state = run_context.original_args()
        if state.mode == "eval":
            return
        steps, seconds = self._config.save_checkpoint_steps, self._config.save_checkpoint_seconds
        is_due = state.cur_step_num - self._last_step >= steps if steps else (
            time.monotonic() - self._last_time >= seconds
        )  # fmt: skip
        if is_due:
            self._save(state)

    def end(self, run_context: RunContext) -> None:
        """Write a checkpoint of the state after the last step."""
        state = run_context.original_args()
        if state.mode != "eval" and state.cur_step_num and state.cur_step_num != self._last_step:
            self._save(state)

    def _save(self, state: Any) -> None:
        step = state.cur_step_in_epoch or state.cur_step_num
        path = os.path.join(self._directory, f"{self._prefix}-{state.cur_epoch_num}_{step}")
        entries: dict[str, Any] = {}
        for entry in self._config.append_info:
            if isinstance(entry, dict):
                entries.update(entry)
            else:
                entries[entry] = state.cur_epoch_num if entry == "epoch_num" else state.cur_step_num
        network = self._config.saved_network
        network = state.train_network if network is None else network
        save_checkpoint(network, path, self._config.integrated_save, append_dict=entries or None)
        path = path if is_set(path) else f"{path}.ckpt"
        self._latest, self._last_step, self._last_time = path, state.cur_step_num, time.monotonic()
        self._written.append(path)
        most = self._config.keep_checkpoint_max
        while most and len(self._written) > most:
            # another process or the user may have removed the file
            with contextlib.suppress(FileNotFoundError):
                _remove(self._written.pop(0))


def _remove(path: str) -> None:
    if path.endswith(".ckpt"):
        os.remove(path)
    elif get_rank() == 0:
        remove_set(path)
