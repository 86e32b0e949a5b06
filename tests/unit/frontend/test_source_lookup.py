"""The source of a function is found whatever surrounds the imports of its module."""

import ast
import importlib.util
import linecache
import textwrap

import pytest

import mindgrad as ms
from mindgrad import Tensor
from mindgrad.frontend.python.source import NoSource, find_source

#: beginnings of a module that bind ``ops``
BEGINNINGS = {
    "plain": "from mindgrad import ops",
    "module": "import mindgrad.ops as ops",
    "future": '"""A docstring."""\nfrom __future__ import annotations\nfrom mindgrad import ops',
    "star": "from mindgrad import *",
    "if": "if True:\n    from mindgrad import ops",
    "else": "if not __name__:\n    pass\nelif __name__ == '':\n    pass\nelse:\n    from mindgrad import ops",
    "never": "from mindgrad import ops\nif not ops:\n    import mindspore.ops as ops",
    "try": "try:\n    from mindgrad import ops\nexcept ImportError:\n    raise",
    "except": "try:\n    import no_such_module as ops\nexcept ImportError:\n    from mindgrad import ops",
    "try else": "try:\n    import math\nexcept ImportError:\n    raise\nelse:\n    from mindgrad import ops",
    "finally": "try:\n    pass\nfinally:\n    from mindgrad import ops",
    "try star": "try:\n    import math\nexcept* ImportError:\n    raise\nelse:\n    from mindgrad import ops",
    "with": "import contextlib\nwith contextlib.suppress(ImportError):\n    from mindgrad import ops",
    "for": "for _ in range(1):\n    from mindgrad import ops",
    "for else": "for _ in ():\n    pass\nelse:\n    from mindgrad import ops",
    "while": "while True:\n    from mindgrad import ops\n    break",
    "match": "match 1:\n    case 1:\n        from mindgrad import ops",
    "several": "try:\n    if True:\n        with open(__file__):\n            from mindgrad import ops\nfinally:\n    pass",
    "assigned": "import mindgrad\nops = mindgrad.ops",
    "function": "def load():\n    from mindgrad import ops\n    return ops\nops = load()",
    "global": "def load():\n    global ops\n    from mindgrad import ops\nload()",
    "class": "class Names:\n    from mindgrad import ops\nops = Names.ops",
    "class global": "class Names:\n    global ops\n    from mindgrad import ops",
    "both": "class Names:\n    from mindgrad import ops\nif Names:\n    import mindgrad.ops as ops",
}  # fmt: skip

FUNCTIONS = textwrap.dedent(
    """

    def function(x):
        while ops.abs(x).sum() > 1.0:
            x = ops.sin(x) / 2
        return ops.sum(x)

    def outside():
        from mindgrad import ops as inner_ops

        def inside(x):
            return inner_ops.sum(ops.abs(inner_ops.sin(x)))

        return inside

    class Owner:
        from mindgrad import ops as own

        def method(self, x):
            return self.own.sum(ops.sin(x) / Owner.own.abs(x))

    inside = outside()
    method = Owner().method.__func__
    first, second = lambda x: ops.sin(x), lambda x: ops.cos(x)
    functions = [function, outside, inside, method, first, second]
    """
)


def module_of(text, file):
    file.write_text(text)
    spec = importlib.util.spec_from_file_location("looked_up", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", BEGINNINGS)
def test_find_source_reads_modules_with_any_import(name, tmp_path):
    module = module_of(BEGINNINGS[name] + FUNCTIONS, tmp_path / "program.py")
    texts = [ast.unparse(find_source(function).node) for function in module.functions]
    assert [text.split("(")[0] for text in texts[:4]] == [
        "def function", "def outside", "def inside", "def method"
    ]  # fmt: skip
    assert "ops.sin(x)" in texts[4]
    assert "ops.cos(x)" in texts[5]
    assert ms.jit(module.function)(Tensor([2.0, 0.5])) == module.function(Tensor([2.0, 0.5]))


@pytest.mark.parametrize("name", BEGINNINGS)
def test_find_source_refuses_a_module_that_was_edited(name, tmp_path):
    file = tmp_path / "program.py"
    function = module_of(BEGINNINGS[name] + FUNCTIONS, file).function
    file.write_text(BEGINNINGS[name] + FUNCTIONS.replace("sin(x) / 2", "cos(x) / 2"))
    with pytest.raises(NoSource, match="does not match the running program"):
        find_source(function)


def test_find_source_reads_cells_that_are_compiled_by_statement():
    text = "from mindgrad import ops\ndef function(x):\n    return ops.sin(x)\n"
    linecache.cache["<cell 1>"] = len(text), None, text.splitlines(keepends=True), "<cell 1>"
    names = {}
    for statement in ast.parse(text).body:
        exec(compile(ast.Module([statement], []), "<cell 1>", "exec", dont_inherit=True), names)
    assert ast.unparse(find_source(names["function"]).node).endswith("return ops.sin(x)")
