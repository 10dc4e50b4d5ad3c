"""Values: what the standard library's `dataclass` makes, made when it is first used.

A command loads some hundred kinds of values and uses a few. The standard library writes and compiles six methods for
each of them while it is loaded, and loads `inspect` for that: more than a quarter of what a commit took. Here a class
gets methods that serve every kind, and `__init__`, the only one that is written for it, when its first value is made.

A checker of types sees the standard library's own. `dataclasses.fields` and whatever else asks for `Field`s works on
these classes too: they are made when they are asked for.
"""

from __future__ import annotations

from operator import attrgetter
from reprlib import recursive_repr

TYPE_CHECKING = False  # `typing` is not needed to run this
if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass, field, replace
    from typing import Any

__all__ = ["dataclass", "field", "replace"]

_SPECS = "__value_fields__"  # name -> what was said of it, of a class and those it extends
_NEVER = object()  # no default
_CLASS_VARIABLES = ("ClassVar", "typing.ClassVar")


class _Spec:
    """What is known of one field."""

    __slots__ = ("annotation", "compare", "default", "factory", "init", "kw_only", "name", "shown")

    def __init__(
        self, default: object, factory: object, *, init: bool, shown: bool, compare: bool, kw_only: bool | None
    ) -> None:
        self.name = ""
        self.annotation: object = None
        self.default = default
        self.factory = factory
        self.init = init
        self.shown = shown
        self.compare = compare
        self.kw_only = kw_only


class _Asked:
    """`__dataclass_fields__` or `__dataclass_params__`, taken from a twin by the standard library when asked for."""

    __slots__ = ("_cls", "_frozen", "_name")

    def __init__(self, cls: type, name: str, frozen: bool) -> None:
        self._cls = cls
        self._name = name
        self._frozen = frozen

    def __get__(self, value: object, owner: type | None = None) -> object:
        import dataclasses  # noqa: PLC0415 - the whole point

        body: dict[str, Any] = {"__annotations__": {}, "__module__": self._cls.__module__}
        specs: dict[str, _Spec] = getattr(self._cls, _SPECS)
        for name, spec in specs.items():
            how: dict[str, Any] = {"init": spec.init, "repr": spec.shown, "compare": spec.compare}
            if spec.default is not _NEVER:
                how["default"] = spec.default
            if spec.factory is not _NEVER:
                how["default_factory"] = spec.factory
            body["__annotations__"][name] = spec.annotation
            body[name] = dataclasses.field(**how, kw_only=bool(spec.kw_only))
        twin: type = dataclasses.dataclass(frozen=self._frozen, init=False)(type(self._cls.__name__, (), body))
        found: object = getattr(twin, self._name)
        setattr(self._cls, self._name, found)
        return found


def _field(
    *,
    default: object = _NEVER,
    default_factory: object = _NEVER,
    init: bool = True,
    repr: bool = True,  # noqa: A002 - named as there
    compare: bool = True,
    kw_only: bool | None = None,
) -> _Spec:
    """Say more of a field than its type and default; see `dataclasses.field`."""
    return _Spec(default, default_factory, init=init, shown=repr, compare=compare, kw_only=kw_only)


def _dataclass(
    cls: type | None = None,
    /,
    *,
    frozen: bool = False,
    slots: bool = False,
    order: bool = False,
    eq: bool = True,
    kw_only: bool = False,
) -> object:
    """Make a class a kind of value; see `dataclasses.dataclass`."""

    def made(of: type) -> type:
        return _made(of, frozen=frozen, slots=slots, order=order, eq=eq, kw_only=kw_only)

    return made if cls is None else made(cls)


def _made(cls: type, *, frozen: bool, slots: bool, order: bool, eq: bool, kw_only: bool) -> type:
    own = _own_specs(cls, kw_only=kw_only)
    specs: dict[str, _Spec] = {}
    for base in reversed(cls.__mro__[1:]):
        specs.update(base.__dict__.get(_SPECS, {}))
    specs.update(own)
    said = dict(cls.__dict__)
    cls = _slotted(cls, own) if slots else _unslotted(cls, own)
    for name, method in _methods(cls, specs, frozen=frozen, slots=slots, order=order, eq=eq).items():
        # Who says how to compare says nothing of the hash: Python puts None there.
        if said.get(name) is None:
            setattr(cls, name, method)
    setattr(cls, _SPECS, specs)
    for name in ("__dataclass_fields__", "__dataclass_params__"):
        setattr(cls, name, _Asked(cls, name, frozen))
    return cls


def _methods(
    cls: type, specs: dict[str, _Spec], *, frozen: bool, slots: bool, order: bool, eq: bool
) -> dict[str, object]:
    compared = _getter([name for name, spec in specs.items() if spec.compare])
    methods: dict[str, object] = {
        "__init__": _first_init(cls, frozen=frozen),
        "__repr__": _repr_of([name for name, spec in specs.items() if spec.shown]),
        "__match_args__": tuple(name for name, spec in specs.items() if spec.init and not spec.kw_only),
    }
    if eq:
        methods |= {"__eq__": _eq(compared), "__hash__": _hash(compared) if frozen else None}
    if order:
        methods |= _order(compared)
    if frozen:
        methods |= _frozen(cls, specs)
        if slots:
            methods |= {"__getstate__": _get_state, "__setstate__": _set_state}
    return methods


def _slotted(cls: type, own: dict[str, _Spec]) -> type:
    """Return the class made again, with a slot for each field of its own."""
    body = dict(cls.__dict__)
    held = {slot for base in cls.__mro__[1:] for slot in _slots_of(base)}
    for name in (*own, "__dict__", "__weakref__"):
        body.pop(name, None)
    body["__slots__"] = tuple(name for name in own if name not in held)
    again = type(cls)(cls.__name__, cls.__bases__, body)
    again.__qualname__ = cls.__qualname__
    return again


def _unslotted(cls: type, own: dict[str, _Spec]) -> type:
    for name, spec in own.items():
        if spec.default is not _NEVER:
            setattr(cls, name, spec.default)
        elif name in cls.__dict__:
            delattr(cls, name)
    return cls


def _own_specs(cls: type, *, kw_only: bool) -> dict[str, _Spec]:
    body = cls.__dict__
    own: dict[str, _Spec] = {}
    for name, annotation in body.get("__annotations__", {}).items():
        if str(annotation).startswith(_CLASS_VARIABLES):
            continue
        said = body.get(name, _NEVER)
        spec = said if isinstance(said, _Spec) else _field(default=said)
        if spec.default.__class__.__hash__ is None:
            raise ValueError(f"the default of {cls.__name__}.{name} would be shared by all values: use a factory")
        spec.name, spec.annotation = name, annotation
        spec.kw_only = kw_only if spec.kw_only is None else spec.kw_only
        own[name] = spec
    return own


def _slots_of(cls: type) -> tuple[str, ...]:
    said = cls.__dict__.get("__slots__", ())
    return (said,) if isinstance(said, str) else tuple(said)


def _getter(names: list[str]) -> Callable[[Any], Any]:
    if len(names) > 1:
        return attrgetter(*names)
    return (lambda value: (getattr(value, names[0]),)) if names else (lambda _value: ())


def _first_init(cls: type, *, frozen: bool) -> Callable[..., None]:
    def __init__(self: object, *args: object, **named: object) -> None:  # noqa: N807
        if cls.__dict__.get("__init__") is __init__:
            cls.__init__ = _init_of(cls, frozen=frozen)  # type: ignore[misc]
        cls.__init__(self, *args, **named)  # type: ignore[misc]

    return __init__


def _init_of(cls: type, *, frozen: bool) -> Callable[..., None]:
    """Write the `__init__` of a kind."""
    specs: dict[str, _Spec] = getattr(cls, _SPECS)
    given: dict[str, object] = {"_never": _NEVER, "_put": object.__setattr__, "__name__": cls.__module__}
    words, after, lines = ["self"], list[str](), list[str]()
    has_default = ""
    for name, spec in specs.items():
        value = name
        if spec.factory is not _NEVER:
            given[f"_new_{name}"] = spec.factory
            value = f"_new_{name}()" if not spec.init else f"_new_{name}() if {name} is _never else {name}"
            default = "_never"
        elif spec.default is not _NEVER:
            given[f"_or_{name}"] = spec.default
            value = name if spec.init else f"_or_{name}"
            default = f"_or_{name}"
        else:
            default = ""
            if not spec.init:
                continue
        if spec.init:
            if not spec.kw_only:
                if has_default and not default:
                    raise TypeError(f"{cls.__name__}.{name} has no default and follows {has_default}, which has one")
                has_default = name if default else has_default
            (after if spec.kw_only else words).append(f"{name}={default}" if default else name)
        lines.append(_setting(cls, name, value, given) if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters = ", ".join([*words, *(["*", *after] if after else [])])
    body = "\n  ".join(lines or ["pass"])
    exec(f"def __init__({parameters}):\n  {body}", given)  # noqa: S102 - names of our own fields and nothing else
    made: Any = given["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__annotations__ = {**{name: spec.annotation for name, spec in specs.items() if spec.init}, "return": None}
    return made  # type: ignore[no-any-return]


def _setting(cls: type, name: str, value: str, given: dict[str, object]) -> str:
    """Return the line that sets a field of a frozen value: by its slot, past the `__setattr__` that refuses."""
    for base in cls.__mro__:
        slot = base.__dict__.get(name)
        if slot is not None and type(slot).__name__ == "member_descriptor":
            given[f"_set_{name}"] = slot.__set__
            return f"_set_{name}(self, {value})"
    return f"_put(self, {name!r}, {value})"


def _repr_of(names: list[str]) -> Callable[[object], str]:
    @recursive_repr()
    def __repr__(self: object) -> str:  # noqa: N807
        said = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({said})"

    return __repr__


def _eq(compared: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    def __eq__(self: object, other: object) -> Any:  # noqa: N807
        if other.__class__ is self.__class__:
            return compared(self) == compared(other)
        return NotImplemented

    return __eq__


def _hash(compared: Callable[[Any], Any]) -> Callable[[Any], int]:
    def __hash__(self: object) -> int:  # noqa: N807
        return hash(compared(self))

    return __hash__


def _order(compared: Callable[[Any], Any]) -> dict[str, object]:
    def __lt__(self: object, other: object) -> Any:  # noqa: N807
        return compared(self) < compared(other) if other.__class__ is self.__class__ else NotImplemented

    def __le__(self: object, other: object) -> Any:  # noqa: N807
        return compared(self) <= compared(other) if other.__class__ is self.__class__ else NotImplemented

    def __gt__(self: object, other: object) -> Any:  # noqa: N807
        return compared(self) > compared(other) if other.__class__ is self.__class__ else NotImplemented

    def __ge__(self: object, other: object) -> Any:  # noqa: N807
        return compared(self) >= compared(other) if other.__class__ is self.__class__ else NotImplemented

    return {"__lt__": __lt__, "__le__": __le__, "__gt__": __gt__, "__ge__": __ge__}


def _frozen(cls: type, specs: dict[str, _Spec]) -> dict[str, object]:
    def __setattr__(self: object, name: str, value: object) -> None:  # noqa: N807
        if type(self) is cls or name in specs:
            raise _is_frozen(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)  # type: ignore[arg-type]

    def __delattr__(self: object, name: str) -> None:  # noqa: N807
        if type(self) is cls or name in specs:
            raise _is_frozen(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)  # type: ignore[arg-type]

    return {"__setattr__": __setattr__, "__delattr__": __delattr__}


def _is_frozen(message: str) -> AttributeError:
    from dataclasses import FrozenInstanceError  # noqa: PLC0415 - a fault of the program

    return FrozenInstanceError(message)


def _get_state(self: object) -> list[object]:
    return [getattr(self, name) for name in getattr(self, _SPECS)]


def _set_state(self: object, state: list[object]) -> None:
    for name, value in zip(getattr(self, _SPECS), state, strict=True):
        object.__setattr__(self, name, value)


def _replace(value: Any, /, **changes: object) -> Any:
    """Return a value like another but for what is named; see `dataclasses.replace`."""
    specs: dict[str, _Spec] = getattr(value, _SPECS)
    for name, spec in specs.items():
        if not spec.init:
            if name in changes:
                raise ValueError(f"field {name} is set by {type(value).__name__} itself")
        elif name not in changes:
            changes[name] = getattr(value, name)
    return type(value)(**changes)


if not TYPE_CHECKING:
    dataclass, field, replace = _dataclass, _field, _replace
