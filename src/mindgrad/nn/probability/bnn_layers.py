"""Names of MindSpore's layers of Bayesian nets, which raise an error when called."""

from mindgrad._base.absent import absent

_REASON = "is a layer whose weights are distributions"
_INSTEAD = "Draw weights from nn.probability.distribution.Normal in 'construct', and add kl_loss to the loss."

ConvReparam = absent(__name__, "ConvReparam", _REASON, _INSTEAD)
DenseLocalReparam = absent(__name__, "DenseLocalReparam", _REASON, _INSTEAD)
DenseReparam = absent(__name__, "DenseReparam", _REASON, _INSTEAD)
NormalPosterior = absent(
    __name__, "NormalPosterior", "is the distribution of the weights of a Bayesian layer", _INSTEAD
)
NormalPrior = absent(
    __name__, "NormalPrior", "is the distribution of the weights of a Bayesian layer", _INSTEAD
)
WithBNNLossCell = absent(__name__, "WithBNNLossCell", "is the loss of a network of Bayesian layers", _INSTEAD)

__all__ = [
    "ConvReparam", "DenseLocalReparam", "DenseReparam", "NormalPosterior", "NormalPrior", "WithBNNLossCell",
]  # fmt: skip
