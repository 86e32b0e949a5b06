"""Conversions of networks and Models for the optimizer ``nn.thor``.

In MindSpore, layers and Models must be converted before ``nn.thor`` can train them. In mindgrad, the
optimizer reads the curvature from the graph of the network, so there is nothing to convert.
"""

from __future__ import annotations

from typing import Any

from mindgrad._base.checks import of_type
from mindgrad.nn.cell import Cell
from mindgrad.nn.optim.thor import thor
from mindgrad.train.model import Model

__all__ = ["ConvertModelUtils", "ConvertNetUtils"]


class ConvertNetUtils:
    """Conversion of a network for ``nn.thor``, which changes nothing.

    >>> import mindgrad as ms
    >>> net = ms.nn.Dense(2, 2)
    >>> ms.train.ConvertNetUtils().convert_to_thor_net(net) is net
    True

    See Also:
        :class:`mindgrad.nn.thor`: the optimizer.
    """

    def convert_to_thor_net(self, net: Any) -> Any:
        """Return the network unchanged.

        In MindSpore, this method replaces layers by layers that store their inputs and cotangents.
        :class:`mindgrad.nn.thor` computes these from the graph of the network.

        Args:
            net (Cell): network.

        Returns:
            Cell: ``net``.

        Raises:
            TypeError: If ``net`` is not a Cell.
        """
        return of_type(net, Cell, "convert_to_thor_net", "net")


class ConvertModelUtils:
    """Conversion of a Model for ``nn.thor``.

    >>> import numpy as np
    >>> import mindgrad as ms
    >>> net = ms.nn.Dense(2, 2)
    >>> optimizer = ms.nn.thor(net, learning_rate=0.1, damping=0.1, momentum=0.9, batch_size=2)
    >>> loss = ms.nn.CrossEntropyLoss()
    >>> model = ms.Model(net, loss, optimizer)
    >>> model = ms.train.ConvertModelUtils().convert_to_thor_model(model, net, loss, optimizer)
    >>> model.train(1, [(np.eye(2, dtype=np.float32), np.int32([0, 1]))])
    >>> print(optimizer.global_step.value())
    [1]

    See Also:
        :class:`mindgrad.nn.thor`: the optimizer.
    """

    @staticmethod
    def convert_to_thor_model(
        model: Any,
        network: Any,
        loss_fn: Any = None,
        optimizer: Any = None,
        metrics: Any = None,
        amp_level: str = "O0",
        loss_scale_manager: Any = None,
        keep_batchnorm_fp32: bool = False,
    ) -> Any:
        """Return a Model that trains ``network`` with :class:`mindgrad.nn.thor`.

        Args:
            model (Model): returned unchanged if ``optimizer`` is not ``thor``.
            network (Cell): network to train.
            loss_fn (Cell or Callable, optional): loss function of the output and the label. Default:
                ``None``.
            optimizer (Optimizer, optional): optimizer. Default: ``None``.
            metrics (set, list, dict, or str, optional): metrics, see :class:`mindgrad.train.Model`. Default:
                ``None``.
            amp_level (str, optional): must be ``"O0"`` for ``thor``. Default: ``"O0"``.
            loss_scale_manager (LossScaleManager, optional): accepted for compatibility and ignored, because
                gradients in float32 need no loss scale. Default: ``None``.
            keep_batchnorm_fp32 (bool, optional): accepted for compatibility. Default: ``False``.

        Returns:
            Model: a new Model, or ``model``.

        Raises:
            TypeError: If ``model`` is not a Model.
            ValueError: If ``amp_level`` differs from ``"O0"``, and the optimizer is ``thor``.
        """
        of_type(model, Model, "convert_to_thor_model", "model")
        if not isinstance(optimizer, thor):
            return model
        if amp_level != "O0":
            raise ValueError(
                "For 'convert_to_thor_model', the 'amp_level' must be 'O0', because nn.thor needs Parameters "
                f"in float32 or float64, but got {amp_level!r}."
            )
        return Model(network, loss_fn, optimizer, metrics)
