"""Small contents go into the store as columns, and nobody can tell: the records and all that is kept are the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazy.folder.update import update
from lazy.sync import sync
from tests.vault.desks.support import GROUP
from tests.vault.vaults import befriend, derived, found, write
from vault.desks import content, paths
from vault.desks.content import MAX_SMALL_BYTES, Contents, data_plex
from vault.errors import Cancelled
from vault.fsck.check import check
from vault.records import Plex
from vault.releasing import release
from vault.store.packs import PACK_MIN_BYTES
from vault.vault import Vault


@given(st.lists(st.binary(max_size=MAX_SMALL_BYTES), max_size=4))
def test_a_content_is_the_record_that_a_plex_of_it_is(pieces: list[bytes]) -> None:
    contents = Contents(GROUP)
    records = [contents.add(piece) for piece in pieces]
    made = [data_plex(GROUP, piece) for piece in pieces]
    assert records == contents.records == [plex.hash for plex in made]
    assert contents.stored == [plex.encode() for plex in made]
    assert contents.sizes == [len(piece) for piece in pieces]


def test_the_largest_rests_in_a_row_as_it_is_cheapest(tmp_path: Path) -> None:
    contents = Contents(found(tmp_path).group)
    contents.add(bytes(MAX_SMALL_BYTES))
    assert len(contents.stored[0]) < PACK_MIN_BYTES


# Empty, twice the same, more than one batch, and one that is here before.
_PIECES = [b"", b"twice", b"twice", *(b"%d\n" % number for number in range(1_200)), b"one\n"]


def _with_pieces(root: Path, *, one_by_one: bool) -> Vault:
    root.mkdir()
    alice = found(root)
    write(alice, "one.txt", "one\n")
    release(alice)
    with alice.writing() as w:
        for piece in _PIECES:
            if one_by_one:
                w.add(data_plex(alice.group, piece))
            else:
                w.add_content(piece)
    return alice


def test_the_store_keeps_of_them_what_it_keeps_of_any_record(tmp_path: Path) -> None:
    alice, other = (_with_pieces(tmp_path / name, one_by_one=name == "slow") for name in ("fast", "slow"))
    assert [stored for _, _, stored in alice.store.bodies()][-1_200:] == [
        data_plex(alice.group, b"%d\n" % number).encode() for number in range(1_200)
    ]
    for table in ("rec", "counts", "hole", "sums"):
        assert len(derived(alice)[table]) == len(derived(other)[table])
    assert check(alice).ok  # which makes every table anew, record by record
    assert check(other).ok


def test_what_is_taken_back_leaves_nothing_at_hand(tmp_path: Path) -> None:
    alice = found(tmp_path)
    for number in range(200):
        write(alice, f"{number}.txt", f"{number}\n")

    def cut_off() -> None:
        with alice.writing() as w:
            for number in range(200):
                w.add_content(b"%d\n" % number)
            w.flush()
            raise Cancelled("cut off")

    with pytest.raises(Cancelled):
        cut_off()
    assert release(alice).files == 200
    assert check(alice).ok


def test_a_folder_of_small_files_makes_no_record_of_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alice = found(tmp_path)
    for number in range(100):
        write(alice, f"{number}.txt", f"{number}\n")
    made: list[int] = []

    def counted(*parts: Any, make: Callable[..., Plex] = content._made) -> Plex:
        made.append(1)
        return make(*parts)

    monkeypatch.setattr(content, "_made", counted)
    release(alice)
    assert len(made) == 1  # the page of the folder


def test_the_name_of_a_file_is_judged_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alice = found(tmp_path)
    for number in range(100):
        write(alice, f"{number}.txt", f"{number}\n")
    judged: list[str] = []

    class Counted:
        def fullmatch(self, name: str, form: object = paths._PLAIN) -> object:
            judged.append(name)
            return form.fullmatch(name)  # type: ignore[attr-defined]

    monkeypatch.setattr(paths, "_PLAIN", Counted())
    release(alice)
    assert max(map(judged.count, judged)) == 1


def test_an_update_looks_for_each_content_once(tmp_path: Path) -> None:
    alice = found(tmp_path)
    write(alice, "a.txt", "one\n")
    release(alice)
    bob = befriend(tmp_path, alice, "bob")
    texts = [f"number {number}\n" for number in range(50)]
    for number, text in enumerate(texts):
        write(alice, f"new/{number}.txt", text)
    release(alice)
    sync(alice, ["stick"])
    sync(bob, ["stick"])
    asked: list[str] = []
    bob.store.db.set_trace_callback(lambda text: asked.append(text.lower()))
    update(bob)
    bob.store.db.set_trace_callback(None)
    digests = [data_plex(alice.group, text.encode()).hash.digest.hex() for text in texts]
    # Those that lie side by side are read by where they lie.
    assert {sum(text.count(f"x'{digest}'") for text in asked) for digest in digests} <= {0, 1}
    assert [(bob.folder / f"new/{number}.txt").read_text() for number in range(50)] == texts
