"""Which tests a change reaches: by the file that defines a name, through packages that pass it on."""

import pytest

from tests import reach

TREE = {
    "src/mindgrad/__init__.py": "from mindgrad import nn\nfrom mindgrad.ir import *\n",
    "src/mindgrad/ir.py": "def graph():\n    pass\n\n\nLIMIT = 3\n",
    "src/mindgrad/nn/__init__.py": "from mindgrad.nn.dense import *\nfrom mindgrad.nn.pool import Pool\n",
    "src/mindgrad/nn/dense.py": "from mindgrad.ir import graph\n\n\nclass Dense:\n    pass\n",
    "src/mindgrad/nn/pool.py": 'class Pool:\n    """\n    >>> import mindgrad as ms\n    >>> ms.nn.Pool()\n    """\n',
    "src/mindgrad/nn/rows.py": "ROWS = []\n",
    "tests/__init__.py": "",
    "tests/harness.py": "import mindgrad.nn\n",
    "tests/test_dense.py": "from mindgrad import nn\n\n\ndef test():\n    nn.Dense()\n",
    "tests/test_pool.py": "import mindgrad as ms\n\n\ndef test():\n    ms.nn.Pool()\n",
    "tests/test_ir.py": "from mindgrad import LIMIT\n",
    "tests/test_laws.py": "from tests.harness import x\nfrom tests import harness\n",
    "docs/dense.md": "```python\n>>> from mindgrad.nn import Dense\n>>> Dense(\n\n```\n",
    "README.md": "no example\n",
}


@pytest.fixture
def tree(tmp_path, monkeypatch):
    for name, text in TREE.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(reach, "ROOT", tmp_path)
    caches = [value for value in vars(reach).values() if hasattr(value, "cache_clear")]
    for cache in caches:
        cache.cache_clear()
    yield tmp_path
    for cache in caches:
        cache.cache_clear()


@pytest.mark.parametrize(
    ("changed", "reached"),
    [
        ("src/mindgrad/nn/pool.py", ["src/mindgrad/nn/pool.py", "tests/test_laws.py", "tests/test_pool.py"]),
        ("src/mindgrad/nn/dense.py", ["docs/dense.md", "tests/test_dense.py", "tests/test_laws.py"]),
        ("src/mindgrad/nn/rows.py", ["tests/test_laws.py"]),
        (
            "src/mindgrad/ir.py",
            ["docs/dense.md", "tests/test_dense.py", "tests/test_ir.py", "tests/test_laws.py"],
        ),
        ("tests/harness.py", ["tests/test_laws.py"]),
        ("tests/test_pool.py", ["tests/test_pool.py"]),
        ("docs/dense.md", ["docs/dense.md"]),
        ("README.md", []),
    ],
)
def test_a_change_reaches_who_uses_what_it_defines(tree, changed, reached):
    assert reach.reached([tree / changed]) == reached


def test_a_selection_has_the_tests_about_the_whole_and_settings_reach_everything(tree):
    assert reach.selection(["tests/test_pool.py"]) == [*reach.ALWAYS, "tests/test_pool.py"]
    assert reach.selection(["tests/test_pool.py", "pyproject.toml"]) == reach.EVERYTHING
    assert reach.selection([]) == []
