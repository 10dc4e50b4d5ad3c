"""Where one is in a conflict, without a screen: regions, sides and files in turn, and another reading (APP-4)."""

from __future__ import annotations

from collections.abc import Iterable

from blake3 import blake3

from lace_tui.screens.walk import Walk
from lazy.contested import Conflict, ConflictKind, Status
from lazy.resolving.deciding import Pick
from lazy.resolving.opening import Content, Opened, OpenFile, Origin
from vault.names import Version
from vault.records import RecordHash

_LINES = [b"%d\n" % number for number in range(30)]


def _text(*changed: tuple[int, bytes]) -> Content:
    lines = _LINES.copy()
    for number, line in changed:
        lines[number] = line
    text = b"".join(lines)
    return Content("f", "", len(text), blake3(text).hexdigest(), text[:16], text)


def _file(path: str, *numbers: int) -> OpenFile:
    """Return a text of which both sides changed the same lines otherwise."""
    mine, theirs = ([(number, b"%b\n" % who) for number in numbers] for who in (b"mine", b"theirs"))
    return OpenFile(path, "content", _text(), (_text(*mine), _text(*theirs)))


def _whole(path: str, sides: int) -> OpenFile:
    """Return a file without lines that so many sides have otherwise."""
    contents = [Content("f", "", 4, f"{path} {number}", b"\0") for number in range(sides)]
    return OpenFile(path, "content", None, tuple(contents), rights=tuple(range(1, sides)))


def _opened(files: Iterable[OpenFile]) -> Opened:
    commit = RecordHash("S", bytes(32))
    sides = tuple(Origin(commit, name, "", "", None, name == "me", "") for name in ("me", "bob", "cara"))
    conflict = Conflict("0" * 16, ConflictKind.HEAD, "main", None, (), (), "", Status.PENDING, (), ())
    return Opened(conflict, sides, tuple(files), (), Version(1, 0, 0))


def _seen(walk: Walk) -> tuple[str, int]:
    return (walk.file.path if walk.file else "", walk.region)


def test_before_it_is_read_there_is_nothing_and_no_step() -> None:
    walk = Walk()
    walk.step(1)
    walk.go_to_open()
    assert _seen(walk) == ("", 0)
    assert walk.worked() is None


def test_steps_lead_through_regions_and_files_and_around() -> None:
    walk = Walk()
    walk.go_on_in(_opened([_file("a", 2, 12), _file("b", 5)]), {}, {})
    seen = [_seen(walk)]
    for by in (1, 1, 1, -1, -1):
        walk.step(by)
        seen.append(_seen(walk))
    assert seen == [("a", 1), ("a", 2), ("b", 1), ("a", 1), ("b", 1), ("a", 2)]


def test_of_a_file_without_lines_one_walks_through_its_sides() -> None:
    walk = Walk()
    walk.go_on_in(_opened([_whole("a", 3)]), {}, {})
    compared = []
    for _ in range(3):
        worked = walk.worked()
        assert worked is not None
        assert walk.file is not None
        compared.append(walk.names(walk.file, worked))
        walk.step(1)
    assert compared == [("yours", "bob's"), ("yours", "cara's"), ("yours", "cara's")]


def test_it_begins_where_nobody_chose_yet() -> None:
    walk = Walk()
    walk.go_on_in(_opened([_file("a", 2), _file("b", 5, 15)]), {"a": Pick(side=0), "b": Pick(regions={1: "left"})}, {})
    assert _seen(walk) == ("b", 2)


def test_another_reading_stays_where_one_is_unless_that_is_another_file_now() -> None:
    """A key meant for what is in sight would choose for another file."""
    first, second = _file("a", 2, 12), _file("b", 5, 15)
    walk = Walk()
    walk.go_on_in(_opened([first, second]), {}, {})
    walk.step(1)
    since = {"a": Pick(regions={1: "left"})}
    walk.go_on_in(_opened([_file("0", 1), first, second]), {"a": Pick(), "b": Pick(side=1)}, since)
    assert _seen(walk) == ("a", 2)
    assert walk.picks == {"a": Pick(regions={1: "left"}), "b": Pick(side=1)}, "a draft may still be on its way"
    walk.go_on_in(_opened([_file("a", 7), second]), {}, since)
    assert _seen(walk) == ("a", 1)
    assert walk.pick.is_empty, "it was chosen for other lines"
