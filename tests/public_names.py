"""Public names that a test declares are taken back behind it."""

from collections.abc import Iterator
from contextlib import contextmanager

from mindgrad import Tensor, mint, numpy, ops
from mindgrad.core.ir.primitive import REGISTRY
from mindgrad.ops import functional, methods, operations, registry


@contextmanager
def restored() -> Iterator[None]:
    """Take back the rows and the names that come inside."""
    modules = [functional, ops, operations, mint, mint.special, mint.nn.functional, numpy]
    modules[1].Add  # noqa: B018 - which loads the classes
    count = len(registry._DECLARED)
    tables = [REGISTRY, methods.METHODS, registry._FORMS, *registry._FORMS.values(), *map(vars, modules)]
    names = [set(table) for table in tables]
    lists = [(module, list(module.__all__)) for module in modules]
    try:
        yield
    finally:
        for name in set(methods.METHODS) - names[1]:
            delattr(Tensor, name)
        for table, before in zip(tables, names, strict=True):
            for name in set(table) - before:
                del table[name]
        del registry._DECLARED[count:]
        registry._READ.update({path: min(read, count) for path, read in registry._READ.items()})
        for module, exported in lists:
            module.__all__[:] = exported
