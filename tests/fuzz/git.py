"""The files of git that are read without a git, with inputs as git and our own side write them (decision 7a)."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from hashlib import sha1
from pathlib import Path
from random import Random
from tempfile import mkdtemp

from tests.transports.git_hosts import bare_repository, git
from transports.git.complaints import complaint, fault_of_git
from transports.git.host import NotPlain, packed_refs
from transports.git.local import _PLAIN, _plain_settings, is_harmless, own_directory
from transports.git.object_files import ObjectFiles, object_id
from transports.git.objects import Row, rows_of, tree_of
from transports.git.packs import KINDS, NAME_BYTES, index_names, index_offset, index_row, write_pack
from transports.git.refusals import Moved, damage, refusal
from vault.errors import PlaceError

__all__ = ["GIT"]

_SUM = 20  # bytes of a SHA-1
_ROWS = 1000
_SOME = 64  # names of an index that are asked for
_NOBODYS = "17" * 20
_APART = b"\0\n"  # between what git answers and what it complains of
_SECRET = "://anna:hunter2@"  # as a person may have written it in an address
_TOLD = 1200  # characters of what a person is told


@cache
def _place() -> Path:
    """Return a repository in which the inputs are laid."""
    return bare_repository(Path(mkdtemp(prefix="fuzz-")) / "there.git")


@cache
def _source() -> tuple[Path, dict[str, bytes]]:
    """Return a repository with objects of each kind, some of which git makes deltas of, and these by their names."""
    bare = bare_repository(Path(mkdtemp(prefix="fuzz-")) / "source.git")
    base = Random(1).randbytes(3000)
    datas = [b"", base, base + b"more", b"x" * 5000]
    stored = {git(bare, "hash-object", "-w", "--stdin", stdin=data): data for data in datas}
    data = tree_of([Row(f"a{number}", "blob", oid) for number, oid in enumerate(stored)])
    tree = git(bare, "hash-object", "-t", "tree", "-w", "--stdin", stdin=data)
    commit = git(bare, "commit-tree", tree, "-m", "x")
    return bare, stored | {tree: data, commit: f"{git(bare, 'cat-file', 'commit', commit)}\n".encode()}


@cache
def _packs() -> tuple[tuple[bytes, bytes], ...]:
    """Return index and pack of several ways to pack all of it."""
    bare, stored = _source()
    listed = "\n".join(stored).encode()
    ways = (("--window=0",), ("--delta-base-offset",), ("--index-version=1",), ("--window=0", "--index-version=2,64"))
    found = []
    for number, words in enumerate(ways):
        stem = bare / f"way{number}"
        name = git(bare, "pack-objects", "-q", *words, str(stem), stdin=listed)
        found.append(
            ((bare / f"way{number}-{name}.idx").read_bytes(), (bare / f"way{number}-{name}.pack").read_bytes())
        )
    kinds = {oid: git(bare, "cat-file", "-t", oid) for oid in stored}
    own = write_pack(bare, list(stored), [(kinds[oid], data) for oid, data in stored.items()])
    return (*found, (own.with_suffix(".idx").read_bytes(), own.read_bytes()))


def _long() -> bytes:
    """Return an index of more objects than are searched one after the other."""
    stored = {object_id("blob", data): ("blob", data) for data in map(bytes, range(100))}
    return write_pack(_source()[0], list(stored), stored.values()).with_suffix(".idx").read_bytes()


def _agree(names: Iterable[str]) -> None:
    """Check that what is read is what its name says, and what was said of it before."""
    files = ObjectFiles(_place)
    names = list(names)
    told = files.info(names)
    for name in names:
        data = files.read(name)
        if data is None:
            continue
        (kind,) = (kind for kind in KINDS if object_id(kind, data) == name)
        known = told.get(name)
        assert known is None or known == (name, kind, len(data)), known


def _lay(index: bytes, pack: bytes) -> None:
    directory = _place() / "objects" / "pack"
    (directory / "pack-it.idx").write_bytes(index)
    (directory / "pack-it.pack").write_bytes(pack)


def _index(data: bytes) -> None:
    """Judge the bytes as they are, and with a sum that fits, beside a pack for which they were made."""
    for index in (data, data[:-_SUM] + sha1(data[:-_SUM], usedforsecurity=False).digest()):
        names = index_names(index)
        rows = [] if names is None else [names[at : at + NAME_BYTES] for at in range(0, len(names), NAME_BYTES)]
        for row, name in enumerate(rows):
            index_offset(index, row)
            found = index_row(index, name)
            assert found is None or rows[found] == name
        _lay(index, _packs()[0][1])
        _agree([*_source()[1], *(name.hex() for name in rows[:_SOME])])


def _pack(data: bytes) -> None:
    """Judge the bytes as the pack of each index."""
    for index, _ in _packs():
        _lay(index, data)
        _agree(_source()[1])


def _object(data: bytes) -> None:
    """Judge the bytes as a file, and as what is compressed in one whose name fits."""
    _lay(b"", b"")
    for name, stored in (
        (_NOBODYS, data),
        (sha1(data, usedforsecurity=False).hexdigest(), zlib.compress(data)),
    ):
        for unwanted in (_place() / "objects" / "pack").iterdir():
            unwanted.unlink()
        file = _place() / "objects" / name[:2] / name[2:]
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(stored)
        _agree([name])
        file.unlink()


def _objects() -> tuple[bytes, ...]:
    files = [file for file in (_source()[0] / "objects").glob("??/*") if file.is_file()]
    singly = [file.read_bytes() for file in files]
    return (*singly, *map(zlib.decompress, singly))


def _rows(data: bytes) -> None:
    rows = rows_of(data, _ROWS)
    assert rows is None or len(rows) <= _ROWS
    if rows is not None and all(row.name.isascii() for row in rows):
        tree_of(rows)


def _refs(data: bytes) -> None:
    file = _place() / "packed-refs"
    file.write_bytes(data)
    with suppress(NotPlain):
        for oid in packed_refs(file).values():
            assert len(bytes.fromhex(oid)) == NAME_BYTES


def _some_refs() -> tuple[bytes, ...]:
    bare, stored = _source()
    for name in ("lace/a-b", "lace/place", "main"):
        git(bare, "update-ref", f"refs/heads/{name}", list(stored)[-1])
    git(bare, "pack-refs", "--all")
    return ((bare / "packed-refs").read_bytes(),)


@cache
def _configured() -> Path:
    """Return a repository whose configuration the inputs are."""
    return bare_repository(Path(mkdtemp(prefix="fuzz-")) / "configured.git")


def _config(data: bytes) -> None:
    """Check that of a configuration which is read without a git the same is read as by git."""
    is_harmless(data.decode("utf-8", "replace"))
    file = _configured() / "config"
    file.write_bytes(data)
    trusted = own_directory(_configured())
    if not _PLAIN.fullmatch(data):
        assert trusted is None
        return
    told = git(_place(), "config", "--file", str(file), "--no-includes", "--list").splitlines()
    assert _plain_settings(data.decode()) == [" = ".join(line.lower().split("=")) for line in told]
    if trusted is not None:
        assert git(trusted, "rev-parse", "--is-bare-repository") in {"true", "false"}


def _configs() -> tuple[bytes, ...]:
    (_configured() / "config").unlink(missing_ok=True)
    git(_configured(), "init", "--quiet", "--bare", "--shared=group", str(_configured()))
    made = (_configured() / "config").read_bytes()
    plain = b"[core]\n\tbare = true\n\trepositoryformatversion = 0\n[gc]\n\tauto = 0\n"
    return made, plain, b"[core]\n\tfilemode = true\n\tlogAllRefUpdates = false\n", b'[remote "a"]\n\turl = x\n'


def _said(data: bytes) -> None:
    """Judge what git says: what a person is told of it is a line without what could move a terminal, and no secret."""
    answer, _, rest = data.partition(_APART)
    complaints = rest.decode("utf-8", "replace")
    found = [refusal(answer, complaints, "there"), damage(complaints, "there"), fault_of_git(complaints, "there")]
    errors = [error.refusal if isinstance(error, Moved) else error for error in found if error is not None]
    for told in (complaint(rest), *(part for error in errors for part in (error.message, error.hint))):
        assert told.isprintable(), told
        assert len(told) < _TOLD, told
        assert _SECRET not in told, told
    assert all(isinstance(error, PlaceError) for error in errors)


def _sayings() -> tuple[bytes, ...]:
    head = b"To https://host/repo.git\n"
    secret = f"fatal: unable to access 'https{_SECRET}host/repo.git/': ".encode()
    return (
        _APART.join((b"", secret + b"The requested URL returned error: 403")),
        _APART.join((b"", b"fatal: early EOF\nfetch-pack: unexpected disconnect while reading sideband packet\n")),
        _APART.join((b"", b"remote: error: File x is 120.00 MB; this exceeds the file size limit of 100.00 MB\n")),
        _APART.join((head + b"!\tabc:refs/heads/x\t[rejected] (fetch first)\nDone\n", b"error: failed to push\n")),
        _APART.join((head + b"!\tabc:refs/heads/x\t[remote rejected] (pre-receive hook declined)\n", b"remote: no\n")),
        _APART.join((b"!\ta:b\t[remote rejected] (unpacker error)\n", b"remote: fatal: No space left on device\n")),
        _APART.join((b"", b"error: refs/heads/lace/x does not point to a valid object!\nssh: no route to host\n")),
    )


GIT: dict[str, tuple[Callable[[bytes], object], Callable[[], tuple[bytes, ...]]]] = {
    "git-index": (_index, lambda: (*(index for index, _ in _packs()), _long())),
    "git-pack": (_pack, lambda: tuple(pack for _, pack in _packs())),
    "git-object": (_object, _objects),
    "git-rows": (_rows, lambda: tuple(data for data in _source()[1].values() if rows_of(data, _ROWS))),
    "git-refs": (_refs, _some_refs),
    "git-config": (_config, _configs),
    "git-said": (_said, _sayings),
}
"""Targets by name: what runs an input, and what makes the first ones."""
