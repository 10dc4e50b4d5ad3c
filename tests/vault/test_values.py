"""Values are those of the standard library's `dataclass`, whoever makes their class."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field
from typing import Any, ClassVar

import pytest

from vault.values import dataclass as ours

Make = Callable[..., Any]


def _classes(make: Make) -> dict[str, Any]:
    @make(frozen=True, slots=True)
    class Point:
        """Two numbers and what is known of them."""

        KIND: ClassVar[str] = "point"

        x: int
        y: int = 2
        notes: list[str] = field(default_factory=list, repr=False)
        _known: int | None = field(default=None, init=False, compare=False)

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError("no")
            object.__setattr__(self, "_known", self.x)

        @property
        def double(self) -> int:
            return 2 * self.x

    @make(frozen=True, slots=True, kw_only=True)
    class Named(Point):
        """A point with a name."""

        name: str
        size: int = field(default=3, compare=False)

    @make(frozen=True, slots=True, order=True)
    class Version:
        """Ordered."""

        major: int
        minor: int

    @make(frozen=True, slots=True)
    class One:
        """A single field, left out of its text."""

        only: bytes = field(repr=False)

    @make(frozen=True, slots=True)
    class Nothing:
        """No field."""

    @make(slots=True)
    class Changing:  # noqa: PLW1641 - it changes
        """Not frozen."""

        count: int = 0
        seen: set[str] = field(default_factory=set)
        left: int = field(init=False)

        def __eq__(self, other: object) -> bool:
            return True

        def __repr__(self) -> str:
            return "changing"

    @make
    class Plain:
        """Neither frozen nor slotted."""

        text: str = "a"
        deep: list[int] = field(default_factory=list)

    @make(frozen=True, slots=True)
    class Hashed:
        """With a hash of its own."""

        value: int

        def __hash__(self) -> int:
            return 7

    return {each.__name__: each for each in (Point, Named, Version, One, Nothing, Changing, Plain, Hashed)}


_OURS, _THEIRS = _classes(ours), _classes(dataclasses.dataclass)
_Case = tuple[str, tuple[Any, ...], dict[str, Any]]
_MADE: tuple[_Case, ...] = (
    ("Point", (1,), {}), ("Point", (1, 3), {}), ("Point", (), {"x": 4, "notes": ["n"]}), ("Point", (), {}),
    ("Point", (1, 2, [], 4), {}), ("Point", (-1,), {}), ("Point", (1,), {"_known": 2}), ("Point", (1,), {"z": 2}),
    ("Named", (1,), {"name": "n"}), ("Named", (1, 2, ["x"]), {"name": "n", "size": 9}), ("Named", (1,), {}),
    ("Named", (1, 2, [], "n"), {}), ("Version", (1, 2), {}), ("Version", (1, 3), {}), ("One", (b"x",), {}),
    ("Nothing", (), {}), ("Nothing", (1,), {}), ("Changing", (), {}), ("Changing", (1, {"a"}), {}), ("Plain", (), {}),
    ("Plain", ("b", [1]), {}), ("Hashed", (1,), {}),
)  # fmt: skip


def _value(classes: dict[str, Any], case: _Case) -> Any:
    name, args, kwargs = case
    try:
        return classes[name](*args, **kwargs)
    except (TypeError, ValueError) as fault:
        return type(fault)


def _attempt(act: Callable[..., object], *args: Any) -> object:
    try:
        return act(*args)
    except (TypeError, AttributeError) as fault:
        return type(fault), str(fault)


@pytest.mark.parametrize("case", _MADE, ids=str)
def test_a_value_is_the_same(case: _Case) -> None:
    mine, other = _value(_OURS, case), _value(_THEIRS, case)
    if isinstance(other, type):
        assert mine is other
        return
    names = [each.name for each in dataclasses.fields(other)]
    assert [each.name for each in dataclasses.fields(mine)] == names
    for name in names:
        assert _attempt(getattr, mine, name) == _attempt(getattr, other, name)
        assert _attempt(setattr, mine, name, 5) == _attempt(setattr, other, name, 5)
    assert repr(mine).split(".")[-1] == repr(other).split(".")[-1]
    assert type(mine).__match_args__ == type(other).__match_args__
    assert getattr(type(mine), "__slots__", None) == getattr(type(other), "__slots__", None)
    assert isinstance(_attempt(hash, mine), int) is isinstance(_attempt(hash, other), int)
    assert (copy.copy(mine) == mine) is (copy.copy(other) == other)
    assert (copy.deepcopy(mine) == mine) is (copy.deepcopy(other) == other)
    assert (mine != 1, mine == _value(_OURS, case)) == (other != 1, other == _value(_THEIRS, case))


@pytest.mark.parametrize("left", [case for case in _MADE if not isinstance(_value(_THEIRS, case), type)], ids=str)
def test_values_compare_the_same(left: _Case) -> None:
    for right in _MADE:
        mine, other = (_value(_OURS, left), _value(_OURS, right)), (_value(_THEIRS, left), _value(_THEIRS, right))
        assert (mine[0] == mine[1]) is (other[0] == other[1])
        assert _attempt(_order, *mine) == _attempt(_order, *other)
        if mine[0] == mine[1]:
            assert _attempt(_hashes, *mine) == _attempt(_hashes, *other)


def _order(left: Any, right: Any) -> object:
    return left < right, left >= right


def _hashes(left: object, right: object) -> object:
    return hash(left) == hash(right)


def test_frozen_values_stay_what_they_are() -> None:
    point = _OURS["Point"](1)
    with pytest.raises(FrozenInstanceError, match="'x'"):
        point.x = 2
    with pytest.raises(FrozenInstanceError, match="'x'"):
        del point.x
    assert dataclasses.replace(point, x=5).double == 10
    assert _OURS["Point"](1).notes is not _OURS["Point"](1).notes
    with pytest.raises(ValueError, match="mutable default"):

        @ours
        class Wrong:
            names: list[str] = []  # noqa: RUF012 - what is tested


@ours(frozen=True, slots=True)
class Kept:
    """A value that is written to a file."""

    text: str
    count: int = 1


def test_a_value_comes_back_from_a_pickle() -> None:
    assert pickle.loads(pickle.dumps(Kept("a", 2))) == Kept("a", 2)
