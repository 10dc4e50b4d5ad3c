"""What nobody released, audit entries, keys and marks stay where they are (LAZ-57, CYB-9, CYB-17)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import zstandard

from lazy.belonging import circle
from lazy.belonging.adopting import adopt
from tests.faults.circle import PLACE, Hostile, befriend, befriended, found, open_stick, records_in, visit, write
from tests.shelf import Shelf
from vault import releasing
from vault.folder import work
from vault.records import RecordHash, Seal, parse_record
from vault.revisions.history import releases
from vault.vault import Vault

_FRAME = b"\x28\xb5\x2f\xfd"


def _secret_texts(vault: Vault) -> dict[str, bytes]:
    """What is secret of a node: its seed in every form that is written anywhere, and its mark's lines."""
    seed = vault.key().seed
    keys = b"".join(path.read_bytes() for path in (vault.around.data_root / "keys").iterdir())
    marks = b"".join(path.read_bytes() for path in (vault.around.data_root / "marks").iterdir())
    stored = re.findall(rb"^seed ([0-9A-Z_a-z~]{43})$", keys, re.MULTILINE)
    lines = re.findall(rb"^(?:intent|done) .+$", marks, re.MULTILINE)
    assert len(stored) == 1
    assert len(lines) == 2
    return {"seed": seed, "seed in hex": seed.hex().encode(), "seed as text": stored[0], "mark": lines[1]}


def _contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every file's name and bytes, and everything that unpacks from a frame that begins anywhere inside."""
    for path in sorted(folder.rglob("*")):
        yield path.name, path.relative_to(folder).as_posix().encode()
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            yield path.name, data
            for found_at in re.finditer(re.escape(_FRAME), data):
                yield path.name, _unpacked(data[found_at.start() :])


def _unpacked(data: bytes) -> bytes:
    try:
        return zstandard.ZstdDecompressor().decompressobj().decompress(data)
    except zstandard.ZstdError:
        return b""


def _where(folder: Path, texts: dict[str, bytes]) -> set[tuple[str, str]]:
    return {(name, file) for file, data in _contents(folder) for name, text in texts.items() if text in data}


def test_an_unreleased_commit_leaves_no_byte_on_the_medium(tmp_path: Path, shelf: Shelf) -> None:
    # LAZ-57
    alice, bob = shelf.lay(befriended, "bob")
    secrets = {
        "content": b"the words nobody may read 7f3a",
        "message": b"the message nobody may read 91bc",
        "name": b"name-nobody-may-read-55de",
        "withdrawn": b"the words taken back before the release 20aa",
    }
    write(alice, "draft.txt", secrets["withdrawn"].decode())
    assert work.commit(alice, "a first draft")
    (alice.folder / "draft.txt").unlink()
    released = releasing.release(alice, None, "without the draft")
    write(alice, secrets["name"].decode(), secrets["content"].decode())
    made = work.commit(alice, secrets["message"].decode())
    assert made
    for vault in (alice, bob, alice, bob):
        visit(vault)
    hidden = {f"hash of {made.commit}": made.commit.text.encode(), "its digest": made.commit.digest}
    assert _where(tmp_path / PLACE, secrets | hidden) == set()
    assert made.commit not in records_in(bob)
    assert not any(text in data for data in records_in(bob).values() for text in secrets.values())
    assert released.release in {release.hash for release in releases(bob.store)}
    # The same search finds what was released: it can see into the medium.
    told = {"message": b"without the draft", "content": b"hello from alice"}
    assert {name for name, _ in _where(tmp_path / PLACE, told)} == set(told)


def test_an_ancestor_of_a_release_travels_without_its_content(tmp_path: Path, shelf: Shelf) -> None:
    # docs/formats.md, "Reached by": the record of an unreleased ancestor is shared with the release, its tree is not
    alice = shelf.lay(found)
    write(alice, "b.txt", "content of the ancestor only 3e3e")
    made = work.commit(alice, "an ancestor")
    assert made
    write(alice, "b.txt", "content of the release 4f4f")
    releasing.release(alice, None, "the release")
    visit(alice)
    texts = {"ancestor": b"content of the ancestor only 3e3e", "release": b"content of the release 4f4f"}
    assert {name for name, _ in _where(tmp_path / PLACE, texts)} == {"release"}


def test_audit_entries_never_leave(tmp_path: Path, shelf: Shelf) -> None:
    # CYB-9
    alice, bob = shelf.lay(befriended, "bob")
    hostile = Hostile(bob, open_stick(tmp_path))
    hostile.put_records([hostile.head(())])  # something to refuse, so that the trail says more than usual
    visit(alice)
    visit(bob)
    visit(alice)
    audit: dict[str, bytes] = {"app": b"App: lace/audit", "group": b"Group: local/", "body": b"(audit (sequence"}
    for record_hash, stored in records_in(alice).items():
        record = parse_record(stored)
        if isinstance(record, Seal) and record.plex.app == "lace/audit":
            audit[record_hash.text] = record_hash.digest
            assert record_hash not in records_in(bob)
    assert len(audit) > 8
    assert _where(tmp_path / PLACE, audit) == set()
    rows = alice.store.rows("SELECT b.kind, b.digest FROM exposure e JOIN body b USING (p)")
    exposed = {RecordHash(str(kind), bytes(digest)).text for kind, digest in rows}
    assert not exposed & audit.keys()


def test_keys_and_marks_are_neither_in_the_vault_nor_on_the_medium(tmp_path: Path, shelf: Shelf) -> None:
    # Architecture, decision 2
    alice, bob = shelf.lay(befriended, "bob")
    old = _secret_texts(alice)
    write(alice, "a.txt", "again\n")
    releasing.release(alice, None, "again")
    visit(alice)
    visit(bob)
    for vault in (alice, bob):
        secrets = {name: text for name, text in _secret_texts(vault).items() if name != "mark"}
        assert _where(vault.folder, secrets) == set()
        assert _where(tmp_path / PLACE, secrets) == set()
        mark = {"mark": _secret_texts(vault)["mark"]}
        assert _where(vault.folder, mark) == set()
        assert _where(tmp_path / PLACE, mark) == set()
        for kind in ("keys", "marks"):
            for path in (vault.around.data_root / kind).iterdir():
                assert path.stat().st_mode & 0o077 == 0
                if path.suffix == ".lock":  # says who holds it, and nothing once it is given back
                    assert path.read_bytes() == b""
                else:
                    assert _where(vault.folder, {"whole": path.read_bytes()}) == set()
    # Nor after a new key was made beside the old one.
    assert adopt(alice)
    visit(alice)
    assert _where(tmp_path / PLACE, {name: text for name, text in old.items() if name != "mark"}) == set()


def test_an_invitations_secret_stays_in_the_vault(tmp_path: Path, shelf: Shelf) -> None:
    # Architecture, Belonging: the request proves the secret without showing it
    alice = shelf.lay(found)
    line = circle.invite(alice, "bob")
    befriend(tmp_path, alice, "carol")
    visit(alice)
    secrets = {"secret": line.secret, "hex": line.secret.hex().encode(), "line": line.encode().encode()}
    assert _where(tmp_path / PLACE, secrets) == set()
