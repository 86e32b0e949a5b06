"""Training programs of mindscience: their train.py runs as it is, for three steps on small data.

SciAI's and MindFlow's programs set the mode, the device and their data themselves. Here the mode is the one
that is measured, files of data that would be downloaded are arrays of random numbers, weights are filled by
their position, and the program is left behind its third step.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import runpy
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import mindspore
import numpy as np
import scipy.io
from mindspore import Tensor, nn

STEPS = 3
SEED = 3
Array = Callable[[np.random.RandomState], np.ndarray]


class Program(NamedTuple):
    """A training program: its folder, its options, and arrays in place of the file of data that it loads."""

    folder: str
    options: tuple[str, ...] = ()
    data: dict[str, Array] = {}


def line(first: float, last: float, count: int) -> Array:
    """A column of equally spaced points."""
    return lambda _: np.linspace(first, last, count)[:, None]


def random(*shape: int) -> Array:
    """Numbers between 0 and 1."""
    return lambda generator: generator.rand(*shape).astype(np.float32)


def random_complex(*shape: int) -> Array:
    """Complex numbers in the unit square."""
    return lambda generator: generator.rand(*shape) + 1j * generator.rand(*shape)


BURGERS = {"t": line(0, 1, 201), "x": line(-1, 1, 256), "usol": random(256, 201)}
SCHROEDINGER = {"tt": line(0, 1, 60), "x": line(-5, 5, 80), "uu": random_complex(80, 60)}
CYLINDER = {
    "U_star": random(600, 2, 10),
    "p_star": random(600, 10),
    "t": line(0, 1, 10),
    "X_star": random(600, 2),
}
KDV = {"t": line(0, 1, 201), "x": line(-20, 20, 512), "usol": random(512, 201)}

#: SciAI, below SciAI/sciai/model
SCIAI = {
    "auq_pinns": Program("auq_pinns"),
    "deep_hpms": Program("deep_hpms", data=BURGERS),
    "deep_hpms_kdv": Program("deep_hpms", ("--problem", "kdv_same"), KDV),
    "deep_ritz": Program("deep_ritz"),
    "deep_ritz_ls": Program("deep_ritz", ("--problem", "poisson_ls")),
    "deepbsde": Program("deepbsde"),
    "dgm": Program("dgm"),
    "fbsnns": Program("fbsnns"),
    "fbsnns_allen_cahn": Program("fbsnns", ("--problem", "allen_cahn_20D")),
    "fpinns": Program("fpinns"),
    "fpinns_diffusion": Program("fpinns", ("--problem", "diffusion_1d")),
    "gradient_pathologies_pinns": Program("gradient_pathologies_pinns"),
    "hp_vpinns": Program("hp_vpinns"),
    "laaf": Program("laaf"),
    "label_free_dnn_surrogate": Program("label_free_dnn_surrogate"),
    "multiscale_pinns": Program("multiscale_pinns"),
    "nsf_nets": Program("nsf_nets"),
    "pfnn": Program("pfnn"),
    "pinns": Program("pinns", data=SCHROEDINGER),
    "pinns_navier_stokes": Program("pinns", ("--problem", "NavierStokes"), CYLINDER),
    "pinns_ntk": Program("pinns_ntk"),
    "pinns_swe": Program("pinns_swe"),
    "sympnets": Program("sympnets"),
    "sympnets_double_pendulum": Program("sympnets", ("--problem", "double_pendulum")),
    "sympnets_gradient": Program("sympnets", ("--net_type", "G")),
}
#: MindFlow, below MindFlow/applications
MINDFLOW = {
    "burgers": Program("physics_driven/burgers"),
    "poisson": Program("physics_driven/poisson/continuous"),
    "poisson_point_source": Program("physics_driven/poisson/point_source"),
    "kovasznay": Program("physics_driven/navier_stokes/kovasznay"),
    "taylor_green": Program("physics_driven/navier_stokes/taylor_green"),
    "boltzmann": Program("physics_driven/boltzmann"),
    "darcy": Program("physics_driven/darcy"),
}
DEVICE_SETTINGS = (
    "device_target",
    "device_id",
    "save_graphs",
    "save_graphs_path",
    "max_call_depth",
    "pynative_synchronize",
)
#: keys of MindFlow's settings that say how many points there are; so many here
SIZES = ("size", "batch_size", "train_batch_size")
POINTS = 64


class Enough(BaseException):
    """The steps that are measured are done."""


class Steps:
    """What the steps of a program gave: the losses, and the time of each."""

    def __init__(self) -> None:
        self.losses: list[float] = []
        self.times: list[float] = []
        self.optimizers: list[nn.Optimizer] = []
        self.inside = 0

    def measured(self, step: Callable[..., Any]) -> Callable[..., Any]:
        """``step``, of which the outermost calls count."""

        def call(*args: Any, **kwargs: Any) -> Any:
            started = time.perf_counter()
            self.inside += 1
            try:
                output = step(*args, **kwargs)
            finally:
                self.inside -= 1
            if not self.inside:
                self.losses += numbers(output)
                self.times.append(round(time.perf_counter() - started, 2))
                if len(self.times) == STEPS:
                    raise Enough
            return output

        return call


def numbers(output: Any) -> list[float]:
    """The mean magnitude of each tensor of an output."""
    if isinstance(output, tuple | list):
        return [number for value in output for number in numbers(value)]
    return [float(np.abs(output.asnumpy()).mean(dtype=np.float64))] if isinstance(output, Tensor) else []


def fill(parameters: list[mindspore.Parameter]) -> None:
    """Gives Parameters values that depend on their position only."""
    for number, parameter in enumerate(parameters):
        if "float" not in str(parameter.dtype).lower():
            continue
        shape, generator = tuple(parameter.shape), np.random.RandomState(number)
        values = np.asarray(generator.standard_normal(shape))
        if len(shape) > 1:
            values = values / np.sqrt(max(1, shape[-1]))
        else:
            values = 0.1 * values + float("gamma" in parameter.name or not shape)
        parameter.set_data(Tensor(values.astype(np.float32)).astype(parameter.dtype))


class Arrays:
    """A file of arrays that is not there: each is random."""

    def __init__(self, generator: np.random.RandomState) -> None:
        self.generator = generator

    def __getitem__(self, name: str) -> np.ndarray:
        return self.generator.random_sample((20, 20)).astype(np.float32)


@contextlib.contextmanager
def replaced(owner: Any, **members: Any) -> Iterator[None]:
    """Other members of a module or class."""
    before = {name: getattr(owner, name) for name in members}
    for name, member in members.items():
        setattr(owner, name, member)
    try:
        yield
    finally:
        for name, member in before.items():
            setattr(owner, name, member)


@contextlib.contextmanager
def measured(program: Program, mode: int, steps: Steps) -> Iterator[None]:
    """MindSpore and NumPy as the program is to see them."""
    set_context, initialize, call = mindspore.set_context, nn.Optimizer.__init__, nn.Cell.__call__
    generator, read_arrays = np.random.RandomState(SEED), np.load

    def set_mode(**settings: Any) -> None:
        kept = {name: value for name, value in settings.items() if name not in DEVICE_SETTINGS}
        set_context(**{**kept, "mode": mode})

    def initialized(self: nn.Optimizer, rate: Any, parameters: Any, *args: Any, **kwargs: Any) -> None:
        parameters = list(parameters)
        if parameters and not isinstance(parameters[0], dict):
            fill(parameters)
        initialize(self, rate, parameters, *args, **kwargs)
        steps.optimizers.append(self)
        np.random.seed(SEED)  # noqa: NPY002 (the generator of the programs)

    step = steps.measured(call)

    def called(self: nn.Cell, *args: Any, **kwargs: Any) -> Any:
        outer = not steps.inside and (
            isinstance(self, nn.TrainOneStepCell) or type(self).__name__.startswith("Train")
        )
        return (step if outer else call)(self, *args, **kwargs)

    def load(*_: Any, **__: Any) -> dict[str, np.ndarray]:
        return {name: array(generator) for name, array in program.data.items()}

    def load_arrays(path: Any, *args: Any, **kwargs: Any) -> Any:
        return read_arrays(path, *args, **kwargs) if os.path.exists(path) else Arrays(generator)

    with contextlib.ExitStack() as stack:
        stack.enter_context(replaced(mindspore, set_context=set_mode))
        stack.enter_context(replaced(mindspore.context, set_context=set_mode))
        stack.enter_context(replaced(nn.Optimizer, __init__=initialized))
        stack.enter_context(replaced(nn.Cell, __call__=called))
        stack.enter_context(replaced(np, load=load_arrays))
        if program.data:
            stack.enter_context(replaced(scipy.io, loadmat=load))
        yield


def options_of_sciai(program: Program, mode: int) -> list[str]:
    """The command line: what the program's settings know of."""
    known = Path("config.yaml").read_text()
    settings = {
        "mode": str(mode),
        "save_fig": "false",
        "save_ckpt": "false",
        "print_interval": "1",
        "amp_level": "O0",
    }
    options = [
        word for name, value in settings.items() if f"\n{name}:" in known for word in (f"--{name}", value)
    ]
    return ["train.py", *options, *program.options]


def smaller(settings: Any) -> Any:
    """Settings of MindFlow with fewer points."""
    if not isinstance(settings, dict):
        return settings
    return {
        name: POINTS if name in SIZES and isinstance(value, int) else smaller(value)
        for name, value in settings.items()
    }


@contextlib.contextmanager
def prepared_sciai(steps: Steps) -> Iterator[None]:
    """SciAI without downloads, its training Cell measured."""
    cell = importlib.import_module("sciai.common.train_cell").TrainCellWithCallBack
    names = ("sciai.context.context", "sciai.utils.python_utils")
    with contextlib.ExitStack() as stack:
        for name in names:
            stack.enter_context(
                replaced(importlib.import_module(name), download_resource=lambda *_, **__: None)
            )
        stack.enter_context(replaced(cell, __call__=steps.measured(cell.__call__)))
        yield


@contextlib.contextmanager
def prepared_mindflow(steps: Steps) -> Iterator[None]:
    """MindFlow with fewer points, its function of a step measured."""
    utilities = importlib.import_module("mindflow.utils")
    read, sink, jit = utilities.load_yaml_config, mindspore.data_sink, mindspore.jit
    sinks = "data_sink" in Path("train.py").read_text()  # these compile their step themselves

    def compiled(function: Any = None, **settings: Any) -> Any:
        if function is None:
            return lambda later: compiled(later, **settings)
        step = jit(function, **settings)
        return steps.measured(step) if function.__name__.startswith("train") and not sinks else step

    with (
        replaced(utilities, load_yaml_config=lambda path: smaller(read(path))),
        replaced(
            mindspore, data_sink=lambda *args, **kwargs: steps.measured(sink(*args, **kwargs)), jit=compiled
        ),
    ):
        yield


def run(checkouts: Path, name: str, mode: int) -> dict[str, Any]:
    """Runs a program for three steps.

    Returns:
        ``losses`` and ``times`` of the steps, ``weights``: the sum of magnitudes of each Parameter behind
        them.
    """
    repository = checkouts / "mindscience"
    is_sciai = name in SCIAI
    program = SCIAI[name] if is_sciai else MINDFLOW[name]
    package, folder = ("SciAI", "sciai/model") if is_sciai else ("MindFlow", "applications")
    sys.path.insert(0, str(repository / package))
    shutil.copytree(
        repository / package / folder / program.folder, "program", ignore=shutil.ignore_patterns("*.ipynb")
    )
    os.chdir("program")
    sys.path.insert(0, os.getcwd())
    steps = Steps()
    mode_name = ("GRAPH", "PYNATIVE")[mode]
    sys.argv = (
        options_of_sciai(program, mode)
        if is_sciai
        else ["train.py", "--mode", mode_name, "--device_target", "GPU"]
    )
    prepared = prepared_sciai if is_sciai else prepared_mindflow
    np.random.seed(SEED)  # noqa: NPY002
    log = io.StringIO()
    with prepared(steps), measured(program, mode, steps), contextlib.redirect_stdout(log):
        try:
            runpy.run_path("train.py", run_name="__main__")
        except Enough:
            pass
        except SystemExit as error:
            raise RuntimeError(f"the program ended itself: {error}; {log.getvalue()[-300:]}") from None
    if not steps.times:
        raise RuntimeError("the program ended without a step of training")
    weights = [
        float(np.abs(parameter.asnumpy()).sum(dtype=np.float64))
        for optimizer in steps.optimizers
        for parameter in optimizer.parameters
    ]
    return {"losses": steps.losses, "times": steps.times, "weights": weights}
