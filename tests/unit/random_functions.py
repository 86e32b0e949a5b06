"""Random functions of nested ``if``, loops, jumps, exceptions and assignments, as text."""

import functools
import random


class Program:
    """A random function of two numbers; every loop in it ends. (Drawing each choice is much slower.)"""

    VARIABLES = ("a", "b", "c", "d")

    def __init__(self, seed, depth):
        self.random = random.Random(seed)
        lines = self.block(depth, False, 1)
        self.text = "\n".join(["def program(a, b):", "    c = 2", *lines, "    return a, b, c, d", ""])

    def variable(self):
        return self.random.choice(self.VARIABLES)

    def expression(self, depth=2):
        choose, x = self.random.randrange, self.variable
        if depth == 0:
            return x() if choose(2) else str(choose(-2, 5))
        part = functools.partial(self.expression, depth - 1)
        match choose(13):
            case 0:
                return f"({part()} + {part()})"
            case 1:
                return f"({part()} * {part()} % 7)"
            case 2:
                return f"({x()} := {part()})"
            case 3:
                return f"({part()} and {part()})"
            case 4:
                return f"({part()} or {part()})"
            case 5:
                return f"({part()} if {part()} else {part()})"
            case 6:
                return f"({part()} < {part()} <= {part()})"
            case 7:
                return f"(not {part()})"
            case 8:
                return f"({part()} in ({part()}, 1))"
            case 9:
                return f"sum([e + {x()} for e in range({choose(4)}) if e != {x()}])"
            case 10:
                return f"(lambda a: a + {x()} if {part()} else {part()})({part()})"
            case 11:
                return f"sum([({x()} := e + {x()}) for e in range({choose(3)}) if {x()} and ({x()} := e)])"
        return part()

    def block(self, depth, in_loop, indent):
        lines = []
        for _ in range(self.random.randrange(1, 4)):
            lines += self.statement(depth, in_loop, indent)
        return lines

    def statement(self, depth, in_loop, indent):
        choose, x, value = self.random.randrange, self.variable, self.expression
        pad = "    " * indent

        def inside(in_loop=in_loop):
            return self.block(depth - 1, in_loop, indent + 1)

        def perhaps(line, in_loop=in_loop):
            return [line, *inside(in_loop)] if choose(2) else []

        kind = choose(16 if depth else 7)
        if kind <= 2:
            return [f"{pad}{x()} = {value()}"]
        if kind == 3:
            return [f"{pad}{x()} {self.random.choice(['+=', '-='])} {value(1)}"]
        if kind == 4:
            jumps = ["break", "continue", "break", "continue"] if in_loop else []
            return [pad + self.random.choice([*jumps, f"return {value(1)}"])]
        if kind == 5:
            return [self.random.choice([f"{pad}del {x()}", f"{pad}{x()}, {x()} = {value(1)}, {x()}"])]
        if kind == 6:
            return [
                f"{pad}{x()} = [{x()}, {x()}][{x()} > 1]",
                f"{pad}raise ValueError" if choose(4) == 0 else pad,
            ]
        if kind <= 10:
            lines = [f"{pad}if {value()}:", *inside(), *perhaps(f"{pad}elif {value(1)}:")]
            return lines + perhaps(f"{pad}else:")
        if kind == 11:
            target = self.random.choice([*self.VARIABLES, "i"])
            return [f"{pad}for {target} in range({choose(4)}):", *inside(True), *perhaps(f"{pad}else:")]
        if kind == 12:
            counter, test = f"k{indent}", self.random.choice(["", f" and {value(1)}"])
            lines = [
                f"{pad}{counter} = 0",
                f"{pad}while ({counter} := {counter} + 1) < {choose(1, 5)}{test}:",
            ]
            return [*lines, *inside(True), *perhaps(f"{pad}else:")]
        if kind == 13:
            counter = f"k{indent}"
            lines = [f"{pad}{counter} = {choose(4)}", f"{pad}while True:", f"{pad}    {counter} -= 1"]
            return [*lines, f"{pad}    if {counter} < 0:", f"{pad}        break", *inside(True)]
        if kind == 14:
            lines = [f"{pad}try:", *inside(), f"{pad}except ValueError:", *inside()]
            return [*lines, *perhaps(f"{pad}else:"), *([f"{pad}finally:", f"{pad}    {x()} = 1"] * choose(2))]
        return [f"{pad}with nothing:", *inside()]
