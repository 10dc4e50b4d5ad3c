"""Values made when first used are what the standard library's `dataclass` makes (APP-14)."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any, ClassVar

import pytest

from vault.values import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Base:
    """What two kinds share."""

    KIND: ClassVar[str] = "base"

    name: str
    size: int = 0

    def __post_init__(self) -> None:
        if self.size < 0:
            raise ValueError("a size is not negative")


@dataclass(frozen=True, slots=True, order=True)
class Kept(Base):
    """Every way to say more of a field."""

    parts: dict[str, int] = field(default_factory=dict, compare=False)
    hidden: str = field(default="x", repr=False)
    made: int = field(default=7, init=False)
    late: bytes = field(kw_only=True, default=b"")


@dataclass(slots=True)
class Open:
    """One that may change."""

    total: int
    seen: list[int] = field(default_factory=list)
    told: str = field(init=False)


@dataclass
class Loose:
    """Without slots, and with a hash and a text of its own."""

    a: int = 1

    def __hash__(self) -> int:
        return 5

    def __repr__(self) -> str:
        return "loose"


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """Only by name."""

    a: int
    b: int = 2


@dataclass(frozen=True, slots=True)
class Nothing:
    """No field at all."""


def twin_of(kind: Any) -> Any:
    """Return what the standard library makes of the same fields."""
    given: list[Any] = []
    for each in dataclasses.fields(kind):
        how = {name: getattr(each, name) for name in ("init", "repr", "compare", "kw_only", "default")}
        how["default_factory"] = each.default_factory
        given.append((each.name, each.type, dataclasses.field(**how)))
    return dataclasses.make_dataclass(kind.__name__, given, frozen=True, slots=True)


@pytest.mark.parametrize(
    ("kind", "words", "named"),
    [
        (Base, ("a",), {}),
        (Base, ("a", 3), {}),
        (Kept, ("a", 3, {"k": 1}), {"late": b"l"}),
        (Kept, ("a",), {"hidden": "y"}),
    ],
)
def test_a_value_is_made_compared_and_shown_as_there(
    kind: Any, words: tuple[object, ...], named: dict[str, object]
) -> None:
    twin = twin_of(kind)
    mine, theirs = kind(*words, **named), twin(*words, **named)
    assert repr(mine) == repr(theirs)
    assert kind.__match_args__ == twin.__match_args__
    assert [each.name for each in dataclasses.fields(kind)] == [each.name for each in dataclasses.fields(twin)]
    assert dataclasses.asdict(mine) == dataclasses.asdict(theirs)
    again = kind(*words, **named)
    assert again == mine
    assert hash(again) == hash(mine)
    assert replace(mine, size=9) == kind(words[0], 9, *words[2:], **named) != mine
    assert dataclasses.replace(mine, size=9) == replace(mine, size=9)
    for wrong in ((), (*words, 1, 2, 3, 4, 5)):
        with pytest.raises(TypeError):
            kind(*wrong)
        with pytest.raises(TypeError):
            twin(*wrong)


def test_a_frozen_value_stays_as_it_is() -> None:
    value = Kept("a")
    for name in ("name", "more"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, name, "b")
    with pytest.raises(dataclasses.FrozenInstanceError):
        delattr(value, "name")
    with pytest.raises(ValueError, match="not negative"):
        replace(value, size=-1)
    with pytest.raises(ValueError, match="made"):
        replace(value, made=1)
    assert not hasattr(value, "__dict__")
    assert vars(Kept)["__slots__"] == ("parts", "hidden", "made", "late")
    for again in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert (again, repr(again), again.made) == (value, repr(value), 7)


def test_kinds_differ_and_order_follows_the_fields() -> None:
    assert Kept("a") != Base("a")
    assert Kept("a", 1) == Kept("a", 1, {"k": 1})  # not compared
    assert Kept("a", 1) < Kept("a", 2) <= Kept("b") > Kept("a", 9) >= Kept("a", 9)
    with pytest.raises(TypeError):
        assert Kept("a") < Base("a")  # type: ignore[operator]
    assert Nothing() == Nothing()
    assert {Nothing(), Nothing()} == {Nothing()}
    assert repr(Nothing()) == "Nothing()"


def test_a_value_that_may_change_has_no_hash() -> None:
    one, other = Open(1), Open(1)
    one.seen.append(3)
    one.total = 4
    assert (one.total, one.seen, other.seen) == (4, [3], [])
    one.told = other.told = "t"
    assert one != other
    with pytest.raises(TypeError):
        hash(one)
    assert (hash(Loose()), repr(Loose()), Loose().a, Loose(2) == Loose(2)) == (5, "loose", 1, True)


def test_parameters_are_checked() -> None:
    assert Named(a=1) == Named(a=1, b=2)
    with pytest.raises(TypeError):
        Named(1)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="shared"):

        @dataclass
        class _Shared:
            a: list[int] = []  # noqa: RUF012

    @dataclass
    class _Turned:
        a: int = 1
        b: str  # type: ignore[misc]

    with pytest.raises(TypeError, match="follows a"):
        _Turned(1, "b")
