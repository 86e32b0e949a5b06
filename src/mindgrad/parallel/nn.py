"""Cells that divide a net or a batch among processes: importable, for programs that choose them by need."""

from mindgrad._base.absent import absent as _absent

_ALONE = "There is one process: use the net itself, and nn.TrainOneStepCell."

GradAccumulation = _absent(
    __name__, "GradAccumulation", "adds up gradients of parts of a batch in a pipeline of processes",
    "Add up the gradients of several batches before the optimizer is called.",
)  # fmt: skip
MicroBatchInterleaved = _absent(
    __name__, "MicroBatchInterleaved", "interleaves the halves of a batch among devices", _ALONE
)
Pipeline = _absent(__name__, "Pipeline", "divides a net among processes", _ALONE)
PipelineCell = _absent(__name__, "PipelineCell", "divides a net among processes", _ALONE)
PipelineGradReducer = _absent(
    __name__, "PipelineGradReducer", "gathers the gradients of a net that is divided among processes", _ALONE
)

__all__ = ["GradAccumulation", "MicroBatchInterleaved", "Pipeline", "PipelineCell", "PipelineGradReducer"]
