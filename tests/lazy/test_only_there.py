"""What a prune let go of stays on the place that has it, whatever is written anew there (CLAY-79; decision 22)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from shutil import rmtree

import pytest

from lazy.address import resolve
from lazy.mend import mend
from lazy.places.adding import add_place
from lazy.places.media import mailboxes_of_mine, open_medium, set_encrypted
from lazy.places.registry import place_named, remove_place
from lazy.sync import sync
from tests.rows import put_text
from tests.shelf import Shelf
from tests.transports.git_hosts import bare_repository
from tests.vault.films import content, film, films, gone
from transports.drop.place import Drop
from transports.drop.writer import DropWriter
from transports.errors import WriteNotKept
from vault.content.keeping import Keep, fetch, set_keep
from vault.content.prune import plan_prune, prune
from vault.desks.chunks import MissingObject
from vault.errors import Cancelled
from vault.fsck.check import check
from vault.notes.own import COPIES_WANTED
from vault.vault import Vault
from vault.watch import Watch


@pytest.fixture
def pair(shelf: Shelf) -> tuple[Vault, Vault]:
    return shelf.lay(films)


def let_go(vault: Vault) -> None:
    """Let go of every file of old releases."""
    set_keep(vault, "main", Keep("", 1))
    assert prune(vault).files
    assert gone(vault, "1.0.2", "films/large.bin")


def visited(vault: Vault, place: str = "stick") -> None:
    """Sync with a place that takes and gives all."""
    (result,) = sync(vault, [place])
    assert not result.problems


def mailbox_of(vault: Vault, root: Path, which: int = 0) -> Path:
    """Return the directory of a plain mailbox on the stick, or of the last one."""
    place = place_named(vault, "stick")
    return mailboxes_of_mine(vault, Drop.open(root / "stick"), open_medium(vault, place))[which]


def flip(file: Path, at: int) -> None:
    """Flip one bit of a file."""
    data = bytearray(file.read_bytes())
    data[at] ^= 1
    file.write_bytes(data)


def comes_back(vault: Vault, place: str = "stick") -> None:
    """Fetch what was let go from a place, and see that all of it is here."""
    for number in range(1, 4):
        fetch(vault, resolve(vault, f"alice/main@1.0.{number}").tree, "")
    visited(vault, place)
    for number in range(1, 4):
        assert content(vault, f"1.0.{number}", "films/large.bin") == film(number)
        assert content(vault, f"1.0.{number}", "films/small.bin") == b"%d" % number * 600
    assert check(vault).bad == ()


def test_a_plain_mailbox_hands_on_what_was_let_go_before_it_goes(pair: tuple[Vault, Vault]) -> None:
    """CLAY-79, CYB-17: the encrypted one was filled from what is here, and the plain one with the last copy went."""
    alice, _ = pair
    let_go(alice)
    set_encrypted(alice, place_named(alice, "stick"))
    visited(alice)
    comes_back(alice)


def test_a_mailbox_that_is_written_anew_keeps_what_was_let_go(pair: tuple[Vault, Vault]) -> None:
    """CLAY-79: under a new key all of it is written again, and the former files go; the next one carries it too."""
    alice, _ = pair
    let_go(alice)
    for is_again in (False, True, True):
        set_encrypted(alice, place_named(alice, "stick"), rebase=is_again)
        visited(alice)
    comes_back(alice)


@pytest.mark.parametrize("is_to_be_encrypted", [False, True])
def test_a_rotten_index_costs_nothing_of_what_was_let_go(
    pair: tuple[Vault, Vault], tmp_path: Path, is_to_be_encrypted: bool
) -> None:
    """CLAY-79, APP-13: the bundles are whole, and an index that is begun anew named only what is here as well."""
    alice, bob = pair
    let_go(alice)
    rmtree(mailbox_of(bob, tmp_path))  # it names these bundles too
    for run in mailbox_of(alice, tmp_path).glob("*.run"):
        flip(run, run.stat().st_size // 2)
    if is_to_be_encrypted:
        set_encrypted(alice, place_named(alice, "stick"))
        visited(alice)
    else:
        assert mend(alice).ok
    comes_back(alice)


@pytest.mark.parametrize("is_rebase", [False, True])
def test_what_a_cut_left_of_it_is_gone_on_with(pair: tuple[Vault, Vault], is_rebase: bool) -> None:
    """CLAY-79, APP-13: stopped at any record while it is carried over, the next visit brings all of it."""
    alice, _ = pair
    let_go(alice)
    set_encrypted(alice, place_named(alice, "stick"))
    if is_rebase:
        visited(alice)
        set_encrypted(alice, place_named(alice, "stick"), rebase=True)
    for looks in (48, 60, 70, 84):
        left = iter(range(looks))

        def cancelled(left: Iterator[int] = left) -> None:
            if next(left, None) is None:
                raise Cancelled("Stopped.")

        with suppress(Cancelled):
            sync(alice, ["stick"], watch=Watch(cancelled=cancelled))
    visited(alice)
    comes_back(alice)


def test_a_plan_counts_what_is_carried_over(pair: tuple[Vault, Vault]) -> None:
    """CLAY-79: what a dry run says that it sends is what the visit sends."""
    alice, _ = pair
    let_go(alice)
    set_encrypted(alice, place_named(alice, "stick"))
    (planned,) = sync(alice, ["stick"], dry_run=True)
    (done,) = sync(alice, ["stick"])
    assert planned.sent == done.sent


def test_a_git_place_hands_it_on_as_well(pair: tuple[Vault, Vault], tmp_path: Path) -> None:
    """CLAY-79, CYB-17: the branch with the plain mailbox is deleted at the host."""
    alice, _ = pair
    add_place(alice, "host", str(bare_repository(tmp_path / "host.git")), cwd=tmp_path)
    visited(alice, "host")
    remove_place(alice, "stick")
    let_go(alice)
    for is_again in (False, True):
        set_encrypted(alice, place_named(alice, "host"), rebase=is_again)
        visited(alice, "host")
    comes_back(alice, "host")


@pytest.mark.parametrize("is_encrypted", [False, True])
def test_a_bit_that_rotted_costs_its_own_frame_alone(
    pair: tuple[Vault, Vault], tmp_path: Path, is_encrypted: bool
) -> None:
    """CLAY-79, APP-13: a repair deleted the whole bundle with what else it had, and said that all of it is healed."""
    alice, bob = pair
    if is_encrypted:
        set_encrypted(alice, place_named(alice, "stick"))
        visited(alice)
    let_go(alice)
    rmtree(mailbox_of(bob, tmp_path))
    bundle = max(mailbox_of(alice, tmp_path, -1).glob("*.bnd"), key=lambda file: file.stat().st_size)
    flip(bundle, bundle.stat().st_size // 2)
    done = mend(alice)
    assert [bad.code for bad in done.bad] == ["let-go-lost"]
    assert not done.ok
    assert not bundle.exists()
    assert mend(alice).ok
    for number in range(1, 4):
        fetch(alice, resolve(alice, f"alice/main@1.0.{number}").tree, "")
    visited(alice)
    back = [is_here(alice, f"1.0.{number}", path) for number in range(1, 4) for path in ("large.bin", "small.bin")]
    assert 0 < back.count(False) <= 2, "a frame has pieces of two films at most"
    (result,) = sync(bob, ["stick"])
    assert [problem.code for problem in result.problems] == ["mailbox-set-back"]  # his was deleted above
    visited(alice)
    comes_back(alice)


def is_here(vault: Vault, version: str, path: str) -> bool:
    """Tell whether a film of a release can be read."""
    try:
        content(vault, version, f"films/{path}")
    except MissingObject:
        return False
    return True


def test_what_a_friend_alone_has_is_copied_before_it_may_go(pair: tuple[Vault, Vault], tmp_path: Path) -> None:
    """CLAY-79: what my mailbox names in a friend's bundle counted as mine, and was at nobody's once that one went."""
    alice, bob = pair
    set_keep(bob, "main", Keep("", 1))
    planned = plan_prune(bob)
    assert (planned.files, planned.unproven) == (0, 10)
    visited(bob)
    assert plan_prune(bob).unproven == 10, "a plan asks for nothing"
    assert prune(bob).files == 0
    (dry,) = sync(bob, ["stick"], dry_run=True)
    (done,) = sync(bob, ["stick"])
    assert dry.sent == done.sent > 10
    (after,) = sync(bob, ["stick"])
    assert after.sent == 0
    assert prune(bob).files == 10
    rmtree(mailbox_of(alice, tmp_path))
    comes_back(bob)


def test_what_lies_in_whose_bundle_is_known_again_after_a_repair(pair: tuple[Vault, Vault]) -> None:
    """CLAY-79, APP-13: it begins another epoch of numbers, so what is noted of the parts of the log says nothing."""
    alice, bob = pair
    for vault in pair:
        set_keep(vault, "main", Keep("", 1))
    for vault in pair:
        with vault.store.transaction():
            vault.store.run("UPDATE commits SET desk = 'other'")
        assert mend(vault).repaired
        visited(vault)
    assert (plan_prune(alice).files, plan_prune(alice).unproven) == (10, 0)
    assert (plan_prune(bob).files, plan_prune(bob).unproven) == (0, 10)


def test_a_rotten_note_of_copies_lets_nothing_go(pair: tuple[Vault, Vault]) -> None:
    """CLAY-79, APP-13: what is kept of the parts of the log, or of wanted copies, counts as nothing where it rotted."""
    alice, bob = pair
    for vault in pair:
        set_keep(vault, "main", Keep("", 1))
    assert prune(bob).unproven == 10
    with alice.store.transaction():
        alice.store.run("UPDATE published SET copied = '0-x9'")
    assert (plan_prune(alice).files, plan_prune(alice).unproven) == (0, 10)
    with bob.store.transaction():
        put_text(bob.store, COPIES_WANTED.name, "P.rotten")
    visited(bob)
    assert plan_prune(bob).unproven == 10


def lose_bundles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a stick keep nothing of the bundles that are written to it, as one of false capacity."""
    real = DropWriter.verify_written

    def verify(writer: DropWriter) -> None:
        for path in writer._directory.glob("b-*"):
            if path.name in writer._written:
                path.write_bytes(bytes(path.stat().st_size))
        real(writer)

    monkeypatch.setattr(DropWriter, "verify_written", verify)


@pytest.mark.parametrize("is_rebase", [False, True])
def test_what_was_let_go_stays_where_it_was_until_the_medium_kept_it_anew(
    pair: tuple[Vault, Vault], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_rebase: bool
) -> None:
    """CLAY-79, fault 6: the former files went first, and what was then found damaged was the last copy."""
    alice, bob = pair
    let_go(alice)
    rmtree(mailbox_of(bob, tmp_path))
    set_encrypted(alice, place_named(alice, "stick"))
    if is_rebase:
        visited(alice)
        set_encrypted(alice, place_named(alice, "stick"), rebase=True)
    with monkeypatch.context() as patched:
        lose_bundles(patched)
        for _ in range(2):
            with pytest.raises(WriteNotKept):
                sync(alice, ["stick"])
    visited(alice)
    comes_back(alice)
