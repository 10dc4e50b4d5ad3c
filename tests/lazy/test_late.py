"""Content that came late and is in a file for somebody, however it came."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lazy.visits.visit
from lazy.interlace.scope import Scope
from lazy.places import adding
from lazy.receiving.receive import Receiver
from lazy.sync import sync
from lazy.visits.carry import apply_bundle, create_bundle
from tests.faults.circle import around, befriended, found, records_in, visit, write
from tests.rows import put_text, text_at
from tests.shelf import Shelf
from vault.folder.work import commit
from vault.late_content import Lacking, before_late, note_late
from vault.notes.own import LATE, LATE_FROM
from vault.records import RecordHash
from vault.releasing import release
from vault.revisions.history import releases
from vault.vault import Vault

LICENCE = "the same words\n"


def _post(giver: Vault, taker: Vault, file: Path) -> None:
    file.unlink(missing_ok=True)
    if create_bundle(giver, file, peer=taker.name).unmade is None:
        apply_bundle(taker, file)


def _shared(vault: Vault) -> set[RecordHash]:
    rows = vault.store.rows("SELECT b.kind, b.digest FROM shared s JOIN body b USING (p)")
    return {RecordHash(str(kind), bytes(digest)) for kind, digest in rows}


def _holes(vault: Vault) -> int:
    return int(vault.store.rows("SELECT count(*) FROM hole")[0][0])


@pytest.fixture
def friends(shelf: Shelf) -> Iterator[tuple[Vault, Vault]]:
    """Alice lacks a file of cara's, and bob has her log entries and cara's, by files alone."""
    alice, bob = shelf.lay(_friends)
    yield alice, bob
    for vault in (alice, bob):
        vault.close()


def _friends(root: Path) -> tuple[Vault, Vault]:
    alice, bob, cara = befriended(root, "bob", "cara")
    for vault in (alice, bob, cara, alice, bob):
        visit(vault)
    for vault in (alice, cara):
        adding.add_place(vault, "side", str(root / "side"), cwd=root)
    write(cara, "x/licence", LICENCE)
    release(cara, None, "of cara")
    sync(cara, ["side"])
    sync(alice, ["side"], scope=Scope(frozenset(), frozenset({"x/nothing"})))
    assert _holes(alice)
    for giver, taker in ((alice, bob), (bob, alice)):
        _post(giver, taker, root / "post.lace")
    cara.close()
    return alice, bob


def test_a_file_for_somebody_holds_what_came_before_a_sync_was_cut_off(
    friends: tuple[Vault, Vault], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-47: the power went once the content was stored, or the end of the round was refused to a restored vault."""
    alice, bob = friends

    def gone(*_args: object, **_options: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(lazy.visits.visit, "close_round", gone)
        with pytest.raises(KeyboardInterrupt):
            sync(alice, ["side"])
    assert not _holes(alice)
    sync(alice, ["side"])
    _post(alice, bob, tmp_path / "post.lace")
    assert _shared(alice) <= records_in(bob).keys()
    assert len(releases(bob.store)) == len(releases(alice.store))


def test_a_file_for_somebody_holds_my_own_file_that_has_the_bytes_of_a_missing_one(
    friends: tuple[Vault, Vault], tmp_path: Path
) -> None:
    """LAZ-47: they became shared at once, for cara's release, and mine came after: bob never saw either."""
    alice, bob = friends
    write(alice, "mine/licence", LICENCE)
    commit(alice, "not released yet")
    assert not _holes(alice)
    release(alice, None, "of alice")
    _post(alice, bob, tmp_path / "post.lace")
    assert _shared(alice) <= records_in(bob).keys()
    assert len(releases(bob.store)) == len(releases(alice.store))


def test_a_file_for_somebody_holds_what_came_late_where_an_older_lace_did_not_note_it(
    friends: tuple[Vault, Vault], tmp_path: Path
) -> None:
    """LAZ-47: such a vault cannot tell, so its files hold too much, until their reader has heard of a later entry."""
    alice, bob = friends
    sync(alice, ["side"])
    with alice.store.transaction():
        alice.store.drop_note(LATE)
        alice.store.drop_note(LATE_FROM)
    _post(alice, bob, tmp_path / "post.lace")
    assert _shared(alice) <= records_in(bob).keys()
    assert len(releases(bob.store)) == len(releases(alice.store))
    write(alice, "more", "more\n")
    release(alice, None, "of alice")
    for giver, taker in ((alice, bob), (bob, alice)):
        _post(giver, taker, tmp_path / "post.lace")
    assert create_bundle(alice, tmp_path / "nothing.lace", peer="bob").sent == 0


def test_a_file_for_somebody_holds_what_came_after_another_process_made_one(
    friends: tuple[Vault, Vault], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-47: the file was made between two batches of one sync, with an entry of cara's and without its content."""
    alice, bob = friends
    sync(alice, ["side"])
    write(alice, "more", "more\n")
    release(alice, None, "of alice, after all that came late")
    for giver, taker in ((alice, bob), (bob, alice)):
        _post(giver, taker, tmp_path / "post.lace")
    with Vault(tmp_path / "cara" / "f", around(tmp_path, "cara")) as cara:
        write(cara, "y/news", "news\n")
        release(cara, None, "of cara again")
        sync(cara, ["side"])
    take = Receiver.take
    made: list[Path] = []

    def taken(self: Receiver, *args: Any, **options: Any) -> None:
        take(self, *args, **options)
        if _holes(alice) and not made:
            made.append(tmp_path / "between.lace")
            with Vault(alice.folder, alice.around) as beside:
                create_bundle(beside, made[0], peer="bob")

    with monkeypatch.context() as patch:
        patch.setattr(Receiver, "take", taken)
        sync(alice, ["side"])
    assert not _holes(alice)
    apply_bundle(bob, made[0])
    assert _holes(bob)
    _post(bob, alice, tmp_path / "post.lace")
    _post(alice, bob, tmp_path / "post.lace")
    assert _shared(alice) <= records_in(bob).keys()
    assert len(releases(bob.store)) == len(releases(alice.store))


def test_what_was_missing_is_noted_once_for_each_end_of_the_log(shelf: Shelf) -> None:
    """LAZ-47: as a number of the exposure log; what nobody missed is not late."""
    alice = shelf.lay(found)
    missing, other = (RecordHash("P", bytes([number]) * 32) for number in (1, 2))

    def note(wants: set[RecordHash], top: int, *came: RecordHash) -> str:
        with alice.store.transaction():
            note_late(alice.store, Lacking(frozenset(want.text for want in wants), top), came)
        return text_at(alice.store, LATE.name)

    assert note(set(), 5, missing) == ""
    assert note({missing}, 5, other) == ""
    assert note({missing}, 5, other, missing) == "5"
    assert note({missing}, 5, missing) == "5"
    assert note({missing}, 9, missing) == "5 9"
    answers = {"": [3, 4, 5, 6, 9, 10], "4": [3, 5, 5, 9, 9, None]}  # what was never noted is too much, not too little
    for noted_from, expected in answers.items():
        with alice.store.transaction():
            put_text(alice.store, LATE_FROM.name, noted_from)
        assert [before_late(alice.store, known) for known in (3, 4, 5, 6, 9, 10)] == expected
    alice.close()
