"""Cells that partition a network or a batch: importable, but calls raise an error."""

from mindgrad._base.absent import absent as _absent

_ALONE = "Use the network itself, with nn.TrainOneStepCell."

GradAccumulation = _absent(
    __name__, "GradAccumulation", "adds up gradients of parts of a batch in a pipeline of processes",
    "Add up the gradients of several batches before the optimizer is called.",
)  # fmt: skip
MicroBatchInterleaved = _absent(
    __name__, "MicroBatchInterleaved", "interleaves the halves of a batch on several devices", _ALONE
)
Pipeline = _absent(__name__, "Pipeline", "divides a network among processes", _ALONE)
PipelineCell = _absent(__name__, "PipelineCell", "divides a network among processes", _ALONE)
PipelineGradReducer = _absent(
    __name__, "PipelineGradReducer", "gathers the gradients of a network divided among processes", _ALONE
)

__all__ = ["GradAccumulation", "MicroBatchInterleaved", "Pipeline", "PipelineCell", "PipelineGradReducer"]
