"""Which bundles of a git place hold copies alone is a hint in its tree, and nothing but a hint (CLAY-79, CYB-17)."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from tests.transports.git_hosts import bare_repository
from transports.git.place import GitPlace
from transports.git.remote import git_uri
from transports.git.tree import Filed, MailboxTree, load_mailbox, store_mailbox

_NAMES = tuple(f"b-{number:032x}.bnd" for number in range(3))


@pytest.mark.parametrize(
    ("said", "believed"),
    [
        (f"{_NAMES[0]}\n{_NAMES[2]}\n".encode(), {_NAMES[0], _NAMES[2]}),
        (f"{_NAMES[0]}\nb-{'f' * 32}.bnd\nhead.rec\n".encode(), {_NAMES[0]}),
        (b"\xff\x00" + _NAMES[0].encode() + b"\n", set[str]()),
        (f"{_NAMES[0]}\n".encode() * 10_001, set[str]()),
        (b"", set[str]()),
    ],
)
def test_what_a_mailbox_says_of_copies_is_about_its_own_files_alone(
    tmp_path: Path, said: bytes, believed: set[str]
) -> None:
    """CLAY-79, CYB-17: whoever may push can say anything there."""
    bare = bare_repository(tmp_path / "host")
    with closing(GitPlace.create(git_uri(bare), tmp_path / "home", entropy=bytes)) as place:
        here = place.private.here
        files = {}
        for number, name in enumerate(_NAMES):
            filed = Filed(3, (here.store(b"%03d" % number),))
            files[name] = filed._replace(oid=here.store(filed.encode()))
        box = MailboxTree(files=files, commits=4)
        tip = here.store_commit(store_mailbox(here, box))
        here.flush()
        rows = {row: (entry.kind, entry.oid) for row, entry in here.tree(tip, 64).items()}

        def read(tree: str) -> MailboxTree:
            tip = here.store_commit(tree)
            here.flush()
            return load_mailbox(here, tip)

        loaded = read(here.store_tree({**rows, "copies": ("blob", here.store(said))}))
        assert {name for name, filed in loaded.files.items() if filed.are_copies} == believed
        assert read(store_mailbox(here, loaded)) == loaded
        assert read(here.store_tree({**rows, "copies": rows["files"]})) == box
