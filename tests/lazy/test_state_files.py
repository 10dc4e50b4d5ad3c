"""The readable files of `.vault/lazy`: made from the store, never read back as truth (LAZ-75, LAZ-76)."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from lazy.files import write_lazy_files
from lazy.mend import mend
from lazy.people import members, peers
from lazy.places.registry import places
from lazy.vectors import my_vector
from tests.faults.circle import befriend, found, visit, write
from vault import releasing
from vault.files import NotWritable
from vault.fsck.check import check
from vault.sexp import loads
from vault.vault import Vault


def _circle(root: Path) -> Vault:
    alice = found(root)
    bob = befriend(root, alice, "bob")
    write(bob, "bob.txt", "one")
    releasing.release(bob, None, "one")
    visit(bob)
    visit(alice)
    return alice


def test_peers_and_vectors_are_files_one_can_read_and_lose(tmp_path: Path) -> None:
    # LAZ-75, LAZ-76: every peer and every count is in the file, and the next visit makes a lost file anew
    alice = _circle(tmp_path)
    folder = alice.dot / "lazy"
    before = {name: (folder / name).read_text() for name in ("peers.sexp", "vectors.sexp")}
    assert [person.name for person in peers(alice)] == ["bob"]
    (bob,) = peers(alice)
    stick = places(alice)[0].uri
    assert loads(before["peers.sexp"], 10_000) == loads(
        f'(peers (peer (name "bob") (key "{bob.node}") (places "{stick}")))', 1_000
    )
    told = "".join(
        f'(node (name "{mark.name}") (key "{mark.node}") (seq {mark.seq}) (digest "{mark.digest}"))'
        for mark in my_vector(alice).values()
    )
    assert loads(before["vectors.sexp"], 10_000) == loads(f"(vectors {told})", 10_000)
    assert {mark.name: mark.seq > 0 for mark in my_vector(alice).values()} == {"alice": True, "bob": True}
    shutil.rmtree(folder)
    visit(alice)
    assert (folder / "peers.sexp").read_text() == before["peers.sexp"]


def test_editing_the_files_by_hand_adds_no_trust(tmp_path: Path) -> None:
    # LAZ-75, LAZ-76: another key and higher counts written by hand change neither members nor the vector
    alice = _circle(tmp_path)
    folder = alice.dot / "lazy"
    known, vector = members(alice), my_vector(alice)
    (bob,) = peers(alice)
    stranger = bob.node[:-1] + ("A" if bob.node[-1] != "A" else "B")
    for name in ("peers.sexp", "vectors.sexp"):
        text = (folder / name).read_text()
        (folder / name).write_text(text + text.replace(bob.node, stranger))
    visit(alice)
    assert members(alice) == known
    assert {n: m.seq for n, m in my_vector(alice).items()} == {n: m.seq for n, m in vector.items()}
    assert stranger not in (folder / "peers.sexp").read_text()
    assert stranger not in (folder / "vectors.sexp").read_text()


def test_what_lies_under_their_names_is_written_over_or_named(tmp_path: Path) -> None:
    """LAZ-79, APP-14: a pipe is not waited for, and what cannot be taken away is a sentence."""
    alice = _circle(tmp_path)
    folder = alice.dot / "lazy"
    text = (folder / "vectors.sexp").read_text()
    (folder / "vectors.sexp").unlink()
    os.mkfifo(folder / "vectors.sexp")
    write_lazy_files(alice)
    assert (folder / "vectors.sexp").read_text() == text
    shutil.rmtree(folder / "queue")
    (folder / "queue").symlink_to(tmp_path / "gone")  # somebody chose another place for it: it is not moved
    with pytest.raises(NotWritable, match="queue"):
        write_lazy_files(alice)


def test_a_directory_under_their_names_keeps_nobody_from_a_repair_or_a_visit(tmp_path: Path) -> None:
    """LAZ-79, APP-13: a repair said to run a repair, and each visit ended with what is only for people to read."""
    alice = _circle(tmp_path)
    path = alice.dot / "lazy" / "peers.sexp"
    text = path.read_text()
    path.unlink()
    (path / "mine").mkdir(parents=True)
    assert not check(alice).ok
    assert mend(alice).ok
    assert path.read_text() == text
    assert path.with_name("peers.sexp.2").joinpath("mine").is_dir()


def test_a_directory_where_a_file_is_out_of_date_keeps_nobody_from_a_visit(tmp_path: Path) -> None:
    """LAZ-79, APP-13: each visit ended with it, and a check and a repair found nothing wrong."""
    alice = _circle(tmp_path)
    path = alice.dot / "lazy" / "queue" / "old.sexp"
    (path / "mine").mkdir(parents=True)
    visit(alice)
    assert not path.exists()
    assert path.with_name("old.sexp.2").joinpath("mine").is_dir()


@pytest.mark.parametrize("name", ["lazy", "lazy/queue", "lazy/conflicts"])
def test_a_file_where_their_directories_belong_keeps_nobody_from_a_visit(tmp_path: Path, name: str) -> None:
    """LAZ-79, APP-13: each visit ended with it, and a check and a repair found nothing wrong."""
    alice = _circle(tmp_path)
    path = alice.dot / name
    shutil.rmtree(path)
    path.write_text("mine")
    visit(alice)
    assert path.is_dir()
    assert path.with_name(f"{path.name}.2").read_text() == "mine"
