"""Attributes that special methods, constructors and properties read are compared at each call."""

import dataclasses
import functools
import types

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import CompileError, Tensor
from mindgrad.frontend.named_reads import NamedReads
from tests.tolerances import assert_close

X = np.array([1.0, 2.0], np.float32)


class Settings:
    """Values that the classes below read."""

    def __init__(self):
        self.k = 2.0
        self.table = {"k": 2.0}
        self.inner = types.SimpleNamespace(k=2.0)


class Slotted:
    __slots__ = ("k",)


class Shared:
    k = 2.0
    table = {"k": 2.0}
    settings = Settings()
    slotted = Slotted()


SETTINGS = Settings()


class FromClass(Shared):
    def __init__(self):
        self.value = self.k


class FromType(Shared):
    def __init__(self):
        self.value = type(self).table["k"]


class FromOtherClass:
    def __init__(self):
        self.value = Shared.k


class FromObject:
    def __init__(self):
        self.value = SETTINGS.k


class FromItem:
    def __init__(self):
        self.value = SETTINGS.table["k"]


class FromNamespace:
    def __init__(self):
        self.value = SETTINGS.inner.k


class FromDeep(Shared):
    def __init__(self):
        self.value = self.settings.inner.k


class FromSlot(Shared):
    def __init__(self):
        self.value = self.slotted.k


class FromArgument:
    def __init__(self, owner, *others):
        self.value = owner.settings.k


class FromSuper(FromClass):
    def __init__(self):
        super().__init__()


class FromHelper(Shared):
    def __init__(self):
        self.value = self._helper(SETTINGS)

    @staticmethod
    def _helper(settings):
        return settings.inner.k


class FromAnyName:
    def __init__(self):
        self.value = getattr(SETTINGS, "".join(["k"]))


class FromDefault:
    def __init__(self, settings=SETTINGS):
        self.value = settings.k


class FromFactory:
    def __new__(cls):
        made = object.__new__(cls)
        made.value = SETTINGS.k
        return made


class _Meta(type):
    def __call__(cls):
        made = super().__call__()
        made.value = cls.k
        return made


class FromMetaclass(Shared, metaclass=_Meta):
    pass


@dataclasses.dataclass
class FromField:
    value: float = 2.0


class Borg:
    """An object whose attributes are those of all others of its class."""

    shared = {"value": 2.0}

    def __init__(self):
        self.__dict__ = self.shared


class Lengthy(Shared):
    held = SETTINGS

    def __len__(self):
        return int(self.held.inner.k)

    def __getitem__(self, index):
        return Shared.k

    def __contains__(self, other):
        return other.k > 2.5

    @property
    def computed(self):
        return self.table["k"]

    @functools.cached_property
    def once(self):
        return 0.0


LENGTHY, PLAIN = Lengthy(), Shared()


def _set(owner, name="k"):
    return lambda: owner.__setitem__(name, 3.0) if isinstance(owner, dict) else setattr(owner, name, 3.0)


def _replaced(kind):
    def init(self):
        self.value = 3.0

    return lambda: setattr(kind, "__init__", init)


def _matched(x):
    match LENGTHY:
        case Lengthy(computed=k):
            return x * k


CASES = {
    "class": (lambda x: x * FromClass().value, _set(Shared)),
    "subclass": (lambda x: x * FromClass().value, _set(FromClass)),
    "type_of_self": (lambda x: x * FromType().value, _set(Shared.table)),
    "other_class": (lambda x: x * FromOtherClass().value, _set(Shared)),
    "object": (lambda x: x * FromObject().value, _set(SETTINGS)),
    "item": (lambda x: x * FromItem().value, _set(SETTINGS.table)),
    "namespace": (lambda x: x * FromNamespace().value, _set(SETTINGS.inner)),
    "deep": (lambda x: x * FromDeep().value, _set(Shared.settings.inner)),
    "slot": (lambda x: x * FromSlot().value, _set(Shared.slotted)),
    "argument": (lambda x: x * FromArgument(Shared).value, _set(Shared.settings)),
    "item_of_argument": (lambda x: x * FromArgument(*[LENGTHY, 1]).value, _set(Shared.settings)),
    "type_of_an_object": (lambda x: x * type(PLAIN).k, _set(Shared)),
    "super": (lambda x: x * FromSuper().value, _set(Shared)),
    "helper": (lambda x: x * FromHelper().value, _set(SETTINGS.inner)),
    "any_name": (lambda x: x * FromAnyName().value, _set(SETTINGS)),
    "default": (lambda x: x * FromDefault().value, _set(SETTINGS)),
    "new": (lambda x: x * FromFactory().value, _set(SETTINGS)),
    "metaclass": (lambda x: x * FromMetaclass().value, _set(Shared)),
    "constructor_replaced": (lambda x: x * FromField().value, _replaced(FromField)),
    "shared_dict": (lambda x: x * Borg().value, _set(Borg.shared, "value")),
    "len": (lambda x: x * len(LENGTHY), _set(SETTINGS.inner)),
    "getitem": (lambda x: x * LENGTHY[0], _set(Shared)),
    "contains": (lambda x: x * (3.0 if SETTINGS in LENGTHY else 2.0), _set(SETTINGS)),
    "property_in_a_pattern": (_matched, _set(Shared.table)),
}


@pytest.fixture(autouse=True)
def _as_it_was():
    for settings in (SETTINGS, Shared.settings):
        settings.k = settings.table["k"] = settings.inner.k = 2.0
    Shared.k = Shared.slotted.k = Shared.table["k"] = Borg.shared["value"] = 2.0
    yield
    if "k" in vars(FromClass):
        del FromClass.k


@pytest.mark.parametrize("name", CASES)
def test_compiled_result_after_a_change_equals_eager(name):
    function, change = CASES[name]
    compiled = ms.jit(function)
    for _ in range(3):
        np.testing.assert_allclose(compiled(Tensor(X)).asnumpy(), 2 * X)
    change()
    for _ in range(2):
        np.testing.assert_allclose(compiled(Tensor(X)).asnumpy(), 3 * X)


def test_change_that_no_method_reads_needs_no_new_program():
    compiled = ms.jit(lambda x: x * FromObject().value)
    for k in range(3):
        SETTINGS.unread = k
        compiled(Tensor(X))
    assert compiled.cache_info().currsize == 1


def test_constructor_that_changes_an_object_from_outside_raises():
    class Counting:
        def __init__(self):
            SETTINGS.k = SETTINGS.k + 1

    def function(x):
        Counting()
        return x

    with pytest.raises(CompileError, match="changed"):
        ms.jit(function)(Tensor(X))
    assert SETTINGS.k == 2.0


class Box:
    """Its length is an attribute that only the function HELPER.measure names."""

    def __len__(self):
        return HELPER.measure()


HELPER = types.SimpleNamespace(limits=types.SimpleNamespace(width=2), measure=lambda: HELPER.limits.width)
BOX = Box()


def test_attribute_is_read_if_the_search_finds_its_name_after_its_object(monkeypatch):
    reads, read = [], NamedReads._read
    monkeypatch.setattr(
        NamedReads,
        "_read",
        lambda self, *pair: reads.append((self, id(pair[0]), pair[1])) or read(self, *pair),
    )
    compiled = ms.jit(lambda x: x * len(BOX))
    for width in (2, 3):
        monkeypatch.setattr(HELPER.limits, "width", width)
        assert_close(compiled(Tensor(X)), width * X)
    assert {name for _, _, name in reads} >= {"measure", "limits", "width"}
    assert len(set(reads)) == len(reads), "each search looks for an attribute once"


def test_special_methods_of_a_long_chain_are_read():
    """Each of 3000 objects holds the next, and all have methods that Python calls."""

    class Node:
        def __init__(self, following):
            self.following = following

        def __len__(self):
            return 2 if self.following is None else 1

    first = None
    for _ in range(3000):
        first = Node(first)
    np.testing.assert_allclose(ms.jit(lambda x: x * len(first))(Tensor(X)).asnumpy(), X)


# -- functions that Python's library calls later, and classes that a program defines ----------------


class _Registered:
    def __init_subclass__(cls):
        cls.value = SETTINGS.k


class _Named:
    def __set_name__(self, owner, name):
        owner.value = SETTINGS.table["k"]


def _read_settings():
    return SETTINGS.k


def _in_a_loop(x):
    for k in iter(_read_settings, 5.0):
        return x * k


def _defined(x):
    class Made(_Registered):
        pass

    return x * Made.value


def _defined_with_a_descriptor(x):
    class Made:
        named = _Named()

    return x * Made.value


@pytest.mark.parametrize(
    ("function", "change"),
    [
        (_in_a_loop, _set(SETTINGS)),
        (lambda x: x * next(iter(_read_settings, 5.0)), _set(SETTINGS)),
        (_defined, _set(SETTINGS)),
        (lambda x: x * type("Made", (_Registered,), {}).value, _set(SETTINGS)),
        (_defined_with_a_descriptor, _set(SETTINGS.table)),
    ],
    ids=["iter_in_a_loop", "next_of_iter", "init_subclass", "init_subclass_by_type", "set_name"],
)
def test_compiled_result_after_a_change_of_what_runs_later_equals_eager(function, change):
    compiled = ms.jit(function)
    for _ in range(3):
        np.testing.assert_allclose(compiled(Tensor(X)).asnumpy(), 2 * X)
    change()
    np.testing.assert_allclose(compiled(Tensor(X)).asnumpy(), 3 * X)


# -- attributes that the program also assigns ---------------------------------------------------------


def _counts_by_constructor(x):
    value = FromObject().value
    SETTINGS.k = value + 1
    return x * value


def _counts_by_item(x):
    value = LENGTHY[0]
    Shared.k = value + 1
    return x * value


def _adds_a_tensor(x):
    value = FromObject().value
    SETTINGS.k = value + x.sum()
    return x * value


@pytest.mark.parametrize("function", [_counts_by_constructor, _counts_by_item, _adds_a_tensor])
def test_attribute_that_the_program_assigns_is_read_in_each_call(function):
    def results(each):
        SETTINGS.k = Shared.k = Tensor(2.0) if function is _adds_a_tensor else 2.0
        return [each(Tensor(X)).asnumpy() for _ in range(4)]

    np.testing.assert_allclose(results(ms.jit(function)), results(function))


class _Counted:
    count = 0

    def __init__(self):
        type(self).count += 1


class _Only:
    only = None

    def __new__(cls):
        if cls.only is None:
            cls.only = object.__new__(cls)
            cls.only.k = 2.0
        return cls.only


def test_class_attribute_that_a_constructor_counts_raises():
    def function(x):
        _Counted()
        return x

    with pytest.raises(CompileError, match="'count' of _Counted is changed"):
        ms.jit(function)(Tensor(X))
    assert _Counted.count == 0


def test_only_instance_made_while_compiling_is_compared():
    compiled = ms.jit(lambda x: x * _Only().k)
    for _ in range(2):
        np.testing.assert_allclose(compiled(Tensor(X)).asnumpy(), 2 * X)
    _Only.only = None
    other = _Only()
    other.k = 3.0
    np.testing.assert_allclose(compiled(Tensor(X)).asnumpy(), 3 * X)
