"""``scripts/score programs`` runs networks, training programs and documents, each in a process of its own."""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rich")
FOLDER = Path(__file__).parents[3] / "bench" / "score"

FILES = {
    "mindcv/mindcv/__init__.py": "",
    "mindcv/mindcv/models/__init__.py": "",
    "mindcv/mindcv/models/resnet.py": """
from matplotlib import pyplot
from mindspore import nn, ops
class Network(nn.Cell):
    def __init__(self, num_classes):
        super().__init__()
        self.convolution, self.dense = nn.Conv2d(3, 4, 3), nn.Dense(4, num_classes)
    def construct(self, x):
        return {"classes": self.dense(ops.mean(ops.tanh(self.convolution(x)), (2, 3))), "shape": (x,)}
def resnet18(num_classes): return Network(num_classes)
""",
    "mindscience/SciAI/sciai/__init__.py": "",
    "mindscience/SciAI/sciai/common/__init__.py": "",
    "mindscience/SciAI/sciai/common/train_cell.py": "class TrainCellWithCallBack:\n    def __call__(self): pass\n",
    "mindscience/SciAI/sciai/context/__init__.py": "",
    "mindscience/SciAI/sciai/context/context.py": "def download_resource(name): raise OSError\n",
    "mindscience/SciAI/sciai/utils/__init__.py": "",
    "mindscience/SciAI/sciai/utils/python_utils.py": "from sciai.context.context import download_resource\n",
    "mindscience/SciAI/sciai/model/pfnn/config.yaml": "\\nmode: 0\\n",
    "mindscience/SciAI/sciai/model/pfnn/train.py": """
import numpy
import mindspore as ms
from mindspore import nn, ops
from sciai.context import context
context.download_resource("data")
ms.set_context(mode=ms.GRAPH_MODE, device_target="Ascend")
class Loss(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weight = ms.Parameter(ms.Tensor([7.0]))
    def construct(self, x): return ops.sum(self.weight * x)
step = nn.TrainOneStepCell(Loss(), nn.SGD(Loss().trainable_params(), 0.5))
assert ms.get_context("mode") == ms.PYNATIVE_MODE
while True: step(ms.Tensor(numpy.ones(2, numpy.float32)))
""",
    "docs/docs/mindspore/source_en/faq/data_processing.md": """
```python
import mindspore as ms
x = ms.Tensor(3.0)
```
```python
print(y)
```
```python
ms.set_context(device_target="Ascend")
z = 1
```
```python
z + 1
```
```python
w = x.no_such_method()
```
```python
w + 1
```
```python
raise ValueError("no")
```

```text
ValueError: no
```
""",
}


@pytest.fixture(scope="module")
def checkouts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checkouts")
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.fixture(scope="module")
def scores(checkouts):
    names = ["resnet", "pfnn", "deepbsde", "*data_processing.md"]
    files = {name: checkouts / f"{name}.json" for name in ("results", "record")}
    command = [sys.executable, FOLDER / "programs.py", checkouts, *names, "--mode", "pynative"]
    command += ["--json", files["results"], "--record", files["record"]]
    environment = {**os.environ, "PYTHONPATH": ""}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {name: json.loads(file.read_text()) for name, file in files.items()}


def test_a_network_takes_a_step_of_training(scores):
    result = scores["results"]["mindgrad, networks, pynative"]["resnet"]
    assert result["losses"][0] > 0
    assert len(result["norms"]) == len(result["weights"]) == 3
    assert all(norm > 0 for norm in result["norms"])


def test_a_training_program_runs_as_it_is(scores):
    results = scores["results"]["mindgrad, science, pynative"]
    assert len(results["pfnn"]["losses"]) == 3
    assert results["deepbsde"]["error"].startswith("FileNotFoundError")
    record = scores["record"]["science, pynative"]
    assert (record["passed"], record["counted"]) == (1, 2)
    assert list(record["remains"]) == ["deepbsde"]


def test_cells_that_count(scores):
    result = scores["results"]["mindgrad, documents, pynative"]
    (cells,) = [each["cells"] for each in result.values()]
    lost = "needs a cell that does not count"
    assert [cell["status"] for cell in cells] == ["ok", "fragment", "device", lost, "error", "error", "ok"]
    record = scores["record"]["documents, pynative"]
    assert (record["passed"], record["counted"]) == (2, 4)
    assert record["not_counted"] == {"fragment": 1, "device": 1, lost: 1}


def test_scores_against_a_reference(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    summary = runpy.run_path(str(FOLDER / "programs.py"))["summary"]
    own = {"a": {"losses": [1.0]}, "b": {"losses": [2.0]}, "c": {"error": "no"}, "d": {"error": "no"}}
    reference = {
        "a": {"losses": [1.0]},
        "b": {"losses": [2.1]},
        "c": {"losses": [1.0]},
        "d": {"error": "nor"},
    }
    results = {"mindgrad, networks, graph": own, "mindspore, networks, graph": reference}
    score = summary(results, "networks", "graph")
    assert score["reference"] == {"passed": 3, "counted": 4, "both": 2}
    assert list(score["disagree"]) == ["b"]
    assert score["counted"] < score["listed"]
    assert score["remains"] == {"c": "no", "d": "no; MindSpore: nor"}
