"""Stopping in the middle: what was stored stays, and no half of anything is ever taken for work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from lazy.folder.update import update
from lazy.sync import sync
from tests.shelf import Shelf
from tests.vault.vaults import befriended, found
from vault import releasing
from vault.errors import Cancelled
from vault.folder import work
from vault.revisions.history import releases
from vault.watch import Watch


@pytest.mark.parametrize("stop_after", [1, 2, 5, 20])
def test_a_stopped_update_leaves_the_folder_whole(shelf: Shelf, stop_after: int) -> None:
    """APP-3, APP-13: an update that is stopped has changed nothing, or everything."""
    alice, bob = shelf.lay(befriended, "bob")
    for number in range(12):
        (alice.folder / f"{number}.txt").write_text("one\n")
    releasing.release(alice)
    sync(alice, ["stick"])
    sync(bob, ["stick"])
    calls = 0

    def cancelled() -> None:
        nonlocal calls
        calls += 1
        if calls >= stop_after:
            raise Cancelled("stopped")

    try:
        update(bob, watch=Watch(cancelled=cancelled))
    except Cancelled:
        assert not list(bob.folder.glob("*.txt"))
    else:
        assert len(list(bob.folder.glob("*.txt"))) == 12
    done = update(bob)
    assert done.saved is None  # nothing half-written was taken for bob's own work
    assert len(list(bob.folder.glob("*.txt"))) == 12


def test_a_release_that_was_asked_to_stop_is_not_made(tmp_path: Path) -> None:
    """APP-3: also while a committed large file is summed, and up to the moment in which it is signed."""
    alice = found(tmp_path)
    (alice.folder / "large.bin").write_bytes(bytes(range(256)) * 4000)
    work.commit(alice, "one")
    asked = 0
    while not releases(alice.store, "main"):
        left = iter(range(asked))

        def cancelled(left: Iterator[int] = left) -> None:
            if next(left, None) is None:
                raise Cancelled("stopped")

        with suppress(Cancelled):
            releasing.release(alice, watch=Watch(cancelled=cancelled))
            assert releases(alice.store, "main")
        asked += 1
    assert asked > 3  # once for the folder, once for the large file at least, and at last
