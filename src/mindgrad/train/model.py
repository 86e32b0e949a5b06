"""``Model``: training and evaluation loops over datasets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad._base.checks import of_type
from mindgrad.context import ParallelMode  # noqa: F401 - programs import it from here
from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.cell import Cell
from mindgrad.nn.hyperparameters import positive_int
from mindgrad.nn.metrics import Loss, get_metrics
from mindgrad.nn.wrap.cell_wrapper import WithEvalCell
from mindgrad.train.amp import build_train_network
from mindgrad.train.batches import Batches
from mindgrad.train.callback.base import Callback, CallbackParameters, Callbacks, RunContext
from mindgrad.train.callback.monitors import LossMonitor, ProgressBar, TimeMonitor

__all__ = ["Model"]


class Model:
    """Training and evaluation of a network with its loss, optimizer, and metrics.

    Datasets are datasets of ``mindgrad.dataset``, or iterables of batches: tuples, lists, or dicts of Tensors
    and NumPy arrays. The values of a dict are used in order. With ``loss_fn`` a batch is ``(data, label)``;
    without it ``network`` receives the whole batch.

    Args:
        network (Cell): network to train or evaluate.
        loss_fn (Cell or Callable, optional): loss function of the output of the network and the label.
            ``None``: ``network`` returns the loss itself. Default: ``None``.
        optimizer (Optimizer, optional): optimizer, which updates the Parameters with which it was created.
            ``None``: ``network`` is a whole training step. Default: ``None``.
        metrics (set, list, dict, or str, optional): names of metrics, or a dict of metrics, see
            :func:`mindgrad.nn.get_metrics`. Default: ``None``.
        eval_network (Cell, optional): network for evaluation. ``None``: ``network`` with ``loss_fn``.
            Default: ``None``.
        eval_indexes (list of int, optional): three indices of the outputs of ``eval_network`` that are the
            loss, the prediction, and the label. ``None``: metrics receive all outputs. Default: ``None``.
        amp_level (str, optional): mixed precision level, see :mod:`mindgrad.train.amp`. Default: ``"O0"``.
        boost_level (str, optional): accepted for compatibility. Default: ``"O0"``.
        **kwargs (Any): ``loss_scale_manager``, ``keep_batchnorm_fp32``, and ``cast_model_type``, see
            ``amp.build_train_network``.

    Raises:
        TypeError: If an argument has an unsupported type or an unknown name.
        ValueError: If ``amp_level`` is an unknown level, or ``eval_indexes`` does not have three elements.

    >>> import numpy as np
    >>> import mindgrad as ms
    >>> class Line(ms.nn.Cell):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.slope = ms.Parameter(ms.Tensor([0.0]), name="slope")
    ...     def construct(self, x):
    ...         return self.slope * x
    >>> net = Line()
    >>> batches = [(np.float32([1.0, 2.0]), np.float32([3.0, 6.0]))] * 4
    >>> model = ms.Model(net, lambda y, label: ((y - label) ** 2).mean(), ms.nn.SGD([net.slope], 0.1),
    ...                  metrics={"loss"})
    >>> model.train(2, batches, callbacks=ms.train.LossMonitor(4))
    epoch: 1 step: 4, loss is 0.3515625
    epoch: 2 step: 4, loss is 0.00137329102
    >>> model.eval(batches)["loss"] < 0.001
    True
    >>> print(model.predict(ms.Tensor([10.0])).asnumpy().round())
    [30.]

    See Also:
        :class:`mindgrad.nn.TrainOneStepCell`, :func:`mindgrad.value_and_grad`,
        :class:`mindgrad.train.Callback`, :func:`mindgrad.save_checkpoint`
    """

    def __init__(
        self,
        network: Any,
        loss_fn: Any = None,
        optimizer: Any = None,
        metrics: Any = None,
        eval_network: Any = None,
        eval_indexes: Sequence[int] | None = None,
        amp_level: str = "O0",
        boost_level: str = "O0",
        **kwargs: Any,
    ) -> None:
        of_type(network, Cell, "Model", "network")
        if loss_fn is not None and not callable(loss_fn):
            raise TypeError(
                f"For 'Model', the 'loss_fn' must be a Cell or function, but got {type(loss_fn).__name__}."
            )
        if eval_indexes is not None and len(eval_indexes) != 3:
            raise ValueError(
                "For 'Model', the 'eval_indexes' must be the three indices of the loss, the prediction "
                f"and the label, but got {list(eval_indexes)}."
            )
        self._network = network
        self._loss_fn = loss_fn
        self._optimizer = optimizer
        self._loss_scale_manager = kwargs.get("loss_scale_manager")
        self._metrics = get_metrics(metrics)
        self._train_network: Any = network
        if optimizer is not None:
            self._train_network = build_train_network(
                network, optimizer, loss_fn, amp_level, boost_level, **kwargs
            )
        self._eval_indexes = eval_indexes
        self._eval_network = eval_network
        if eval_network is None and loss_fn is not None:
            self._eval_network = WithEvalCell(network, loss_fn, amp_level in ("O1", "O2", "O3", "auto"))
            self._eval_indexes = (0, 1, 2)

    @property
    def train_network(self) -> Any:
        """The Cell that computes one training step."""
        return self._train_network

    @property
    def eval_network(self) -> Any:
        """The Cell that evaluates one batch."""
        return self._eval_network

    @property
    def predict_network(self) -> Any:
        """The network that ``predict`` calls."""
        return self._network

    # -- training, evaluation, and prediction ----------------------------------------------------

    def train(
        self,
        epoch: int,
        train_dataset: Any,
        callbacks: Any = None,
        dataset_sink_mode: bool = False,
        sink_size: int = -1,
        initial_epoch: int = 0,
    ) -> None:
        """Train for a number of epochs.

        Args:
            epoch (int): number of the last epoch; with ``initial_epoch=0``, the number of passes over the
                dataset.
            train_dataset (Dataset or iterable): dataset of batches for training, see :class:`Model`.
            callbacks (Callback or list of Callback, optional): objects that are called during training.
                Default: ``None``.
            dataset_sink_mode (bool, optional): accepted for compatibility; callbacks are called after each
                step in any case. Default: ``False``.
            sink_size (int, optional): with ``dataset_sink_mode``, number of steps in an epoch. −1: all
                batches of the dataset. Default: ``-1``.
            initial_epoch (int, optional): number of epochs that were trained before; the first epoch has the
                number ``initial_epoch`` + 1. Default: ``0``.

        Raises:
            TypeError: If an argument has an unsupported type.
            ValueError: If ``epoch`` is not positive, ``train_dataset`` is empty or too short, or the Model
                has a loss function but no optimizer.
        """
        self._run("train", epoch, train_dataset, callbacks, dataset_sink_mode, sink_size, initial_epoch)

    def fit(
        self,
        epoch: int,
        train_dataset: Any,
        valid_dataset: Any = None,
        valid_frequency: int | Sequence[int] = 1,
        callbacks: Any = None,
        dataset_sink_mode: bool = False,
        valid_dataset_sink_mode: bool = False,
        sink_size: int = -1,
        initial_epoch: int = 0,
    ) -> None:
        """Train the network, and evaluate it after some or all epochs.

        Callbacks receive the metrics as ``eval_results``, with the mean loss as ``eval_loss``.

        Args:
            epoch (int): number of epochs, as for :meth:`train`.
            train_dataset (Dataset or iterable): dataset of batches for training, see :class:`Model`.
            valid_dataset (Dataset or iterable, optional): dataset of batches for evaluation. ``None``: no
                evaluation. Default: ``None``.
            valid_frequency (int or list of int, optional): evaluate after every ``valid_frequency`` epochs,
                or after the listed epochs. Default: ``1``.
            callbacks (Callback or list of Callback, optional): objects that are called during training.
                Default: ``None``.
            dataset_sink_mode (bool, optional): whether ``sink_size`` is used, as for :meth:`train`. Default:
                ``False``.
            valid_dataset_sink_mode (bool, optional): accepted for compatibility. Default: ``False``.
            sink_size (int, optional): number of steps in an epoch, as for :meth:`train`. Default: ``-1``.
            initial_epoch (int, optional): number of epochs that were trained before, as for :meth:`train`.
                Default: ``0``.

        Raises:
            TypeError: If an argument has an unsupported type.
            ValueError: If :meth:`train` or :meth:`eval` would raise it for the same arguments.
        """
        if isinstance(valid_frequency, (list, tuple)):
            chosen = {positive_int("Model.fit", "valid_frequency", each) for each in valid_frequency}
            evaluates: Callable[[int], bool] = lambda number: number in chosen
        else:
            every = positive_int("Model.fit", "valid_frequency", valid_frequency)
            evaluates = lambda number: number % every == 0
        validate = None
        if valid_dataset is not None:
            metrics = dict(self._metrics)
            if self._eval_indexes is not None:
                metrics.setdefault("eval_loss", Loss())
            self._check_can_evaluate("Model.fit", metrics)

            def validate(number: int, listed: Callbacks, context: RunContext) -> None:
                context.original_args().eval_results = {}
                if evaluates(number):
                    batches = Batches("Model.fit", "valid_dataset", valid_dataset, 1)
                    context.original_args().eval_results = self._evaluate(batches, metrics, listed, context)

        self._run(
            "fit", epoch, train_dataset, callbacks, dataset_sink_mode, sink_size, initial_epoch, validate,
            valid_dataset,
        )  # fmt: skip

    def _run(
        self,
        name: str,
        epoch: Any,
        dataset: Any,
        callbacks: Any,
        sinks: bool,
        sink_size: Any,
        initial_epoch: Any,
        validate: Callable[[int, Callbacks, RunContext], None] | None = None,
        valid_dataset: Any = None,
    ) -> None:
        owner = f"Model.{name}"
        epochs = positive_int(owner, "epoch", epoch)
        first = positive_int(owner, "initial_epoch", initial_epoch, least=0)
        if first >= epochs:
            raise ValueError(
                f"For '{owner}', the 'initial_epoch' must be below the 'epoch', {epochs}, but got {first}."
            )
        of_type(sinks, bool, owner, "dataset_sink_mode", "bool")
        length = -1
        if sinks and sink_size != -1:
            length = positive_int(owner, "sink_size", sink_size)
        if self._optimizer is None and self._loss_fn is not None:
            raise ValueError(f"For '{owner}', Model has a loss but no optimizer. Pass it an 'optimizer'.")
        passes = -1 if length > 0 else epochs - first
        batches = Batches(owner, "train_dataset", dataset, passes)
        listed = Callbacks(callbacks)
        bar = ProgressBar()
        if bar.is_terminal() and not any(isinstance(c, _PRINTING) for c in listed.listed):
            listed.listed.append(bar)
        optimizer = self._optimizer or getattr(self._train_network, "optimizer", None)
        state = CallbackParameters(
            mode="train", network=self._network, train_network=self._train_network, loss_fn=self._loss_fn,
            eval_network=self._eval_network, optimizer=optimizer, epoch_num=epochs,
            batch_num=length if length > 0 else batches.size, cur_epoch_num=first, cur_step_num=0,
            train_dataset=dataset, valid_dataset=valid_dataset, metrics=self._metrics,
            dataset_sink_mode=sinks, sink_size=sink_size, list_callback=listed, parallel_mode="stand_alone",
            device_number=1,
        )  # fmt: skip
        context = RunContext(state)
        by_length = batches.passes_of(length) if length > 0 else None
        with listed:
            listed.call("on_train_begin", context)
            for number in range(first + 1, epochs + 1):
                state.cur_epoch_num = number
                self._train_network.set_train(True)
                listed.call("on_train_epoch_begin", context)
                state.cur_step_in_epoch = 0
                for batch in batches.one_pass() if by_length is None else next(by_length):
                    self._train_step(batch, listed, context)
                    if context.get_stop_requested():
                        break
                if validate is not None and not context.get_stop_requested():
                    validate(number, listed, context)
                listed.call("on_train_epoch_end", context)
                if context.get_stop_requested():
                    break
            listed.call("on_train_end", context)

    def _train_step(self, batch: tuple[Any, ...], listed: Callbacks, context: RunContext) -> None:
        state = context.original_args()
        state.cur_step_num += 1
        state.cur_step_in_epoch += 1
        state.train_dataset_element = batch
        self._check_count("train_dataset", batch)
        listed.call("on_train_step_begin", context)
        state.net_outputs = outputs = self._train_network(*batch)
        manager = self._loss_scale_manager
        if manager is not None and isinstance(outputs, tuple) and len(outputs) == 3:
            manager.update_loss_scale(bool(outputs[1]))
        listed.call("on_train_step_end", context)

    def _check_count(self, name: str, batch: tuple[Any, ...]) -> None:
        if self._loss_fn is not None and len(batch) != 2:
            raise ValueError(
                f"For 'Model', each batch of the '{name}' must be (data, label) if there is a 'loss_fn', but "
                f"it has {len(batch)} column{'' if len(batch) == 1 else 's'}. For other batches, omit "
                "'loss_fn' and pass a network that returns its loss."
            )

    def eval(
        self, valid_dataset: Any, callbacks: Any = None, dataset_sink_mode: bool = False
    ) -> dict[str, Any]:
        """Compute the metrics over a dataset.

        Args:
            valid_dataset (Dataset or iterable): dataset of batches for evaluation, see :class:`Model`.
            callbacks (Callback or list of Callback, optional): objects that are called during evaluation.
                Default: ``None``.
            dataset_sink_mode (bool, optional): accepted for compatibility. Default: ``False``.

        Returns:
            dict: dict that maps names of metrics to their values.

        Raises:
            TypeError: If an argument has an unsupported type.
            ValueError: If the Model does not have metrics, has neither ``loss_fn`` nor ``eval_network``, or
                ``valid_dataset`` is empty.
        """
        self._check_can_evaluate("Model.eval", self._metrics)
        batches = Batches("Model.eval", "valid_dataset", valid_dataset, 1)
        listed = Callbacks(callbacks)
        state = CallbackParameters(
            mode="eval", network=self._network, eval_network=self._eval_network, loss_fn=self._loss_fn,
            batch_num=batches.size, cur_epoch_num=0, cur_step_num=0, valid_dataset=valid_dataset,
            metrics=self._metrics, list_callback=listed, parallel_mode="stand_alone", device_number=1,
        )  # fmt: skip
        with listed:
            return self._evaluate(batches, self._metrics, listed, RunContext(state))

    def _check_can_evaluate(self, owner: str, metrics: Any) -> None:
        if not metrics:
            raise ValueError(f"For '{owner}', the Model has no metrics. Create it with metrics={{'loss'}}.")
        if self._eval_network is None:
            raise ValueError(f"For '{owner}', create the Model with a 'loss_fn' or an 'eval_network'.")

    def _evaluate(
        self, batches: Batches, metrics: dict[str, Any], listed: Callbacks, context: RunContext
    ) -> dict[str, Any]:
        state = context.original_args()
        before = CallbackParameters(state)
        state.mode, state.cur_step_num, state.batch_num = "eval", 0, batches.size
        for metric in metrics.values():
            metric.clear()
        flags = [(cell, cell.training) for _, cell in self._eval_network.cells_and_names()]
        self._eval_network.set_train(False)
        try:
            listed.call("on_eval_begin", context)
            listed.call("on_eval_epoch_begin", context)
            for number, batch in enumerate(batches.one_pass(), 1):
                state.cur_step_num = state.cur_step_in_epoch = number
                if isinstance(self._eval_network, WithEvalCell):
                    self._check_count("valid_dataset", batch)
                listed.call("on_eval_step_begin", context)
                state.net_outputs = outputs = self._eval_network(*batch)
                self._update(metrics, outputs if isinstance(outputs, tuple) else (outputs,))
                listed.call("on_eval_step_end", context)
                if context.get_stop_requested() and before.mode != "train":
                    break
            results = {name: metric.eval() for name, metric in metrics.items()}
            state.eval_results = results
            listed.call("on_eval_epoch_end", context)
            listed.call("on_eval_end", context)
        finally:
            for cell, training in flags:
                cell.training = training
        if before.mode == "train":
            for name in ("mode", "cur_step_num", "cur_step_in_epoch", "batch_num", "net_outputs"):
                state[name] = before.get(name)
        return results

    def _update(self, metrics: dict[str, Any], outputs: tuple[Any, ...]) -> None:
        indexes = self._eval_indexes
        if indexes is not None and len(outputs) <= max(indexes):
            raise ValueError(
                f"For 'Model', the 'eval_indexes' are {list(indexes)}, but the eval_network returned "
                f"{len(outputs)} outputs."
            )
        for metric in metrics.values():
            if indexes is None or metric.indexes is not None:
                metric.update(*outputs)
            elif isinstance(metric, Loss):
                metric.update(outputs[indexes[0]])
            else:
                metric.update(outputs[indexes[1]], outputs[indexes[2]])

    def predict(self, *predict_data: Any, backend: str | None = None) -> Any:
        """Compute the outputs of the network in inference mode.

        Args:
            *predict_data (Any): inputs of the network: Tensors, or structures of them.
            backend (str, optional): accepted for compatibility; ``None`` or ``"lite"``. Default: ``None``.

        Returns:
            Any: the output of the network.
        """
        flags = [(cell, cell.training) for _, cell in self._network.cells_and_names()]
        self._network.set_train(False)
        try:
            return self._network(*predict_data)
        finally:
            for cell, training in flags:
                cell.training = training

    def build(self, *_: Any, **__: Any) -> None:
        """Do nothing, because networks are compiled in their first call."""


#: callbacks that print. With one of them, a Model adds no progress bar
_PRINTING = (LossMonitor, ProgressBar, TimeMonitor)


# --- private names of MindSpore that copies of its training loop import --------------------------------


class _StepSync(Callback):
    """MindSpore's callback that waits for the end of each step. It does nothing in mindgrad."""


def _transfer_tensor_to_tuple(inputs: Any) -> Any:
    """Return the inputs of a network as a tuple. A single tensor becomes a tuple of one element."""
    return (inputs,) if isinstance(inputs, Tensor) else inputs
