"""Who imports whom: no circle of modules, and none of rooms on one floor (architecture, section 3)."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.modules import module_at

pytestmark = pytest.mark.xdist_group("modules")  # one process looks the modules through, once for all of this

ROOT = Path(__file__).parents[1]
FLOORS = ("vault", "transports", "lazy", "spark_export", "lace_tui")


@cache
def modules() -> dict[str, Path]:
    """Return every module of the program by its name."""
    found = {}
    for floor in FLOORS:
        for path in (ROOT / floor).rglob("*.py"):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            found[name.removesuffix(".__init__")] = path
    return found


@cache
def imports() -> dict[str, set[str]]:
    """Return what each module imports of the program, wherever the import stands, also for its types only."""
    known = modules()
    found: dict[str, set[str]] = {}
    for name, path in known.items():
        taken = set()
        for node in module_at(path).imports:
            if isinstance(node, ast.ImportFrom) and node.module and node.module in known:
                inner = {f"{node.module}.{alias.name}" for alias in node.names} & known.keys()
                taken |= inner or {node.module}
            elif isinstance(node, ast.Import):
                taken |= {alias.name for alias in node.names} & known.keys()
        found[name] = taken - {name}
    return found


def circle(arrows: Mapping[str, Iterable[str]]) -> list[str]:
    """Return names that lead in a circle, in order; none where there is no circle."""
    done: set[str] = set()

    def walk(name: str, way: list[str]) -> list[str]:
        if name in way:
            return [*way[way.index(name) :], name]
        if name in done:
            return []
        for following in sorted(arrows.get(name, ())):
            if found := walk(following, [*way, name]):
                return found
        done.add(name)
        return []

    return next((found for name in sorted(arrows) if (found := walk(name, []))), [])


def test_no_modules_import_each_other() -> None:
    assert len(imports()) > len(FLOORS)
    assert circle(imports()) == []


def test_the_planes_of_a_sync_stand_apart() -> None:
    """DWN-8: records in the order of a log (`lazy.live`), sets compared (`tiers`), what is reached and so shared.

    The second and third know neither each other nor the first, however far their imports are followed.
    """
    planes = (("lazy.live",), ("lazy.interlace.tiers",), ("vault.store.sharing", "vault.store.closure"))
    for own in planes[1:]:
        others = tuple(name for plane in planes for name in plane if plane != own)
        waiting = [name for name in imports() if name.startswith(own)]
        known = set(waiting)
        assert waiting
        while waiting:
            fresh = imports().get(waiting.pop(), set()) - known
            known |= fresh
            waiting += fresh
        assert not [name for name in known if name.startswith(others)]


@pytest.mark.parametrize("floor", FLOORS)
def test_no_rooms_of_a_floor_import_each_other(floor: str) -> None:
    """A room is a folder on a floor; the modules beside the rooms are free to stand below and above them."""

    def room(name: str) -> str:
        parts = name.split(".")
        return ".".join(parts[:2]) if parts[0] == floor and (ROOT / floor / parts[1:2][0]).is_dir() else ""

    arrows: dict[str, set[str]] = {}
    for name, taken in imports().items():
        if name.startswith(f"{floor}.") and (here := room(name)):
            there = {room(other) for other in taken if other.startswith(f"{floor}.")}
            arrows.setdefault(here, set()).update(there - {"", here})
    assert circle(arrows) == []


def test_nothing_but_verbs_stands_on_verbs() -> None:
    """What the app and a command both do stands below them (architecture, section 3)."""
    above = {
        name
        for name, taken in imports().items()
        if not name.startswith("lace_tui.verbs") and any(other.startswith("lace_tui.verbs.") for other in taken)
    }
    assert not above


def test_a_circle_is_found() -> None:
    assert circle({"a": ["b"], "b": ["c"], "c": []}) == []
    assert circle({"a": ["b"], "b": ["c", "d"], "d": ["b"]}) == ["b", "d", "b"]


def test_no_command_runs_what_stands_for_the_documents() -> None:
    """INT-127, docs/decisions.md 27: tests, the simulator and the fuzzers alone take what `documents` holds."""
    apart = "lazy.interlace.documents"
    assert any(name.startswith(f"{apart}.") for name in imports())
    assert not [
        name
        for name, taken in imports().items()
        if not name.startswith(apart) and any(one.startswith(apart) for one in taken)
    ]


def test_every_room_is_told_of_in_the_house() -> None:
    told = (ROOT / "docs" / "house.md").read_text(encoding="utf-8")
    rooms = [path.parent for floor in FLOORS for path in sorted((ROOT / floor).glob("*/__init__.py"))]
    assert len(rooms) > len(FLOORS)
    for room in rooms:
        said = ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8"))) or ""
        sentence = said.split("\n\n")[0].replace("\n", " ")
        assert f"| `{room.relative_to(ROOT).as_posix()}/` | {sentence} |" in told
