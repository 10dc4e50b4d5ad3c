"""A side that came after its version was decided: whose lines a region gets where my line holds several (LAZ-39)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import make_pair, make_trio
from tests.people import Person, person_in
from tests.shelf import Shelf


@pytest.fixture
def decided(shelf: Shelf) -> tuple[Person, ...]:
    """Alice and friends with a release each of one version; cara and dora did not sync theirs yet."""
    return shelf.lay(_decided)


def _decided(root: Path) -> tuple[Person, ...]:
    alice, bob = make_pair(root)
    cara, dora = person_in(root, "cara"), person_in(root, "dora")
    for friend in (cara, dora):
        friend.lace("accept", alice.lace("invite", friend.name)["invite"], "--name", friend.name)
        for person in (friend, alice, friend):
            person.run("sync", "stick")
        friend.lace("update")
    for person in (alice, bob, cara, dora):
        person.write("notes.md", f"{person.name}\ntwo\nthree\nfour\nfive\n")
        person.lace("release", "2.0.0")
    for person in (alice, bob, alice):
        person.run("sync", "stick")
    return alice, bob, cara, dora


def _late(alice: Person, cara: Person, kept: str, lines: str = "") -> None:
    """Alice keeps one of two sides, perhaps edits it, and cara's release comes."""
    alice.lace("resolve", "2.0.0", "--prefer", kept)
    if lines:
        alice.write("notes.md", lines)
        alice.lace("commit", "-m", "more")
    for person in (alice, cara, alice):
        person.run("sync", "stick")


_DECIDE = ("resolve", "2.0.0", "--merged", "3.0.0", "--path", "notes.md")


@pytest.mark.parametrize(("kept", "asked"), [("alice", "bob"), ("bob", "alice")])
def test_lines_are_those_of_who_is_named_or_of_nobody(decided: tuple[Person, ...], kept: str, asked: str) -> None:
    """LAZ-39, LAZ-42: who asked for the lines of one got those of the other, without a word."""
    alice, _, cara, _ = decided
    _late(alice, cara, kept)
    refused = alice.lace(*_DECIDE, "--region", "1", "--take", asked, expect=2)["error"]
    assert refused["code"] == "no-such-side"
    assert asked in refused["message"]
    assert "local means" in refused["hint"]
    assert alice.lace(*_DECIDE, "--region", "1", "--take", asked, "--dry-run", expect=2)["error"] == refused
    alice.lace(*_DECIDE, "--take", asked)
    assert (alice.folder / "notes.md").read_text().startswith(f"{asked}\n")


@pytest.mark.parametrize("kept", ["alice", "bob"])
@pytest.mark.parametrize("word", ["local", "kept", "cara"])
def test_the_lines_that_the_decision_kept_are_those_of_its_side(
    decided: tuple[Person, ...], kept: str, word: str
) -> None:
    alice, _, cara, _ = decided
    _late(alice, cara, kept)
    alice.lace(*_DECIDE, "--region", "1", "--take", kept if word == "kept" else word)
    assert (alice.folder / "notes.md").read_text().startswith("cara\n" if word == "cara" else f"{kept}\n")


@pytest.mark.parametrize("is_committed", [True, False])
def test_after_more_work_only_local_means_my_lines(decided: tuple[Person, ...], is_committed: bool) -> None:
    alice, _, cara, _ = decided
    edited = "later\ntwo\nthree\nfour\nfive\n"
    _late(alice, cara, "bob", edited if is_committed else "")
    alice.write("notes.md", edited)
    for asked in ("alice", "bob"):
        refused = alice.lace(*_DECIDE, "--region", "1", "--take", asked, expect=2)["error"]
        assert refused["code"] == "no-such-side"
    alice.lace(*_DECIDE, "--region", "1", "--take", "local")
    assert (alice.folder / "notes.md").read_text() == edited


def test_of_three_too(decided: tuple[Person, ...]) -> None:
    """LAZ-39: of more than two heads the first one that holds a side stood for it."""
    alice, _, cara, dora = decided
    _late(alice, cara, "alice")
    for person in (dora, alice):
        person.run("sync", "stick")
    (conflict,) = alice.lace("conflicts", "--regions")["conflicts"]
    (path,) = [one for one in conflict["regions"] if one["path"] == "notes.md"]
    words = {side["side"]: side["text"] for side in path["regions"][0]["sides"]}
    assert words == {"local": "alice\n", "cara": "cara\n", "dora": "dora\n"}
    assert alice.lace(*_DECIDE, "--region", "1", "--take", "bob", expect=2)["error"]["code"] == "no-such-side"
    alice.lace(*_DECIDE, "--region", "1", "--take", "dora")
    assert (alice.folder / "notes.md").read_text().startswith("dora\n")


@pytest.mark.parametrize("word", ["alice", "local"])
def test_a_line_that_went_on_from_one_side_alone_stands_for_it(decided: tuple[Person, ...], word: str) -> None:
    """LAZ-39: nothing of anybody else is in it, so a side means what its owner made of it since."""
    alice, *_ = decided
    alice.write("notes.md", "later\ntwo\nthree\nfour\nfive\n")
    alice.lace("commit", "-m", "more")
    assert len(alice.lace("conflicts")["conflicts"][0]["sides"]) == 2
    alice.lace(*_DECIDE, "--region", "1", "--take", word)
    assert (alice.folder / "notes.md").read_text().startswith("later\n")


@pytest.fixture
def merged_twice(shelf: Shelf) -> tuple[Person, Person, Person]:
    """Alice and bob with a release each of one version; bob and cara each merged them, cara with a file of her own."""
    return shelf.lay(_merged_with_a_song)


def _merged_with_a_song(root: Path) -> tuple[Person, Person, Person]:
    return _merged_twice(make_trio(root), lambda _: None, lambda cara: cara.write("song.md", "cara's own\n"))


def _merged_twice(
    trio: tuple[Person, Person, Person], of_bob: Callable[[Person], object], of_cara: Callable[[Person], object]
) -> tuple[Person, Person, Person]:
    """Have bob and cara each merge one version, with what each does beside it, and alice accept cara's decision."""
    alice, bob, cara = trio
    for person in (alice, bob):
        person.write("notes.md", f"{person.name}\ntwo\nthree\nfour\nfive\n")
        person.lace("release", "2.0.0")
    for person in (alice, bob, cara, alice):
        person.run("sync", "stick")
    for person, version, beside in ((bob, "2.1.0", of_bob), (cara, "2.2.0", of_cara)):
        person.write("notes.md", f"both, says {person.name}\ntwo\nthree\nfour\nfive\n")
        beside(person)
        person.lace("resolve", "2.0.0", "--merged", version, "--yes")
    for person in (bob, cara, alice):
        person.run("sync", "stick")
    alice.lace("resolve", "2.0.0", "--accept", "cara")
    return alice, bob, cara


def test_who_decides_anew_takes_back_nothing_beside_the_sides(merged_twice: tuple[Person, Person, Person]) -> None:
    """LAZ-40, LAZ-43: bob's next release stood on both decisions and lacked cara's file, so her update deleted it."""
    alice, bob, cara = merged_twice
    alice.lace("resolve", "2.0.0", "--accept", "bob")
    alice.run("sync", "stick")
    bob.run("sync", "stick")
    bob.lace("resolve", "2.0.0", "--accept")
    assert (bob.folder / "song.md").read_text() == "cara's own\n"
    bob.write("list.md", "bread\n")
    bob.lace("release", "2.3.0")
    bob.run("sync", "stick")
    cara.run("sync", "stick")
    done = cara.lace("update")
    assert (done["written"], done["deleted"]) == (["list.md", "notes.md"], [])


def test_a_newer_edit_of_mine_takes_back_nothing_either(merged_twice: tuple[Person, Person, Person]) -> None:
    """LAZ-39, LAZ-40: where the folder could not follow, deciding it deleted what the first decision had."""
    alice, _, _ = merged_twice
    alice.write("notes.md", "alice again\ntwo\nthree\nfour\nfive\n")
    assert alice.lace("resolve", "2.0.0", "--accept", "bob", expect=1)["conflicts"] == ["notes.md"]
    alice.lace("resolve", "--all", "--prefer", "remote")
    assert (alice.folder / "song.md").read_text() == "cara's own\n"


@pytest.mark.parametrize("side", ["alice", "bob"])
def test_a_side_that_is_kept_after_a_merge_takes_back_nothing_beside_it(
    merged_twice: tuple[Person, Person, Person], side: str
) -> None:
    """LAZ-40: the merge was given up for a side of the version, and with it what it held beside that."""
    alice, _, cara = merged_twice
    planned = alice.lace("resolve", "2.0.0", "--prefer", side, "--dry-run")
    done = alice.lace("resolve", "2.0.0", "--prefer", side)
    assert (planned["written"], planned["deleted"]) == (done["written"], done["deleted"]) == (["notes.md"], [])
    alice.run("sync", "stick")
    cara.run("sync", "stick")
    assert cara.lace("resolve", "2.0.0", "--accept", "alice")["deleted"] == []
    assert (cara.folder / "song.md").read_text() == "cara's own\n"


def test_what_was_taken_back_of_an_earlier_decision_stays_so(merged_twice: tuple[Person, Person, Person]) -> None:
    """LAZ-39: a file that came with the first decision, and was deleted since, came back with the second."""
    alice, _, _ = merged_twice
    (alice.folder / "song.md").unlink()
    alice.lace("resolve", "2.0.0", "--accept", "bob")
    assert not (alice.folder / "song.md").exists()


@pytest.mark.parametrize(("word", "kept", "gone"), [("bob", "bobs.md", "caras.md"), ("local", "caras.md", "bobs.md")])
def test_a_file_that_two_decisions_moved_has_the_name_that_is_chosen(
    trio: tuple[Person, Person, Person], word: str, kept: str, gone: str
) -> None:
    """LAZ-39: that it is gone under its former name, both say; it was taken for two files, and stood under both."""

    def moved(person: Person) -> None:
        (person.folder / "list.md").rename(person.folder / f"{person.name}s.md")

    alice, bob, _ = _merged_twice(trio, moved, moved)
    assert alice.lace("resolve", "2.0.0", "--accept", "bob", expect=2)["error"]["code"] == "decisions-clash"
    alice.lace("resolve", "2.0.0", "--accept", "bob", "--path", "caras.md", "--take", word)
    alice.run("sync", "stick")
    _follow(bob)
    for person in (alice, bob):
        assert not (person.folder / gone).exists()
        assert (person.folder / kept).exists()


def _follow(person: Person) -> None:
    """Take what alice decided; who decided the same before has nothing to accept."""
    person.run("sync", "stick")
    person.run("resolve", "2.0.0", "--accept", "alice")
    person.run("update")


_BESIDE = "one\n{}\nthree\n"


@pytest.fixture
def clashing(trio: tuple[Person, Person, Person]) -> tuple[Person, Person, Person]:
    """As `merged_twice`, but bob and cara each made a file beside the sides, whose lines clash."""

    def beside(person: Person) -> None:
        person.write("song.md", _BESIDE.format(person.name))

    return _merged_twice(trio, beside, beside)


def test_decisions_that_clash_beside_the_sides_are_asked_about(clashing: tuple[Person, Person, Person]) -> None:
    """LAZ-42: bob's file counted with all of it, nobody was told, and cara lost her lines by a plain update."""
    alice, _, _ = clashing
    before = (alice.lace("status"), alice.lace("log"))
    error = alice.lace("resolve", "2.0.0", "--accept", "bob", expect=2)["error"]
    assert error["code"] == "decisions-clash"
    assert "song.md" in error["message"]
    assert "--accept --path song.md --take local" in error["hint"]
    assert (alice.folder / "song.md").read_text() == _BESIDE.format("cara")
    assert (alice.lace("status"), alice.lace("log")) == before


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("local", _BESIDE.format("made of both")),
        ("both", _BESIDE.format("cara") + _BESIDE.format("bob")),
        ("bob", _BESIDE.format("bob")),
        ("unedited", _BESIDE.format("cara")),
    ],
)
def test_the_way_out_ends_the_conflict_for_everybody(
    clashing: tuple[Person, Person, Person], word: str, text: str
) -> None:
    """LAZ-42, LAZ-43: what was chosen for the path is what all three have, and nobody is asked again."""
    alice, bob, cara = clashing
    if word == "local":
        alice.write("song.md", _BESIDE.format("made of both"))
    chosen = "local" if word == "unedited" else word
    alice.lace("resolve", "2.0.0", "--accept", "bob", "--path", "song.md", "--take", chosen)
    alice.run("sync", "stick")
    for person in (bob, cara):
        _follow(person)
    for person in (alice, bob, cara):
        assert person.lace("conflicts")["conflicts"] == []
        assert (person.folder / "song.md").read_text() == text


def test_a_choice_that_has_no_meaning_is_refused(clashing: tuple[Person, Person, Person]) -> None:
    """LAZ-39: neither a path in which nothing clashes nor a word for nobody is passed over."""
    alice, _, _ = clashing
    accept = ("resolve", "2.0.0", "--accept", "bob", "--path", "song.md", "--take")
    assert alice.lace(*accept, "zoe", expect=2)["error"]["code"] == "no-such-side"
    strange = alice.lace(*accept, "local", "--path", "notes.md", "--take", "local", expect=2)
    assert strange["error"]["code"] == "no-such-path"


def test_lines_of_two_decisions_that_do_not_clash_are_merged(trio: tuple[Person, Person, Person]) -> None:
    """LAZ-40: by regions, as everywhere."""
    lines = [str(number) for number in range(9)]

    def beside(person: Person) -> None:
        at = 0 if person.name == "bob" else 8
        person.write("list.md", "\n".join([*lines[:at], person.name, *lines[at + 1 :]]) + "\n")

    trio[0].write("list.md", "\n".join(lines) + "\n")
    trio[0].lace("release", "1.9.0")
    for person in trio:
        person.run("sync", "stick")
        person.run("update")
    alice, _, _ = _merged_twice(trio, beside, beside)
    alice.lace("resolve", "2.0.0", "--accept", "bob")
    assert (alice.folder / "list.md").read_text().split() == ["bob", *lines[1:8], "cara"]
