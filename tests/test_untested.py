"""The command that names requirements without a test finds them."""

from __future__ import annotations

from tests.people import ROOT
from tests.untested import named_in, requirements, untested


def test_ids_and_ranges_are_found() -> None:
    texts = ["AAA-3 and AAA-5..7", "BBBB-1 to BBBB-2; CCC-9 to 10"]
    assert named_in(texts) == {("AAA", 3), ("AAA", 5), ("AAA", 6), ("AAA", 7), ("BBBB", 1), ("BBBB", 2), ("CCC", 9)}


def test_the_list_holds_each_requirement_once() -> None:
    known = [(one.group, one.number) for one in requirements()]
    assert len(known) == len(set(known)) > 600
    assert {one.level for one in requirements()} == {"MUST", "SHOULD", "MAY", "FACT"}


def test_what_is_untested_is_of_the_wanted_groups() -> None:
    found = untested(["DEL"], extended=True)
    assert {one.group for one in found} <= {"DEL"}
    assert set(untested(["DEL"])) <= set(found)


def test_every_id_that_is_named_is_one_of_the_list() -> None:
    """A docstring, a test or a page that names a requirement by a slip leads nobody anywhere."""
    known = {(one.group, one.number) for one in requirements()}
    groups = {group for group, _ in known}
    strangers = []
    for path in [*ROOT.rglob("*.py"), *ROOT.rglob("*.md"), *ROOT.rglob("*.sql")]:
        if not any(part.startswith(".") for part in path.relative_to(ROOT).parts):
            named = named_in([path.read_text(encoding="utf-8")])
            strangers += [f"{path.name}: {group}-{n}" for group, n in named - known if group in groups]
    assert strangers == []
