"""`undo` of places: added, removed, forgotten, encrypted (APP-4)."""

from __future__ import annotations

from pathlib import Path

import pytest

from lazy.folder import undo as undoing
from lazy.folder.last_act import NothingToUndo, last_act
from lazy.folder.undo import undo
from lazy.places.adding import add_place
from lazy.places.registry import place_named, places, remove_place
from tests.cli.undoable import begin, begin_together
from tests.people import Person
from tests.vault.vaults import befriend, found, write
from vault.folder.work import commit
from vault.vault import Vault


def test_places_come_and_go(alice: Person, tmp_path: Path) -> None:
    begin(alice)
    stick = tmp_path / "stick"
    alice.lace("place", "add", "stick", str(stick))
    alice.lace("place", "remove", "stick")
    assert alice.text("undo", "--dry-run") == "stick would be a place again.\n"
    assert alice.lace("undo")["undone"] == "stick is a place again"
    assert [place["place"] for place in alice.lace("places")["places"]] == ["stick"]
    assert alice.text("undo", "--dry-run") == "stick would no longer be a place.\n", "it was told as done"
    assert alice.lace("undo")["undone"] == "stick is no longer a place"
    assert alice.lace("places")["places"] == []
    assert alice.lace("undo", expect=2)["error"]["code"] == "nothing-to-undo"


def test_a_peer_that_was_named_is_left_and_not_taken_back(alice: Person, bob: Person, tmp_path: Path) -> None:
    """APP-4: also where they are met at a place of everybody's, so that the peer has none of its own."""
    begin_together(alice, bob, tmp_path)
    stick = (tmp_path / "stick").as_uri()
    for uri in (stick, str(tmp_path / "theirs")):
        bob.lace("leave", "alice")
        bob.lace("join", "alice", uri, "--key", alice.lace("id")["node"])
        if uri != stick:
            assert "no longer a place" in bob.lace("undo")["undone"]
        for words in (("undo",), ("undo", "--dry-run")):
            error = bob.lace(*words, expect=2)["error"]
            assert (error["code"], error["hint"]) == ("nothing-to-undo", "Stop syncing with them: lace leave NAME.")
    error = bob.lace("leave", "stick", expect=2)["error"]
    assert (error["code"], error["hint"]) == ("no-such-peer", "To forget the place: lace place remove stick")
    bob.lace("place", "remove", "stick")


def test_a_place_that_was_added_encrypted_goes_in_one_act(alice: Person, tmp_path: Path) -> None:
    """APP-4: it was told that the encryption is not taken back, and no earlier act was within reach any more."""
    begin(alice)
    add = ("place", "add", "stick", str(tmp_path / "stick"), "--encrypt")
    alice.lace(*add)
    assert alice.text("undo", "--dry-run") == "stick would no longer be a place.\n"
    assert alice.lace("undo")["undone"] == "stick is no longer a place"
    assert alice.lace("places")["places"] == []
    alice.lace(*add)
    alice.lace("place", "remove", "stick")
    for undone in ("stick is a place again", "stick is no longer a place"):
        assert alice.lace("undo")["undone"] == undone
    alice.write("a.txt", "two\n")
    alice.lace("commit", "-m", "second")
    assert alice.lace("undo")["revision"] == 2
    alice.lace("place", "add", "stick", str(tmp_path / "stick"))
    alice.lace("place", "set", "stick", "--encrypt")
    error = alice.lace("undo", expect=2)["error"]
    assert "lace place remove NAME" in error["hint"]


def test_a_place_comes_back_as_encrypted_as_it_was(alice: Person, tmp_path: Path) -> None:
    """What was to be read by members alone is never left there in plain."""
    begin(alice)
    alice.lace("release", "1.0.0")
    alice.lace("place", "add", "stick", str(tmp_path / "stick"), "--encrypt")
    alice.lace("place", "remove", "stick")
    alice.lace("undo")
    assert [place["encrypted"] for place in alice.lace("places")["places"]] == [True]
    alice.lace("sync", "stick")
    heads = [path.read_bytes() for path in (tmp_path / "stick").rglob("head.rec")]
    assert [head[:7] for head in heads] == [b"LACEENV"]


def test_a_place_comes_back_for_the_one_it_was_for(tmp_path: Path) -> None:
    alice = found(tmp_path)
    befriend(tmp_path, alice, "bob")
    add_place(alice, "his", str(tmp_path / "his"), cwd=tmp_path, peer="bob")
    his = place_named(alice, "his")
    assert his.peer is not None
    remove_place(alice, "his")
    undo(alice)
    assert place_named(alice, "his").peer == his.peer


@pytest.mark.parametrize("is_forgotten", [False, True])
def test_an_act_that_comes_first_is_not_passed_over_with_a_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_forgotten: bool
) -> None:
    """APP-4: somebody commits in another window; the undo after it took back what was done before that commit."""
    alice, really = found(tmp_path), last_act
    write(alice, "a.txt", "one")
    commit(alice, "one")
    add_place(alice, "stick", str(tmp_path / "stick"), cwd=tmp_path)
    if is_forgotten:
        remove_place(alice, "stick")
    before = places(alice)

    def overtaken(vault: Vault) -> object:
        monkeypatch.setattr(undoing, "last_act", really)
        act = really(vault)
        with Vault(vault.folder, vault.around) as other:
            write(other, "a.txt", "two")
            commit(other, "two")
        return act

    monkeypatch.setattr(undoing, "last_act", overtaken)
    with pytest.raises(NothingToUndo, match="Something else was done here meanwhile"):
        undo(alice)
    assert places(alice) == before
    assert undo(alice).revision == 2
    alice.close()


def test_a_place_that_cannot_be_encrypted_is_none(alice: Person) -> None:
    begin(alice)
    live = f"https://127.0.0.1:1/#V.{'0' * 43}.H3"
    assert alice.lace("place", "add", "line", live, "--encrypt", expect=2)["error"]["code"] == "bad-arguments"
    assert alice.lace("places")["places"] == []
