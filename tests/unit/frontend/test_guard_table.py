"""Guards of compiled functions: after any change of Python state the compiled result equals the eager one.

Every entry of the table makes a function that multiplies by 2 and a change after which it multiplies by 3. It is compiled in
five ways. Entries of ``CONSTANTS`` are beyond the rule on the page "Graph mode": their programs keep the first value.
"""

import array
import collections
import contextlib
import contextvars
import copy
import dataclasses
import enum
import functools
import itertools
import linecache
import operator
import os
import subprocess
import sys
import types
import weakref

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops

TWO, THREE = np.array([2.0], np.float32), np.array([3.0], np.float32)


# -- the ways of compiling --------------------------------------------------------------------------


class _Around(nn.Cell):
    def __init__(self, f):
        super().__init__()
        self.f = f

    def construct(self, x):
        return self.f(x)


class _Owner:
    def __init__(self, f):
        self.f = f

    @ms.jit
    def run(self, x):
        return self.f(x)


def _jit(f):
    return ms.jit(f)


def _method(f):
    return _Owner(f).run


def _graph(f):
    return _in_graph_mode(f if isinstance(f, nn.Cell) else _Around(f))


def _gradient(f):
    cell = f if isinstance(f, nn.Cell) else _Around(f)
    gradient = ms.grad(lambda x: cell(x).sum())
    return _in_graph_mode(gradient)


def _nested(f):
    inner = ms.jit(f)
    return ms.jit(lambda x: inner(x))


def _in_graph_mode(f):
    def run(x):
        ms.set_context(mode=ms.GRAPH_MODE)
        try:
            return f(x)
        finally:
            ms.set_context(mode=ms.PYNATIVE_MODE)

    return run


WAYS = [_jit, _method, _graph, _gradient, _nested]

# -- the table --------------------------------------------------------------------------------------

CASES = {}
CONSTANTS = {}


def case(make):
    CASES[make.__name__] = make
    return make


def constant(make):
    CONSTANTS[make.__name__] = make
    return make


class Scale(nn.Cell):
    """A Cell that multiplies by its attribute."""

    factor = 2.0

    def __init__(self):
        super().__init__()
        self.k = 2.0

    def construct(self, x):
        return x * self.k


class Three(nn.Cell):
    def construct(self, x):
        return x * 3.0


class Two(nn.Cell):
    def construct(self, x):
        return x * 2.0


class Inner(nn.Cell):
    """A Cell with a Cell in it."""

    def __init__(self):
        super().__init__()
        self.inner = Scale()

    def construct(self, x):
        return self.inner(x)


@case
def attribute_of_a_cell():
    net = Scale()
    return net, lambda: setattr(net, "k", 3.0)


@case
def attribute_of_a_nested_cell():
    net = Inner()
    return net, lambda: setattr(net.inner, "k", 3.0)


@case
def nested_cell_replaced():
    net = Inner()
    return net, lambda: setattr(net, "inner", Three())


@case
def nested_cell_replaced_by_insert_child():
    net = Inner()
    return net, lambda: net.insert_child_to_cell("inner", Three())


@case
def method_of_a_base_called_by_super():
    class Base:
        def scaled(self, x):
            return x * 2.0

    class Derived(Base):
        def scaled(self, x):
            return super().scaled(x)

    owner = Derived()
    return lambda x: owner.scaled(x), lambda: setattr(Base, "scaled", lambda self, x: x * 3.0)


@case
def construct_of_a_base_called_by_super():
    class Base(nn.Cell):
        def construct(self, x):
            return x * 2.0

    class Derived(Base):
        def construct(self, x):
            return super().construct(x)

    return Derived(), lambda: setattr(Base, "construct", lambda self, x: x * 3.0)


@case
def attribute_of_a_base_read_by_super():
    class Base:
        k = 2.0

    class Derived(Base):
        def scaled(self, x):
            return x * super().k

    owner = Derived()
    return lambda x: owner.scaled(x), lambda: setattr(Base, "k", 3.0)


@case
def method_called_by_super_inserted_between():
    class Base:
        def scaled(self, x):
            return x * 2.0

    class Middle(Base):
        pass

    class Derived(Middle):
        def scaled(self, x):
            return super().scaled(x)

    owner = Derived()
    return lambda x: owner.scaled(x), lambda: setattr(Middle, "scaled", lambda self, x: x * 3.0)


@case
def attribute_set_by_object_setattr():
    net = Scale()
    return net, lambda: object.__setattr__(net, "k", 3.0)


@case
def attribute_set_in_the_dict_of_a_cell():
    net = Scale()
    return net, lambda: net.__dict__.update(k=3.0)


@case
def attribute_of_a_nested_cell_set_in_its_dict():
    net = Inner()
    return net, lambda: operator.setitem(vars(net.inner), "k", 3.0)


@case
def attribute_deleted_so_that_the_class_has_it():
    class Net(Scale):
        k = 3.0

    net = Net()
    return net, lambda: delattr(net, "k")


@case
def class_attribute_of_a_cell():
    class Net(nn.Cell):
        factor = 2.0

        def construct(self, x):
            return x * self.factor

    return Net(), lambda: setattr(Net, "factor", 3.0)


@case
def class_attribute_of_a_base_of_a_cell():
    class Base(nn.Cell):
        factor = 2.0

    class Net(Base):
        def construct(self, x):
            return x * self.factor

    return Net(), lambda: setattr(Base, "factor", 3.0)


@case
def class_attribute_of_a_cell_read_by_the_class():
    class Net(nn.Cell):
        factor = 2.0

        def construct(self, x):
            return x * Net.factor

    return Net(), lambda: setattr(Net, "factor", 3.0)


@case
def class_attribute_hidden_by_one_of_the_cell():
    class Net(nn.Cell):
        factor = 2.0

        def construct(self, x):
            return x * self.factor

    net = Net()
    return net, lambda: setattr(net, "factor", 3.0)


@case
def class_attribute_hidden_in_a_subclass():
    class Base(nn.Cell):
        factor = 2.0

    class Net(Base):
        def construct(self, x):
            return x * self.factor

    return Net(), lambda: setattr(Net, "factor", 3.0)


@case
def class_of_a_cell_replaced():
    class Other(Scale):
        def construct(self, x):
            return x * 3.0

    net = Scale()
    return net, lambda: setattr(net, "__class__", Other)


@case
def construct_replaced_on_the_class():
    class Net(nn.Cell):
        def construct(self, x):
            return x * 2.0

    return Net(), lambda: setattr(Net, "construct", lambda self, x: x * 3.0)


@case
def method_replaced_on_the_class():
    class Net(nn.Cell):
        def helper(self, x):
            return x * 2.0

        def construct(self, x):
            return self.helper(x)

    return Net(), lambda: setattr(Net, "helper", lambda self, x: x * 3.0)


@case
def method_of_a_base_replaced_on_the_subclass():
    class Base(nn.Cell):
        def helper(self, x):
            return x * 2.0

    class Net(Base):
        def construct(self, x):
            return self.helper(x)

    return Net(), lambda: setattr(Net, "helper", lambda self, x: x * 3.0)


@case
def method_replaced_on_the_cell():
    class Net(nn.Cell):
        def helper(self, x):
            return x * 2.0

        def construct(self, x):
            return self.helper(x)

    net = Net()
    return net, lambda: setattr(net, "helper", lambda x: x * 3.0)


@case
def property_replaced_on_the_class():
    class Net(nn.Cell):
        @property
        def factor(self):
            return 2.0

        def construct(self, x):
            return x * self.factor

    return Net(), lambda: setattr(Net, "factor", property(lambda self: 3.0))


@case
def property_that_hides_an_attribute():
    class Net(Scale):
        pass

    return Net(), lambda: setattr(Net, "k", property(lambda self: 3.0))


@case
def static_method_replaced():
    class Net(nn.Cell):
        @staticmethod
        def factor():
            return 2.0

        def construct(self, x):
            return x * self.factor()

    return Net(), lambda: setattr(Net, "factor", staticmethod(lambda: 3.0))


@case
def class_method_replaced():
    class Net(nn.Cell):
        @classmethod
        def factor(cls):
            return 2.0

        def construct(self, x):
            return x * self.factor()

    return Net(), lambda: setattr(Net, "factor", classmethod(lambda cls: 3.0))


@case
def code_of_a_method_replaced():
    class Net(nn.Cell):
        def construct(self, x):
            return x * 2.0

    return Net(), lambda: setattr(Net.construct, "__code__", Three.construct.__code__)


@case
def code_of_a_function_replaced():
    def f(x):
        return x * 2.0

    def g(x):
        return x * 3.0

    return lambda x: f(x), lambda: setattr(f, "__code__", g.__code__)


@case
def code_of_the_compiled_function_replaced():
    def f(x):
        return x * 2.0

    def g(x):
        return x * 3.0

    return f, lambda: setattr(f, "__code__", g.__code__)


def _containers(read):
    class Net(nn.Cell):
        def __init__(self, layers):
            super().__init__()
            self.layers = layers

        def construct(self, x):
            return read(self.layers, x)

    return Net


def _item(layers, x):
    return layers[0](x)


def _each(layers, x):
    for layer in layers:
        x = layer(x)
    return x


def _length(layers, x):
    return x * len(layers)


def _called(layers, x):
    return layers(x)


def _values(layers, x):
    for layer in layers.values():
        x = layer(x)
    return x


for _kind in (nn.CellList, nn.SequentialCell, list):
    for _read in (_item, _each, _called):
        if _read is not _called or _kind is nn.SequentialCell:

            def _replaced(kind=_kind, read=_read):
                layers = kind([Two()])
                return _containers(read)(layers), lambda: operator.setitem(layers, 0, Three())

            CASES[f"item_of_{_kind.__name__}_read_by{_read.__name__}"] = _replaced
for _kind in (nn.CellList, list):

    def _appended(kind=_kind):
        layers = kind([Two(), Two()])
        return _containers(_length)(layers), lambda: layers.append(Two())

    CASES[f"append_to_{_kind.__name__}_read_by_len"] = _appended
for _kind in (nn.CellDict, dict):
    for _read in (lambda layers, x: layers["a"](x), _values):

        def _set(kind=_kind, read=_read):
            layers = kind({"a": Two()})
            return _containers(read)(layers), lambda: layers.update({"a": Three()})

        CASES[f"item_of_{_kind.__name__}_read_by{_read.__name__}"] = _set


@case
def item_of_a_cell_list_set_by_setattr():
    layers = nn.CellList([Two()])
    return _containers(_each)(layers), lambda: setattr(layers, "0", Three())


@case
def item_of_a_cell_list_inserted_and_deleted():
    layers = nn.CellList([Two()])

    def change():
        layers.insert(0, Three())
        del layers[1]

    return _containers(_each)(layers), change


@case
def item_of_a_global_cell_list():
    layers = nn.CellList([Two()])
    return lambda x: layers[0](x), lambda: operator.setitem(layers, 0, Three())


@case
def item_of_a_tuple_of_lists_of_cells():
    layers = ([Two()],)
    return lambda x: layers[0][0](x), lambda: operator.setitem(layers[0], 0, Three())


@case
def weight_replaced_by_a_parameter():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(TWO), name="w")

        def construct(self, x):
            return x * self.w

    net = Net()
    return net, lambda: setattr(net, "w", Parameter(Tensor(THREE), name="w"))


@case
def weight_replaced_in_the_dict():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(TWO), name="w")

        def construct(self, x):
            return x * self.w

    net = Net()

    def change():
        new = Parameter(Tensor(THREE), name="w")
        net._params["w"] = new
        net.__dict__["w"] = new

    return net, change


def _weighted(change):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(TWO), name="w")

        def construct(self, x):
            return x * self.w

    net = Net()
    return net, lambda: change(net.w)


@case
def data_of_a_weight_set():
    return _weighted(lambda w: w.set_data(Tensor(THREE)))


@case
def dtype_of_a_weight_changed():
    return _weighted(lambda w: (w.set_dtype(ms.float64), w.set_data(Tensor(THREE))))


@case
def value_of_a_weight_assigned():
    return _weighted(lambda w: ops.assign(w, Tensor(THREE)))


@case
def requires_grad_changed():
    net, _ = _weighted(None)
    return (lambda x: net(x) * (1.0 if net.w.requires_grad else 1.5)), (
        lambda: setattr(net.w, "requires_grad", False)
    )


@case
def set_train_of_a_cell():
    class Net(nn.Cell):
        def construct(self, x):
            return x * 3.0 if self.training else x * 2.0

    net = Net()
    return net, lambda: net.set_train()


@case
def parameter_list():
    weights = [Parameter(Tensor(TWO), name="a")]
    return lambda x: x * weights[0], lambda: operator.setitem(weights, 0, Parameter(Tensor(THREE), name="b"))


# -- variables --------------------------------------------------------------------------------------


def _global_function(value, text="def f(x):\n    return x * k\n"):
    names = {"k": value, "ops": ops, "__name__": "users"}
    file = f"<guards {len(_SOURCES)}>"
    _SOURCES.append(text)
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), names)
    return names["f"], names


_SOURCES: list = []


@case
def global_number():
    f, names = _global_function(2.0)
    return f, lambda: names.update(k=3.0)


@case
def global_tensor():
    f, names = _global_function(Tensor(TWO))
    return f, lambda: names.update(k=Tensor(THREE))


@case
def global_function():
    f, names = _global_function(lambda: 2.0, "def f(x):\n    return x * k()\n")
    return f, lambda: names.update(k=lambda: 3.0)


@case
def global_that_is_a_function_of_the_library():
    f, names = _global_function(ops.zeros_like, "def f(x):\n    return x * 2.0 + x * k(x)\n")
    return f, lambda: names.update(k=ops.ones_like)


@case
def global_that_is_a_class_of_the_library():
    f, names = _global_function(nn.ReLU, "def f(x):\n    return x * 3.0 - k()(x) * (x / x)\n")

    class Zero(nn.Cell):
        def construct(self, x):
            return ops.zeros_like(x)

    return f, lambda: names.update(k=Zero)


@case
def global_that_is_a_module():
    f, names = _global_function(
        types.SimpleNamespace(tanh=lambda x: 2.0), "def f(x):\n    return x * k.tanh(x)\n"
    )
    return f, lambda: names.update(k=types.SimpleNamespace(tanh=lambda x: 3.0))


@case
def global_that_hides_a_builtin():
    f, names = _global_function(None, "def f(x):\n    return x * (abs(-2.0))\n")
    return f, lambda: names.update(abs=lambda x: 3.0)


@case
def global_dtype():
    f, names = _global_function(
        ms.int32, "def f(x):\n    return x * (2.0 if k == 'int' or str(k) == 'Int32' else 3.0)\n"
    )
    return f, lambda: names.update(k=ms.float32)


@case
def variable_of_a_closure():
    k = 2.0

    def change():
        nonlocal k
        k = 3.0

    return lambda x: x * k, change


@case
def variable_of_a_closure_of_a_helper():
    k = 2.0

    def helper(x):
        return x * k

    def change():
        nonlocal k
        k = 3.0

    return lambda x: helper(x), change


@case
def defaults_replaced():
    def f(x, k=2.0):
        return x * k

    return lambda x: f(x), lambda: setattr(f, "__defaults__", (3.0,))


@case
def defaults_of_the_compiled_function_replaced():
    def f(x, k=2.0):
        return x * k

    return f, lambda: setattr(f, "__defaults__", (3.0,))


@case
def list_in_defaults():
    def f(x, k=[2.0]):  # noqa: B006
        return x * k[0]

    return lambda x: f(x), lambda: operator.setitem(f.__defaults__[0], 0, 3.0)


@case
def array_in_defaults():
    def f(x, k=TWO.copy()):  # noqa: B008
        return x * Tensor(k)

    return lambda x: f(x), lambda: operator.setitem(f.__defaults__[0], 0, 3.0)


@case
def keyword_defaults_replaced():
    def f(x, *, k=2.0):
        return x * k

    return lambda x: f(x), lambda: setattr(f, "__kwdefaults__", {"k": 3.0})


@case
def keyword_default_changed():
    def f(x, *, k=2.0):
        return x * k

    return f, lambda: operator.setitem(f.__kwdefaults__, "k", 3.0)


@case
def list_in_keyword_defaults():
    def f(x, *, k=[2.0]):  # noqa: B006
        return x * k[0]

    return lambda x: f(x), lambda: operator.setitem(f.__kwdefaults__["k"], 0, 3.0)


@case
def list_in_a_partial():
    held = [2.0]
    f = functools.partial(lambda k, x: x * k[0], held)
    return lambda x: f(x), lambda: operator.setitem(held, 0, 3.0)


@case
def list_in_a_compiled_partial():
    held = [2.0]
    return functools.partial(lambda k, x: x * k[0], held), lambda: operator.setitem(held, 0, 3.0)


@case
def keyword_of_a_partial():
    f = functools.partial(lambda x, k: x * k, k=2.0)
    return lambda x: f(x), lambda: operator.setitem(f.keywords, "k", 3.0)


@case
def keyword_of_a_compiled_partial():
    f = functools.partial(lambda x, k: x * k, k=2.0)
    return f, lambda: operator.setitem(f.keywords, "k", 3.0)


@case
def function_of_a_module():
    module = types.ModuleType("of_the_user")
    module.k = lambda: 2.0
    return lambda x: x * module.k(), lambda: setattr(module, "k", lambda: 3.0)


@case
def number_of_a_module():
    module = types.ModuleType("of_the_user")
    module.k = 2.0
    return lambda x: x * module.k, lambda: setattr(module, "k", 3.0)


@case
def class_of_a_module():
    module = types.ModuleType("of_the_user")
    module.k = Two
    return lambda x: module.k()(x), lambda: setattr(module, "k", Three)


@case
def module_in_a_module():
    module, other, inner = (types.ModuleType(name) for name in ("a", "b", "c"))
    module.inner, inner.k, other.k = inner, 2.0, 3.0
    return lambda x: x * module.inner.k, lambda: setattr(module, "inner", other)


@case
def name_imported_inside_the_function():
    module = sys.modules["of_the_user"] = types.ModuleType("of_the_user")
    module.k = 2.0

    def f(x):
        from of_the_user import k

        return x * k

    return f, lambda: setattr(module, "k", 3.0)


# -- functions that Python's library calls ----------------------------------------------------------

FACTOR = [2.0]


def _scaled(x):
    return x * FACTOR[0]


def _set_factor(value):
    FACTOR[0] = value


@pytest.fixture(autouse=True)
def factor():
    _set_factor(2.0)


@case
def function_behind_a_cache():
    cached = functools.lru_cache(_scaled)

    def change():
        _set_factor(3.0)
        cached.cache_clear()

    return lambda x: cached(x), change


@case
def function_that_operator_calls():
    return lambda x: operator.call(_scaled, x), lambda: _set_factor(3.0)


@case
def function_that_a_context_decorates():
    @contextlib.contextmanager
    def entered():
        yield

    decorated = entered()(_scaled)
    return lambda x: decorated(x), lambda: _set_factor(3.0)


@case
def key_of_a_sort():
    def by_factor(value):
        return abs(value - FACTOR[0])

    def f(x):
        values = [2.0, 3.0]
        values.sort(key=by_factor)
        return x * values[0]

    return f, lambda: _set_factor(3.0)


@case
def function_registered_for_a_class():
    @functools.singledispatch
    def scaled(factor, x):
        return x * 2.0

    return lambda x: scaled(1.5, x), lambda: scaled.register(float, lambda factor, x: x * 3.0)


@case
def global_of_a_function_registered_for_a_class():
    scaled = functools.singledispatch(lambda factor, x: x)
    scaled.register(float, lambda factor, x: _scaled(x))
    return lambda x: scaled(1.5, x), lambda: _set_factor(3.0)


@case
def function_of_starmap():
    return lambda x: sum(itertools.starmap(_scaled, [(x,)])), lambda: _set_factor(3.0)


# -- methods that Python calls ----------------------------------------------------------------------


def _factor():
    return FACTOR[0]


class Special:
    """An object whose special methods read a global variable, some in a function that they call."""

    def __init__(self):
        self.k = FACTOR[0]

    @property
    def computed(self):
        return _factor()

    def _own(self):
        return _factor()

    def __add__(self, x):
        return x * self._own()

    def __radd__(self, number):
        return FACTOR[0]

    def __getitem__(self, index):
        return _factor()

    def __len__(self):
        return int(FACTOR[0])

    def __bool__(self):
        return FACTOR[0] > 2.5

    def __iter__(self):
        return iter([FACTOR[0]])

    def __enter__(self):
        return FACTOR[0]

    def __exit__(self, *error):
        pass

    def __float__(self):
        return FACTOR[0]

    def __eq__(self, other):
        return FACTOR[0] > 2.5

    def __hash__(self):
        return 0


@dataclasses.dataclass
class Processed:
    k: float = 1.0

    def __post_init__(self):
        self.k = FACTOR[0]


def _entered(x):
    with SPECIAL as k:
        return x * k


def _matched(x):
    match SPECIAL:
        case Special(computed=k):
            return x * k


SPECIAL = Special()
for _name, _function in {
    "init": lambda x: x * Special().k,
    "post_init": lambda x: x * Processed().k,
    "add": lambda x: SPECIAL + x,
    "radd": lambda x: x * (1.0 + SPECIAL),
    "getitem": lambda x: x * SPECIAL[0],
    "len": lambda x: x * len(SPECIAL),
    "bool": lambda x: x * (3.0 if SPECIAL else 2.0),
    "iter": lambda x: x * sum(SPECIAL),
    "enter": _entered,
    "float": lambda x: x * float(SPECIAL),
    "eq": lambda x: x * (3.0 if SPECIAL == 1 else 2.0),
    "property_that_a_pattern_reads": _matched,
}.items():
    CASES[f"special_method_{_name}"] = lambda f=_function: (f, lambda: _set_factor(3.0))


# -- objects ----------------------------------------------------------------------------------------


class Plain:
    factor = 2.0

    def __init__(self, k=2.0):
        self.k = k

    def times(self, x):
        return x * self.k


@case
def attribute_of_an_object():
    o = Plain()
    return lambda x: x * o.k, lambda: setattr(o, "k", 3.0)


@case
def attribute_of_an_object_in_its_dict():
    o = Plain()
    return lambda x: x * o.k, lambda: vars(o).update(k=3.0)


@case
def attribute_read_in_a_method():
    o = Plain()
    return lambda x: o.times(x), lambda: setattr(o, "k", 3.0)


@case
def attribute_read_by_getattr():
    o = Plain()
    return lambda x: x * getattr(o, "k"), lambda: setattr(o, "k", 3.0)  # noqa: B009


@case
def attribute_read_by_vars():
    o = Plain()
    return lambda x: x * vars(o)["k"], lambda: setattr(o, "k", 3.0)


@case
def attribute_read_by_attrgetter():
    o, get = Plain(), operator.attrgetter("k")
    return lambda x: x * get(o), lambda: setattr(o, "k", 3.0)


@case
def attribute_of_an_object_in_a_list():
    o = [Plain()]
    return lambda x: x * o[0].k, lambda: setattr(o[0], "k", 3.0)


@case
def class_attribute_of_an_object():
    class Other(Plain):
        factor = 2.0

    o = Other()
    return lambda x: x * o.factor, lambda: setattr(Other, "factor", 3.0)


@case
def method_of_an_object_replaced():
    class Other(Plain):
        def times(self, x):
            return x * 2.0

    o = Other()
    return lambda x: o.times(x), lambda: setattr(Other, "times", lambda self, x: x * 3.0)


@case
def class_of_an_object_replaced():
    class A:
        def times(self, x):
            return x * 2.0

    class B:
        def times(self, x):
            return x * 3.0

    o = A()
    return lambda x: o.times(x), lambda: setattr(o, "__class__", B)


@case
def call_of_an_object_replaced():
    class A:
        def __call__(self, x):
            return x * 2.0

    o = A()
    return lambda x: o(x), lambda: setattr(A, "__call__", lambda self, x: x * 3.0)


@case
def operator_of_an_object():
    class A:
        def __init__(self):
            self.k = 2.0

        def __getitem__(self, key):
            return self.k

    o = A()
    return lambda x: x * o[0], lambda: setattr(o, "k", 3.0)


@case
def slot_of_an_object():
    class A:
        __slots__ = ("k",)

    o = A()
    o.k = 2.0
    return lambda x: x * o.k, lambda: setattr(o, "k", 3.0)


@case
def attribute_behind_getattr():
    class A:
        def __init__(self):
            self.held = {"k": 2.0}

        def __getattr__(self, name):
            return self.__dict__["held"][name]

    o = A()
    return lambda x: x * o.k, lambda: o.held.update(k=3.0)


@case
def attribute_of_a_function():
    def helper(x):
        return x * helper.k

    helper.k = 2.0
    return lambda x: helper(x), lambda: setattr(helper, "k", 3.0)


@case
def field_of_a_dataclass():
    @dataclasses.dataclass
    class Config:
        k: float = 2.0

    o = Config()
    return lambda x: x * o.k, lambda: setattr(o, "k", 3.0)


@case
def list_in_a_dataclass():
    @dataclasses.dataclass
    class Config:
        k: list

    o = Config([2.0])
    return lambda x: x * o.k[0], lambda: operator.setitem(o.k, 0, 3.0)


@case
def simple_namespace():
    o = types.SimpleNamespace(k=2.0)
    return lambda x: x * o.k, lambda: setattr(o, "k", 3.0)


@case
def enumeration():
    class Kind(enum.Enum):
        A = 2.0
        B = 3.0

    o = Plain(Kind.A)
    return lambda x: x * o.k.value, lambda: setattr(o, "k", Kind.B)


@case
def dictionary_of_a_cell():
    net = Scale()
    net.config = {"k": [2.0]}
    return lambda x: x * net.config["k"][0], lambda: operator.setitem(net.config["k"], 0, 3.0)


@case
def dataclass_of_a_cell():
    @dataclasses.dataclass
    class Config:
        k: float = 2.0

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.config = Config()

        def construct(self, x):
            return x * self.config.k

    net = Net()
    return net, lambda: setattr(net.config, "k", 3.0)


# -- containers -------------------------------------------------------------------------------------

_HELD = {
    "list": lambda: ([2.0], 0),
    "deque": lambda: (collections.deque([2.0]), 0),
    "UserList": lambda: (collections.UserList([2.0]), 0),
    "dict": lambda: ({"a": 2.0}, "a"),
    "OrderedDict": lambda: (collections.OrderedDict(a=2.0), "a"),
    "defaultdict": lambda: (collections.defaultdict(float, a=2.0), "a"),
    "UserDict": lambda: (collections.UserDict(a=2.0), "a"),
    "ChainMap": lambda: (collections.ChainMap({"a": 2.0}), "a"),
    "bytearray": lambda: (bytearray(b"\x02"), 0),
    "array": lambda: (array.array("d", [2.0]), 0),
    "array of objects": lambda: (np.array([2.0], object), 0),
    "small array": lambda: (np.array([2.0]), 0),
    "Tensor": lambda: (Tensor([2.0]), 0),
}
for _name, _made in _HELD.items():

    def _variable(made=_made):
        held, key = made()
        return lambda x: x * held[key], lambda: operator.setitem(held, key, 3)

    def _attribute(made=_made):
        held, key = made()
        o = Plain(held)
        return lambda x: x * o.k[key], lambda: operator.setitem(held, key, 3)

    def _nested_one(made=_made):
        held, key = made()
        outer = {"o": (held,)}
        return lambda x: x * outer["o"][0][key], lambda: operator.setitem(held, key, 3)

    CASES[f"{_name}_in_a_variable"] = _variable
    CASES[f"{_name}_in_an_attribute"] = _attribute
    CASES[f"{_name}_in_a_dict_and_a_tuple"] = _nested_one


@case
def proxy_of_a_dict():
    under = {"a": 2.0}
    proxy = types.MappingProxyType(under)
    return lambda x: x * proxy["a"], lambda: under.update(a=3.0)


@case
def set_of_numbers():
    held = {2.0}
    return lambda x: x * max(held), lambda: held.add(3.0)


@case
def dictionary_order():
    held = {"b": 2.0, "a": 3.0}

    def change():
        held["b"] = held.pop("b")

    return lambda x: x * next(iter(held.values())), change


@case
def context_variable():
    held = contextvars.ContextVar("k", default=2.0)
    return lambda x: x * held.get(), lambda: held.set(3.0)


@case
def bound_method_saved_outside():
    o = Plain()
    times = o.times
    return lambda x: times(x), lambda: setattr(o, "k", 3.0)


@case
def method_of_a_list_saved_outside():
    held = [2.0]
    get = held.__getitem__
    return lambda x: x * get(0), lambda: operator.setitem(held, 0, 3.0)


# -- code that is not converted, and rarer ways ------------------------------------------------------


@case
def global_of_a_generator_function():
    text = "def each():\n    for v in k:\n        yield v\n\ndef f(x):\n    return x * sum(each())\n"
    f, names = _global_function([1.0, 1.0], text)
    return f, lambda: names["k"].append(1.0)


@case
def helper_of_a_generator_function():
    text = "def each():\n    yield k()\n\ndef f(x):\n    return x * sum(each())\n"
    f, names = _global_function(lambda: 2.0, text)
    return f, lambda: names.update(k=lambda: 3.0)


@case
def object_of_a_generator_function():
    o = Plain()

    def each():
        yield o.k

    return lambda x: x * sum(each()), lambda: setattr(o, "k", 3.0)


@case
def global_read_by_globals():
    f, names = _global_function(2.0, "def f(x):\n    return x * globals()['k']\n")
    return f, lambda: names.update(k=3.0)


@case
def item_of_a_global_list_read_by_globals():
    held = [2.0]
    f, _ = _global_function(held, "def f(x):\n    return x * globals()['k'][0]\n")
    return f, lambda: operator.setitem(held, 0, 3.0)


@case
def global_of_a_function_given_to_map():
    f, names = _global_function(
        2.0, "def g(v):\n    return v * k\n\ndef f(x):\n    return sum(map(g, [x]))\n"
    )
    return f, lambda: names.update(k=3.0)


@case
def global_read_in_an_inner_function():
    text = "def f(x):\n    def g():\n        return k\n    return x * g()\n"
    f, names = _global_function(2.0, text)
    return f, lambda: names.update(k=3.0)


@case
def variable_of_a_decorator():
    held = {"k": 2.0}

    def decorated(f):
        @functools.wraps(f)
        def wrapper(x):
            return f(x) * held["k"]

        return wrapper

    return decorated(lambda x: x), lambda: held.update(k=3.0)


@case
def method_of_a_class_of_the_library_replaced():
    class Other(nn.ReLU):
        pass

    Other.construct = lambda self, x: x * 2.0
    return Other(), lambda: setattr(Other, "construct", lambda self, x: x * 3.0)


@case
def bases_of_a_class_replaced():
    class A:
        k = 2.0

    class B:
        k = 3.0

    class C(A):
        pass

    return lambda x: x * C.k, lambda: setattr(C, "__bases__", (B,))


@case
def attribute_that_was_not_there():
    o = Plain()
    return lambda x: x * getattr(o, "other", 2.0), lambda: setattr(o, "other", 3.0)


@case
def attribute_asked_for_by_hasattr():
    o = Plain()
    return lambda x: x * (3.0 if hasattr(o, "other") else 2.0), lambda: setattr(o, "other", 3.0)


@case
def key_that_was_not_there():
    held = {}
    return lambda x: x * held.get("k", 2.0), lambda: held.update(k=3.0)


@case
def list_in_a_named_tuple():
    held = collections.namedtuple("Held", "a")([2.0])
    return lambda x: x * held.a[0], lambda: operator.setitem(held.a, 0, 3.0)


@case
def list_behind_iter():
    class Rows:
        def __init__(self):
            self.rows = [2.0]

        def __iter__(self):
            return iter(self.rows)

    o = Rows()
    return lambda x: x * sum(o), lambda: o.rows.append(1.0)


@case
def property_of_an_object():
    class A:
        def __init__(self):
            self.held = 2.0

        @property
        def k(self):
            return self.held

    o = A()
    return lambda x: x * o.k, lambda: setattr(o, "held", 3.0)


@case
def property_of_an_object_replaced():
    class A:
        @property
        def k(self):
            return 2.0

    o = A()
    return lambda x: x * o.k, lambda: setattr(A, "k", property(lambda self: 3.0))


@case
def shape_of_an_array():
    held = np.full((1, 2), 1.0)
    return lambda x: x * (4 - held.ndim), lambda: held.resize((2,), refcheck=False)


@case
def item_of_a_chain_map():
    held = collections.ChainMap({}, {"k": 2.0})
    return lambda x: x * held["k"], lambda: operator.setitem(held, "k", 3.0)


@case
def global_read_by_eval():
    f, names = _global_function(2.0, "def f(x):\n    return x * eval('k')\n")
    return f, lambda: names.update(k=3.0)


def _environment(read):
    os.environ["MG_K"] = "2"
    return lambda x: x * float(read("MG_K")), lambda: operator.setitem(os.environ, "MG_K", "3")


@case
def environment_variable():
    return _environment(lambda name: os.environ[name])


@case
def environment_variable_by_get():
    return _environment(lambda name: os.environ.get(name, "1"))


@case
def environment_variable_by_getenv():
    return _environment(lambda name: os.getenv(name))


@case
def dict_of_a_cell_replaced():
    class A(nn.Cell):
        def __init__(self):
            super().__init__()
            self.k = 2.0

        def construct(self, x):
            return x * self.k

    net = A()
    return net, lambda: setattr(net, "__dict__", {**vars(net), "k": 3.0})


class _Single:
    """A class with one instance."""

    only = None

    def __new__(cls):
        if cls.only is None:
            cls.only = object.__new__(cls)
            cls.only.k = 2.0
        return cls.only


class _Kept(type):
    """Classes that keep their instances."""

    def __call__(cls, *args):
        kept = cls.__dict__.get("kept")
        if kept is None:
            cls.kept = kept = super().__call__(*args)
        return kept


class _KeptByClass(metaclass=_Kept):
    def __init__(self):
        self.k = 2.0


class _KeptWeakly:
    instances = weakref.WeakValueDictionary()

    def __new__(cls):
        instance = cls.instances.get(0)
        if instance is None:
            cls.instances[0] = instance = object.__new__(cls)
        return instance


class _KeptByCache:
    def __new__(cls):
        return _cached_instance(cls)


@functools.lru_cache(maxsize=4)
def _cached_instance(kind):
    return object.__new__(kind)


class _Member(enum.Enum):
    A = 1


def _of_instance(make):
    instance = make()
    instance.k = 2.0
    return lambda x: x * make().k, lambda: setattr(instance, "k", 3.0)


@case
def attribute_of_the_only_instance():
    return _of_instance(_Single)


@case
def attribute_of_an_instance_that_a_metaclass_keeps():
    return _of_instance(_KeptByClass)


@case
def attribute_of_an_instance_that_is_kept_weakly():
    return _of_instance(_KeptWeakly)


@case
def attribute_of_an_instance_in_a_cache():
    return _of_instance(_KeptByCache)


@case
def attribute_of_a_member_of_an_enum():
    return _of_instance(lambda: _Member(1))


def _of_object_in_an_object(read):
    outer, inner = _Plain(), _Plain()
    outer.held, inner.k = [inner], 2.0
    return lambda x: x * read(outer), lambda: setattr(inner, "k", 3.0)


class _Plain:
    first = property(lambda self: self.held[0])


@case
def object_in_an_object_that_deepcopy_copies():
    return _of_object_in_an_object(lambda owner: copy.deepcopy(owner).held[0].k)


@case
def object_in_an_object_that_attrgetter_reads():
    return _of_object_in_an_object(operator.attrgetter("first.k"))


@case
def attribute_of_a_dict_that_its_special_method_reads():
    class Missing(dict):
        def __missing__(self, key):
            return self.default

    held = Missing()
    held.default = 2.0
    return lambda x: x * held["k"], lambda: setattr(held, "default", 3.0)


class _Lazy:
    """A plain object with a property that is computed once."""

    k = 2.0

    @functools.cached_property
    def x(self):
        return self.k


def _generate_lazy(owner):
    yield owner.x


def _recomputed(owner):
    owner.k = 3.0
    del owner.x


@case
def cached_property_overwritten():
    owner = _Lazy()
    return lambda x: x * owner.x, lambda: setattr(owner, "x", 3.0)


@case
def cached_property_overwritten_in_dict():
    owner = _Lazy()
    return lambda x: x * owner.x, lambda: operator.setitem(vars(owner), "x", 3.0)


@case
def cached_property_deleted():
    owner = _Lazy()
    return lambda x: x * owner.x, lambda: _recomputed(owner)


@case
def cached_property_that_was_filled_before():
    owner = _Lazy()
    assert owner.x == 2.0
    return lambda x: x * owner.x, lambda: _recomputed(owner)


@case
def cached_property_read_by_operator():
    owner = _Lazy()
    return lambda x: x * operator.attrgetter("x")(owner), lambda: setattr(owner, "x", 3.0)


@case
def cached_property_read_by_a_generator():
    owner = _Lazy()
    return lambda x: x * sum(_generate_lazy(owner)), lambda: setattr(owner, "x", 3.0)


class _LazyScale(_Lazy, nn.Cell):
    def construct(self, x):
        return x * self.x


@case
def cached_property_of_a_cell_overwritten():
    net = _LazyScale()
    return net, lambda: operator.setitem(vars(net), "x", 3.0)


@case
def cached_property_of_a_cell_deleted():
    net = _LazyScale()
    return net, lambda: _recomputed(net)


# -- constants --------------------------------------------------------------------------------------


@constant
def elements_of_a_large_array():
    held = np.full(1 << 20, 2.0)
    return lambda x: x * held[0], lambda: operator.setitem(held, 0, 3.0)


X = np.array([1.0, 2.0], np.float32)


def _run(make, way):
    ms.set_context(mode=ms.PYNATIVE_MODE)
    f, change = make()
    h = way(f)
    factor = np.ones_like(X) if way is _gradient else X
    first = [h(Tensor(X)).asnumpy() for _ in range(2)]
    np.testing.assert_allclose(first, [2 * factor] * 2, rtol=1e-6)
    change()
    return h(Tensor(X)).asnumpy(), h(Tensor(X)).asnumpy(), factor


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__[1:])
@pytest.mark.parametrize("name", CASES)
def test_compiled_result_after_a_change_equals_eager(name, way):
    got, again, factor = _run(CASES[name], way)
    np.testing.assert_allclose([got, again], [3 * factor] * 2, rtol=1e-6)


@pytest.mark.filterwarnings("ignore::mindgrad.FrozenValueWarning")
@pytest.mark.parametrize("name", CONSTANTS)
def test_documented_constant_keeps_its_value(name):
    got, again, factor = _run(CONSTANTS[name], _jit)
    np.testing.assert_allclose([got, again], [2 * factor] * 2, rtol=1e-6)


_SECOND_PROCESS = """
import sys
import numpy as np
import mindgrad as ms
from mindgrad import Tensor, nn

k = float(sys.argv[1])
layers = nn.CellList([nn.ReLU() if k == 2 else nn.Tanh()])
config = {"k": [k]}
f = ms.jit(lambda x: layers[0](x) * config["k"][0])
x = np.array([0.5, 1.0])
print(np.allclose(f(Tensor(x)).asnumpy(), (x if k == 2 else np.tanh(x)) * k))
config["k"][0] = 5.0
layers[0] = nn.Sigmoid()
print(np.allclose(f(Tensor(x)).asnumpy(), 5 / (1 + np.exp(-x))))
"""


def test_program_from_the_disk_cache_has_the_state_of_its_own_process(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(_SECOND_PROCESS)
    for k in (2, 3):
        environment = {**os.environ, "MINDGRAD_CACHE_DIR": str(tmp_path / "cache")}
        command = [sys.executable, str(program), str(k)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
        assert done.stdout.split() == ["True", "True"], done.stderr
