"""Runtimes for rewritten source that know no tensors.

:class:`PlainRuntime` runs what it is given: with it, a rewritten function has to do what the original
does. :class:`HavocRuntime` runs more than it is given, as a tracer does (both branches, bodies once too
often), and hands on only the variables that the rewriting says have to be handed on: with it, a function
without side effects still has to give the same.
"""

import contextlib
import functools
import operator

from mindgrad.frontend.control.runtime import Runtime
from mindgrad.frontend.python.convert import convert

_AUGMENT = {
    "+": operator.iadd, "-": operator.isub, "*": operator.imul, "@": operator.imatmul, "/": operator.itruediv,
    "%": operator.imod, "**": operator.ipow, "<<": operator.ilshift, ">>": operator.irshift, "|": operator.ior,
    "^": operator.ixor, "&": operator.iand, "//": operator.ifloordiv,
}  # fmt: skip


class PlainRuntime:
    undefined = type("Undefined", (), {"__repr__": lambda self: "undefined"})()

    def __init__(self):
        self.constructs = []  # (kind, names) of the statements that were run

    def if_(self, test, then, orelse, get, put, names, later):
        self.constructs.append(("if", names))
        if test:
            then()
        else:
            orelse()
        put(get())

    def while_(self, test, body, get, put, names):
        self.constructs.append(("while", names))
        while test():
            body()
            put(get())

    def for_(self, items, body, get, put, names, stopped, later):
        self.constructs.append(("for", names))
        iterator = iter(items)
        while not (stopped and stopped()):
            try:
                item = next(iterator)
            except StopIteration:
                return
            body(item)
            put(get())

    def if_expression(self, test, then, orelse):
        return then() if test else orelse()

    def and_(self, value, *rest):
        for each in rest:
            if not value:
                break
            value = each()
        return value

    def or_(self, value, *rest):
        for each in rest:
            if value:
                break
            value = each()
        return value

    def not_(self, value):
        return not value

    def is_(self, a, b):
        return a is b

    def text(self, text):
        return text

    def in_(self, value, items):
        return value in items

    def item(self, owner, key):
        return owner[key]

    def bind(self, setter, name, value):
        return setter(value)

    def call(self, function):
        return convert(function, self)

    def attribute(self, owner, name):
        return getattr(owner, name)

    def set_attribute(self, owner, name, value):
        setattr(owner, name, value)

    def delete_attribute(self, owner, name):
        delattr(owner, name)

    def set_item(self, owner, key, value):
        owner[key] = value

    def delete_item(self, owner, key):
        del owner[key]

    def augment(self, sign, old, value):
        return _AUGMENT[sign](old, value)

    def raise_(self, make, cause):
        if cause is None:
            raise make()
        raise make() from cause()

    def assert_(self, test, message):
        if not test:
            if message is None:
                raise AssertionError
            raise AssertionError(message())

    def consumed(self, function, items, test, element, is_list, *rest):
        made = (element(None, x) for x in items if test is None or test(None, x))
        return self.call(function)(list(made) if is_list else made, *rest)

    def made(self, container):
        return container

    def try_begin(self):
        return self

    def try_end(self, token):
        assert token is self

    def caught(self):
        pass

    is_itself = Runtime.is_itself


class HavocRuntime(PlainRuntime):
    def _tried(self, run, get, put):
        """Run something whose outcome must not matter: everything that counts is put back."""
        before = get()
        # a variable that only the real way defines; what a program raises
        with contextlib.suppress(NameError, ValueError):
            run()
        put(before)

    def if_(self, test, then, orelse, get, put, names, later):
        taken, other = (then, orelse) if test else (orelse, then)
        before = get()
        taken()
        after = get()
        put(before)
        self._tried(other, get, put)
        put(after)

    def while_(self, test, body, get, put, names):
        self._tried(lambda: (test(), body()), get, put)
        while test():
            body()
            put(get())
        # an iteration too many
        self._tried(lambda: (test(), body()), get, put)

    def for_(self, items, body, get, put, names, stopped, later):
        items = list(items)
        for item in items[:1]:
            self._tried(functools.partial(body, item), get, put)
        super().for_(items, body, get, put, names, stopped, later)
        for item in items[-1:]:
            self._tried(functools.partial(body, item), get, put)
