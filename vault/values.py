"""`dataclass` of the standard library, made in a tenth of the time.

Every command defines some fifty kinds of values while it starts, and uses a handful of them. The standard library
writes and compiles up to eight functions for each at once, which took a quarter of a short command. Here `__init__` is
written when the first value is made, and the others need no writing. To type checkers this is the one they know, and
`dataclasses.fields` and `replace` work as ever. Left out is what the program does not use: `InitVar`, `unsafe_hash`,
`weakref_slot`, and classes that mix both makers in one line of descent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    import dataclasses
    from dataclasses import MISSING, FrozenInstanceError, fields
    from operator import attrgetter

    def dataclass(cls=None, /, *, frozen=False, eq=True, order=False, slots=False, kw_only=False, repr=True):  # noqa: A002
        """Make a class of values; see `dataclasses.dataclass`."""

        def make(cls):
            own = frozenset(cls.__dict__)
            has_hash = "__hash__" in own and not (cls.__dict__["__hash__"] is None and "__eq__" in own)
            made = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)(cls)
            found = fields(made)
            methods = {"__init__": _init(made, found, frozen=frozen)}
            if repr:
                methods["__repr__"] = _repr([each.name for each in found if each.repr])
            compared = _tuple_of([each.name for each in found if each.compare])
            if eq:
                methods["__eq__"] = _eq(compared)
            if order:
                methods |= _order(compared)
            if frozen:
                methods |= {"__setattr__": _setattr, "__delattr__": _delattr}
                if slots:
                    methods |= {"__getstate__": _getstate, "__setstate__": _setstate}
            for name, method in methods.items():
                if name not in own:
                    setattr(made, name, method)
            if eq and not has_hash:
                hashed = [each.name for each in found if (each.compare if each.hash is None else each.hash)]
                made.__hash__ = _hash(_tuple_of(hashed)) if frozen else None
            return made

        return make if cls is None else make(cls)

    def _init(cls, found, *, frozen):
        def __init__(self, *args, **kwargs):  # noqa: N807 - it stands for the one that is written now
            cls.__init__ = written = _written(cls, found, frozen=frozen)
            written(self, *args, **kwargs)

        return __init__

    def _written(cls, found, *, frozen):
        """Write and compile the `__init__` of one class."""
        names = {"_set": object.__setattr__, "_MISSING": MISSING}
        first, later, body = [], [], []
        for each in found:
            name, value = each.name, each.name
            names[f"_default_{name}"] = each.default
            if each.default_factory is not MISSING:
                names[f"_factory_{name}"] = each.default_factory
                value = f"_factory_{name}()"
                if each.init:
                    value += f" if {name} is _MISSING else {name}"
            elif not each.init:
                if each.default is MISSING:
                    continue
                value = f"_default_{name}"
            if each.init:
                has_default = each.default is not MISSING or each.default_factory is not MISSING
                (later if each.kw_only else first).append(name + (f"=_default_{name}" if has_default else ""))
            body.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
        if hasattr(cls, "__post_init__"):
            body.append("self.__post_init__()")
        words = ", ".join(["self", *first, *(["*", *later] if later else [])])
        scope = {}
        exec(f"def __init__({words}):\n " + "\n ".join(body or ["pass"]), names, scope)  # noqa: S102 - our own names
        made = scope["__init__"]
        made.__qualname__ = f"{cls.__qualname__}.__init__"
        return made

    def _tuple_of(names):
        """Return what gives the values of these fields as a tuple."""
        if len(names) > 1:
            return attrgetter(*names)
        return (lambda value: (getattr(value, names[0]),)) if names else (lambda _value: ())

    def _repr(names):
        def __repr__(self):  # noqa: N807
            said = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
            return f"{self.__class__.__qualname__}({said})"

        return __repr__

    def _eq(compared):
        def __eq__(self, other):  # noqa: N807
            return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented

        return __eq__

    def _hash(hashed):
        return lambda self: hash(hashed(self))

    def _order(compared):
        def made(say):
            return lambda self, other: (
                say(compared(self), compared(other)) if other.__class__ is self.__class__ else NotImplemented
            )

        return {
            "__lt__": made(lambda left, right: left < right),
            "__le__": made(lambda left, right: left <= right),
            "__gt__": made(lambda left, right: left > right),
            "__ge__": made(lambda left, right: left >= right),
        }

    def _setattr(_self, name, _value):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def _delattr(_self, name):
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def _getstate(self):
        return [getattr(self, each.name) for each in fields(self)]

    def _setstate(self, state):
        for each, value in zip(fields(self), state, strict=True):
            object.__setattr__(self, each.name, value)


__all__ = ["dataclass"]
