"""Two friends clash where a third changed nothing: whose the sides are, and that nothing follows by itself (LAZ-42)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import make_trio
from tests.people import Person
from tests.shelf import Shelf


@pytest.fixture
def friends(shelf: Shelf) -> tuple[Person, Person, Person]:
    """Alice and bob, who changed one line each in their own way, and cara, who edited nothing and has both releases."""
    return shelf.lay(_friends)


def _friends(root: Path) -> tuple[Person, Person, Person]:
    alice, bob, cara = make_trio(root)
    for version, person in (("1.1.0", alice), ("1.2.0", bob)):
        person.write("notes.md", f"{person.name}\ntwo\nthree\nfour\nfive\n")
        person.lace("release", version)
    for person in (alice, bob, cara):
        person.run("sync", "stick")
    return alice, bob, cara


def _asked(cara: Person) -> dict[str, Any]:
    """Let cara's update note the conflict, and return it."""
    assert cara.run("update").code == 1
    (conflict,) = cara.lace("conflicts", "--regions")["conflicts"]
    return dict(conflict)


def test_the_friends_are_the_sides_and_nobody_else(friends: tuple[Person, ...]) -> None:
    """LAZ-35, LAZ-42: her own old state, which is alice's, was a side, so alice was `alice:1 or alice:2`."""
    *_, cara = friends
    conflict = _asked(cara)
    words = [side["word"] for side in conflict["sides"]]
    assert sorted(words) == ["alice", "bob"]
    told = cara.text("conflicts", "--regions")
    assert f"Decide: lace resolve {conflict['id']} --prefer {' or '.join(words)}," in told
    assert "(local)" not in told
    for person in friends[:2]:
        assert f"      {person.name}> {person.name}\n" in told
    (path,) = conflict["regions"]
    of = {"ours": path["from"], "theirs": path["with"]}
    (region,) = path["regions"]
    assert {word: region[which] for which, word in of.items()} == {"alice": "alice\n", "bob": "bob\n"}


@pytest.mark.parametrize("side", ["local", "remote", "alice", "bob"])
@pytest.mark.parametrize("words", ["prefer", "take"])
def test_a_friend_s_side_is_taken_and_no_other_is_meant(friends: tuple[Person, ...], side: str, words: str) -> None:
    """LAZ-39, LAZ-42: of `--prefer local` somebody's lines came, and `--prefer alice` fitted two sides."""
    *_, cara = friends
    conflict = _asked(cara)
    decide = ("--prefer", side) if words == "prefer" else ("--merged", "2.0.0", "--path", "notes.md", "--take", side)
    done = cara.lace("resolve", conflict["id"], *decide, expect=0 if side in {"alice", "bob"} else 2)
    first = (cara.folder / "notes.md").read_text().partition("\n")[0]
    if side in {"alice", "bob"}:
        assert first == side
        return
    assert (first, done["error"]["code"]) == ("one", "no-such-side")
    assert "alice (S." in done["error"]["hint"]
    if side == "local":
        assert done["error"]["message"] == f"No side of the conflict {conflict['id']} is yours, so 'local' is none."


@pytest.mark.parametrize("other", ["", "committed", "edited"])
def test_what_nobody_edited_is_no_merge(friends: tuple[Person, ...], other: str) -> None:
    """LAZ-42: the file was released as it had been before both, with the work of each taken out of it."""
    *_, cara = friends
    if other:
        cara.write("list.md", "bread\n")
    if other == "committed":
        cara.lace("commit", "-m", "bread")
    conflict = _asked(cara)
    for more in ((), ("--yes",), ("--dry-run",)):
        refused = cara.lace("resolve", conflict["id"], "--merged", "2.0.0", *more, expect=2)["error"]
        assert (refused["code"], "notes.md" in refused["message"]) == ("path-undecided", True)
        assert "--take SIDE" in refused["hint"]
    cara.write("notes.md", "alice and bob\ntwo\nthree\nfour\nfive\n")
    assert cara.lace("resolve", conflict["id"], "--merged", "2.0.0")["unedited"] == []
    assert (cara.folder / "notes.md").read_text().startswith("alice and bob\n")
    assert (cara.folder / "list.md").read_text() == ("bread\n" if other else "milk\n")


def test_who_changed_nothing_there_is_not_named(friends: tuple[Person, ...]) -> None:
    """LAZ-42: it said `and you` of a file that she had never touched."""
    *_, cara = friends

    def said(*more: str) -> str:
        lines = cara.text("update", *more, expect=1).splitlines()
        (line,) = [line for line in lines if "changed the same places" in line]
        return line

    both = ({"alice 1.1.0", "bob 1.2.0"}, "changed the same places; nothing was changed in your folder:")

    def parted(line: str) -> tuple[set[str], str]:
        who, _, rest = line.removeprefix("! ").partition(" changed")
        return set(who.split(", ")), f"changed{rest}"

    for more in (("--dry-run",), ()):
        assert parted(said(*more)) == both
    cara.write("list.md", "bread\n")
    assert parted(said("--dry-run")) == both
    cara.lace("commit", "-m", "bread")
    for more in (("--dry-run",), ()):
        assert parted(said(*more)) == both
    cara.write("notes.md", "cara\ntwo\nthree\nfour\nfive\n")
    cara.lace("commit", "-m", "notes")
    for more in (("--dry-run",), ()):
        assert " and you changed the same places;" in said(*more)


def test_what_one_of_them_merged_needs_an_update_only(friends: tuple[Person, ...]) -> None:
    """LAZ-4, LAZ-42: she was asked to decide what bob had merged, and an update ended it."""
    _, bob, cara = friends
    _asked(cara)
    conflict = _asked(bob)
    bob.lace("resolve", conflict["id"], "--merged", "2.0.0", "--path", "notes.md", "--take", "alice")
    bob.run("sync", "stick")
    assert cara.lace("sync", "stick", expect=1)["next"] == "lace update"
    cara.lace("update")
    assert cara.lace("conflicts")["conflicts"] == []
    assert (cara.folder / "notes.md").read_text().startswith("alice\n")


@pytest.mark.parametrize("edits", [False, True])
def test_what_a_friend_went_on_from_is_no_edit_of_the_clash(
    trio: tuple[Person, Person, Person], *, edits: bool
) -> None:
    """LAZ-42: her own work, that alice had changed since, was released in the place of what alice and bob had made."""
    alice, bob, cara = trio
    for version, person in (("1.1.0", cara), ("1.2.0", alice)):
        person.run("sync", "stick")
        person.lace("update")
        person.write("notes.md", f"{person.name}\ntwo\nthree\nfour\nfive\n")
        person.lace("release", version)
        person.run("sync", "stick")
    bob.write("notes.md", "bob\ntwo\nthree\nfour\nfive\n")
    bob.lace("release", "1.3.0")
    for person in (bob, cara):
        person.run("sync", "stick")
    conflict = _asked(cara)
    assert sorted(side["word"] for side in conflict["sides"]) == ["alice", "bob"]
    if edits:
        cara.write("notes.md", "of both\ntwo\nthree\nfour\nfive\n")
        cara.lace("resolve", conflict["id"], "--merged", "2.0.0")
        assert (cara.folder / "notes.md").read_text().startswith("of both\n")
        return
    for more in (("--dry-run",), ()):
        refused = cara.lace("resolve", conflict["id"], "--merged", "2.0.0", *more, expect=2)["error"]
        assert refused["code"] == "path-undecided"


@pytest.fixture
def behind(shelf: Shelf) -> tuple[Person, dict[str, Any]]:
    """Cara, whose own change is in another file, and the clash of friends who both went on from a newer state."""
    return shelf.lay(_behind)


def _behind(root: Path) -> tuple[Person, dict[str, Any]]:
    alice, bob, cara = make_trio(root)
    cara.write("list.md", "bread\n")
    cara.lace("commit", "-m", "bread")
    alice.write("notes.md", "newer\ntwo\nthree\nfour\nfive\n")
    alice.lace("release", "1.1.0")
    alice.run("sync", "stick")
    bob.run("sync", "stick")
    bob.lace("update")
    for version, person in (("1.2.0", alice), ("1.3.0", bob)):
        person.write("notes.md", f"{person.name}\ntwo\nthree\nfour\nfive\n")
        person.lace("release", version)
        person.run("sync", "stick")
    cara.run("sync", "stick")
    for more in (("--dry-run",), ()):
        told = cara.text("update", *more, expect=1)
        assert "alice 1.2.0" in told
        assert "and you" not in told
    return cara, _asked(cara)


@pytest.mark.parametrize("edits", [False, True])
def test_a_state_older_than_what_the_friends_went_on_from_is_no_edit(
    behind: tuple[Person, dict[str, Any]], *, edits: bool
) -> None:
    """LAZ-42: it said `and you`, and a merge without choices released the old file over the work of both."""
    cara, conflict = behind
    if edits:
        cara.write("notes.md", "of both\ntwo\nthree\nfour\nfive\n")
        cara.lace("resolve", conflict["id"], "--merged", "2.0.0")
        assert (cara.folder / "notes.md").read_text().startswith("of both\n")
        return
    for more in (("--dry-run",), ("--yes",)):
        refused = cara.lace("resolve", conflict["id"], "--merged", "2.0.0", *more, expect=2)["error"]
        assert (refused["code"], "notes.md" in refused["message"]) == ("path-undecided", True)
    assert (cara.folder / "notes.md").read_text().startswith("one\n")


@pytest.fixture
def with_list(shelf: Shelf) -> tuple[Person, dict[str, Any]]:
    """Cara, who edited nothing, and the friends' clash in one file; alice alone changed another one too."""
    return shelf.lay(_with_list)


def _with_list(root: Path) -> tuple[Person, dict[str, Any]]:
    cara = _about_list(root)
    conflict = _asked(cara)
    assert conflict["paths"] == ["notes.md"]
    return cara, conflict


def _about_list(root: Path) -> Person:
    """Let the friends clash, and return cara, who has their work and no conflict yet."""
    alice, bob, cara = make_trio(root)
    alice.write("list.md", "milk of alice\n")
    for version, person in (("1.1.0", alice), ("1.2.0", bob)):
        person.write("notes.md", f"{person.name}\ntwo\nthree\nfour\nfive\n")
        person.lace("release", version)
    for person in (alice, bob, cara):
        person.run("sync", "stick")
    return cara


@pytest.mark.parametrize("side", ["alice", "bob"])
@pytest.mark.parametrize("edits", [False, True])
def test_a_preferred_side_counts_for_what_the_conflict_names(
    with_list: tuple[Person, dict[str, Any]], side: str, *, edits: bool
) -> None:
    """LAZ-39, LAZ-42: a file that was edited since got the old state, which the preferred friend had never changed."""
    cara, conflict = with_list
    if edits:
        cara.write("list.md", "milk of cara\n")
    written = ["notes.md"] if edits else ["list.md", "notes.md"]
    for more in (("--dry-run",), ()):
        assert cara.lace("resolve", conflict["id"], "--prefer", side, *more)["written"] == written
    assert (cara.folder / "notes.md").read_text().startswith(f"{side}\n")
    assert (cara.folder / "list.md").read_text() == f"milk of {'cara' if edits else 'alice'}\n"


@pytest.mark.parametrize(("side", "content"), [("alice", "milk of alice\n"), ("bob", "milk of cara\n")])
def test_a_preferred_side_counts_where_it_changed_something(
    with_list: tuple[Person, dict[str, Any]], side: str, content: str
) -> None:
    """LAZ-39, LAZ-42: of a clash between others it brought the old state back that both went on from."""
    cara, conflict = with_list
    cara.write("list.md", "milk of cara\n")
    cara.lace("commit", "-m", "milk")
    (now,) = cara.lace("conflicts")["conflicts"]
    assert now["paths"] == ["list.md", "notes.md"]
    written = ["list.md", "notes.md"] if side == "alice" else ["notes.md"]
    for more in (("--dry-run",), ()):
        assert cara.lace("resolve", conflict["id"], "--prefer", side, *more)["written"] == written
    assert (cara.folder / "list.md").read_text() == content
    assert (cara.folder / "notes.md").read_text().startswith(f"{side}\n")


def test_my_old_state_is_not_preferred_over_the_friends_work(behind: tuple[Person, dict[str, Any]]) -> None:
    """LAZ-42: preferring my side released the file as it was before both; nothing of it is mine there."""
    cara, conflict = behind
    for more in (("--dry-run",), ()):
        refused = cara.lace("resolve", conflict["id"], "--prefer", "local", *more, expect=2)["error"]
        assert refused["code"] == "path-undecided"
        assert "--merged VERSION --path P --take SIDE" in refused["hint"]
    assert (cara.folder / "notes.md").read_text().startswith("one\n")


@pytest.mark.parametrize("name", ["notes.md", "list.md", "new.md"])
@pytest.mark.parametrize("committed", ["", "other.md"])
def test_a_dry_run_asks_what_the_update_asks(shelf: Shelf, name: str, committed: str) -> None:
    """LAZ-42: the folder stood for a friend's side, so the update committed it first and asked otherwise."""
    cara = shelf.lay(_about_list)
    if committed:
        cara.write(committed, "cara\n")
        cara.lace("commit", "-m", "cara")
    cara.write(name, "milk of cara\n")

    def asked(*more: str) -> str:
        text = cara.text("update", *more, expect=1)
        return text[text.index("! ") :].partition("Next: ")[0]

    planned = asked("--dry-run")
    assert (" and you changed the same places" in planned) == (name == "list.md")
    assert [asked(), asked()] == [planned, planned]
    assert ("before update" in cara.text("log")) == (name == "list.md")  # nothing else of hers is in question


def test_every_undecided_path_is_named(trio: tuple[Person, Person, Person]) -> None:
    """LAZ-42: it named the one that clashed first, which hashes decide, and the next one only after a choice for it."""
    alice, bob, cara = trio
    for version, person in (("1.1.0", alice), ("1.2.0", bob)):
        for name in ("notes.md", "list.md"):
            person.write(name, f"{person.name}\n")
        person.lace("release", version)
    for person in (alice, bob, cara):
        person.run("sync", "stick")
    conflict = _asked(cara)
    cara.write("new.md", "cara\n")
    for more in (("--dry-run",), ()):
        refused = cara.lace("resolve", conflict["id"], "--merged", "2.0.0", *more, expect=2)["error"]
        told = "list.md, notes.md differ between the sides, and your folder has them as they were before."
        assert (refused["code"], refused["message"]) == ("path-undecided", told)


_EIGHT = "".join(f"{number}\n" for number in range(1, 9))


def _two_of_one_version(root: Path) -> tuple[Person, Person, Person]:
    """Let alice and bob release one version of a file of eight lines, and cara change its last one before she knows."""
    alice, bob, cara = make_trio(root)
    alice.write("list.md", _EIGHT)
    alice.lace("release", "1.1.0")
    for person in (alice, bob, cara):
        person.run("sync", "stick")
    for person in (bob, cara):
        person.lace("update")
    for person in (alice, bob):
        person.write("list.md", _EIGHT.replace("1\n", f"{person.name}\n"))
        person.lace("release", "2.0.0")
    cara.write("list.md", _EIGHT.replace("8\n", "cara\n"))
    return alice, bob, cara


@pytest.mark.parametrize("how", [("commit", "-m", "mine"), ("release", "1.2.0")])
@pytest.mark.parametrize("is_edited", [False, True])
def test_what_i_committed_before_i_knew_of_one_version_is_no_merge_unsaid(
    shelf: Shelf, how: tuple[str, ...], *, is_edited: bool
) -> None:
    """LAZ-42: both friends' lines went in silence, and the next update of each took their own away."""
    alice, bob, cara = shelf.lay(_two_of_one_version)
    cara.lace(*how)
    for person in (alice, bob, cara):
        person.run("sync", "stick")
    if is_edited:
        cara.write("list.md", _EIGHT.replace("1\n", "alice and bob\n").replace("8\n", "cara\n"))
    decide = ("resolve", "2.0.0", "--merged", "3.0.0")
    named = [] if is_edited else [("list.md", "cara", ["alice", "bob"])]
    planned = cara.lace(*decide, "--dry-run")
    assert [(one["path"], one["side"], sorted(one["without"])) for one in planned["unedited"]] == named
    if not is_edited:
        cara.environ["TERM"] = "xterm"
        asked = cara.run(*decide, tty=True, stdin=b"\n")
        assert (asked.text.startswith("Nothing was decided."), "list.md: yours as it stands; " in asked.err) == (
            True,
            True,
        )
        assert len(cara.lace("conflicts")["conflicts"]) == 1
    done = cara.lace(*decide)
    assert [(one["path"], one["side"], sorted(one["without"])) for one in done["unedited"]] == named


def test_what_a_bystander_left_alone_is_refused_and_not_asked_about(shelf: Shelf) -> None:
    """LAZ-42: what the friends went on from is nobody's merge, so there is nothing to agree to."""
    alice, bob, cara = shelf.lay(_two_of_one_version)
    cara.write("list.md", _EIGHT)
    for person in (alice, bob, cara):
        person.run("sync", "stick")
    cara.environ["TERM"] = "xterm"
    refused = cara.run("resolve", "2.0.0", "--merged", "3.0.0", tty=True, stdin=b"n\n")
    assert (refused.code, "yours as it stands" in refused.err + refused.text) == (2, False)


@pytest.mark.parametrize("side", ["alice", "bob"])
def test_what_a_preferred_side_leaves_as_my_folder_has_it_is_named_and_asked_about(
    with_list: tuple[Person, dict[str, Any]], side: str
) -> None:
    """LAZ-42: a friend's change to a file that I had edited, which the conflict does not name, was dropped unsaid."""
    cara, conflict = with_list
    decide = ("resolve", conflict["id"], "--prefer", side)
    assert cara.lace(*decide, "--dry-run")["unedited"] == []
    cara.write("list.md", "milk of cara\n")
    named = [{"path": "list.md", "side": "cara", "without": ["alice"]}]
    assert cara.lace(*decide, "--dry-run")["unedited"] == named
    told = "! list.md: yours as it stands; alice's is not in it\n"
    assert told in cara.text(*decide, "--dry-run") + "\n"
    cara.environ["TERM"] = "xterm"
    for words in (decide, ("resolve", "--all", "--prefer", side)):
        asked = cara.run(*words, tty=True, stdin=b"\n")
        assert (told in asked.err, "Decide it so? [y/N]" in asked.err) == (True, True)
        assert "choose: --merged VERSION --path P --take SIDE" in asked.text
        assert len(cara.lace("conflicts")["conflicts"]) == 1
    assert cara.lace(*decide)["unedited"] == named
    assert (cara.folder / "list.md").read_text() == "milk of cara\n"


@pytest.mark.parametrize("side", ["alice", "bob"])
def test_what_a_preferred_side_has_is_not_said_to_be_left_out(
    with_list: tuple[Person, dict[str, Any]], side: str
) -> None:
    """LAZ-42: of a committed change the conflict names the file; where the side changed it, that side's comes."""
    cara, conflict = with_list
    cara.write("list.md", "milk of cara\n")
    cara.lace("commit", "-m", "milk")
    named = [] if side == "alice" else [{"path": "list.md", "side": "cara", "without": ["alice"]}]
    for more in (("--dry-run",), ()):
        assert cara.lace("resolve", conflict["id"], "--prefer", side, *more)["unedited"] == named
