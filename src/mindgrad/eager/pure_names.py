"""Tables of names that compute and have no other effect: in Python, in NumPy and in this package."""

from __future__ import annotations

import ast
import re

import numpy as np

from mindgrad.ir.dtype import DType
from mindgrad.ir.tensor import Tensor

__all__ = [
    "BUILTINS",
    "COMPUTING",
    "COMPUTING_PARTS",
    "CONTAINERS",
    "EFFECT",
    "FEW",
    "MATHEMATICS",
    "MUTATING",
    "NUMPY",
    "OF_CELLS",
    "OF_CLASSES",
    "OF_EVERY_CELL",
    "OF_PLAIN",
    "PLAIN",
    "READING",
    "of_tensors",
]

#: elements of a tensor, or an array, that is compared in each call; a larger one could change unseen
FEW = 4096
#: immutable values of Python, and element types
PLAIN = (
    bool, int, float, complex, str, bytes, range, slice, type(None), type(Ellipsis), DType, np.generic,
)  # fmt: skip
CONTAINERS = (list, dict, set)

#: statements and expressions that compute, or bind local variables
COMPUTING = (
    ast.Return, ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.If, ast.For, ast.While, ast.Pass,
    ast.Break, ast.Continue, ast.FunctionDef, ast.Lambda, ast.arguments, ast.arg, ast.Constant, ast.Name,
    ast.Attribute, ast.Subscript, ast.Slice, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp,
    ast.Tuple, ast.List, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
    ast.comprehension, ast.Call, ast.keyword, ast.Starred, ast.NamedExpr, ast.operator, ast.unaryop,
    ast.boolop, ast.cmpop, ast.expr_context,
)  # fmt: skip

BUILTINS = frozenset(
    [
        "abs", "all", "any", "bool", "complex", "dict", "divmod", "enumerate", "filter", "float", "int",
        "isinstance", "issubclass", "len", "list", "map", "max", "min", "pow", "range", "reversed", "round",
        "set", "slice", "sorted", "sum", "tuple", "zip",
    ]
)  # fmt: skip
#: those that read a container and keep nothing of it but its elements
READING = BUILTINS - {"map", "filter", "dict", "set"}
MATHEMATICS = frozenset(["math", "operator", "_operator", "cmath"])
#: functions of NumPy that compute, besides its ufuncs
NUMPY = frozenset(
    [
        "all", "any", "arange", "array", "asarray", "concatenate", "cumsum", "diag", "dot", "eye",
        "full", "identity", "linspace", "log2", "matmul", "max", "mean", "min", "ndim", "ones", "ones_like",
        "outer", "prod", "reshape", "shape", "size", "sqrt", "stack", "sum", "transpose", "tril", "triu",
        "zeros", "zeros_like",
    ]
)  # fmt: skip
#: parts of the package whose functions compute
COMPUTING_PARTS = (
    "ops", "mint", "numpy", "scipy", "api", "execution", "eager", "sparse", "solvers", "trace.custom",
    "trace.numbers", "trace.tracing", "ir", "rows", "control", "common.tensor", "nn", "_base",
)  # fmt: skip
#: functions and operators of the package that do something else
EFFECT = re.compile(r"(?i)print|summary|dump|hook|assign|insertgrad|callback|save|load|seed|state|set_|_$")
#: methods of a Cell that compute
OF_CELLS = frozenset(["construct", "trainable_params", "get_parameters", "parameters_dict"])
#: what changes containers of Python in place, and tensors
MUTATING = frozenset(
    [
        "append", "extend", "insert", "pop", "remove", "clear", "update", "setdefault", "sort", "reverse",
        "add", "discard", "popitem",
    ]
)  # fmt: skip
_CHANGES_TENSOR = re.compile(r"^_|_$|^set_|assign|itemset|inplace|fill_diagonal|init_data|flush|hook")
OF_PLAIN = frozenset(
    name for kind in (str, tuple, list, dict, set, int, float, range) for name in dir(kind) if name[0] != "_"
)
#: what is made with every Cell
OF_EVERY_CELL = frozenset(["_compiled", "_eager", "_custom", "_cells", "_derivatives"])
#: what Python itself puts into the dictionary of a class, and methods that a call does not reach
OF_CLASSES = frozenset(
    [
        "__init__", "__module__", "__qualname__", "__doc__", "__annotations__", "__dict__", "__weakref__",
        "__repr__", "__str__", "__firstlineno__", "__static_attributes__", "__annotate__",
        "__annotate_func__", "__parameters__", "__orig_bases__",
    ]
)  # fmt: skip


def of_tensors(name: str) -> bool:
    """Whether ``name`` is that of an attribute of tensors which changes nothing.

    >>> of_tensors("reshape"), of_tensors("add_")
    (True, False)
    """
    return hasattr(Tensor, name) and not _CHANGES_TENSOR.search(name)
