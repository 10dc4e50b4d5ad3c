"""Small packs of a private repository, put together (decision 7a).

Each visit that brings something leaves a pack or two, and whoever looks into the repository opens the indexes of all of
them. So where there are many, their objects are written into one, and they go once it is flushed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from transports.git import upkeep
from transports.git.object_files import object_id
from transports.git.objects import Objects
from transports.git.packs import KINDS, NAME_BYTES, index_names, pack_path, write_pack
from transports.layout import MIB
from vault.errors import LaceError
from vault.files import read_bounded

__all__ = ["fold"]

_MANY = 32  # small packs
_SMALL = 64 * 1024  # bytes of one, and of its objects
_TOTAL = 8 * MIB  # bytes of the objects that are put together at once
_ASKED = 1000  # objects of one small pack
_KEPT = (".keep", ".promisor")  # beside a pack that git itself would leave as it is
_LISTED = ("multi-pack-index", "multi-pack-index.d")  # where a git that somebody ran here names packs that must stay


def fold(path: Path, objects: Objects) -> None:
    """Put small packs together where there are many, those of pieces by themselves; nobody else is here.

    What cannot be read stays where it is, and so does what git would leave there.

    Args:
        path: the repository.
        objects: what lies in it; closed afterwards, for packs go of which it knows.

    Raises:
        NotWritable, DiskFull: the disk takes nothing.
        OSError: a pack is gone before it is looked at.
    """
    packs = sorted(upkeep.packs(path))
    if len(packs) < _MANY or any((path / "objects" / "pack" / name).exists() for name in _LISTED):
        return
    small = [pack for pack in packs if pack.stat().st_size < _SMALL and not _is_kept(pack)]
    if len(small) < _MANY:
        return
    try:
        for is_pieces in (False, True):
            _fold(
                path, [pack for pack in small if upkeep.holds_pieces(pack) is is_pieces], objects, is_pieces=is_pieces
            )
    finally:
        objects.close()


def _is_kept(pack: Path) -> bool:
    return any(pack.with_suffix(suffix).exists() for suffix in _KEPT)


def _fold(path: Path, packs: Sequence[Path], objects: Objects, *, is_pieces: bool) -> None:
    found: dict[str, tuple[str, bytes]] = {}
    old: list[Path] = []
    total = 0
    for pack in packs:
        with contextlib.suppress(LaceError):  # damaged: whoever reads it is told so
            read = _read(pack, objects)
            size = sum(len(data) for _, data in read.values())
            if read and total + size <= _TOTAL:
                found |= read
                total += size
                old.append(pack)
    if len(old) < 2:
        return
    oids = sorted(found)
    directory = path / "objects" / "pack"
    new = pack_path(directory, oids)
    if is_pieces:
        upkeep.mark_pieces(new)  # first: without it who is killed would leave pieces that never go
    write_pack(directory, oids, [found[oid] for oid in oids])
    for pack in old:
        if pack != new:
            upkeep.drop_pack(pack)


def _read(pack: Path, objects: Objects) -> dict[str, tuple[str, bytes]]:
    """Return kind and bytes of what lies in a pack by its ids; nothing where it is much, or of another kind."""
    names = index_names(read_bounded(pack.with_suffix(".idx"), _SMALL)) or b""
    oids = [names[at : at + NAME_BYTES].hex() for at in range(0, len(names), NAME_BYTES)]
    if len(oids) > _ASKED:
        return {}
    infos = [info for info in objects.info(oids, anew=True) if info is not None and info.kind in KINDS]
    if len(infos) < len(oids) or sum(info.size for info in infos) >= _SMALL:
        return {}
    read = {info.oid: (info.kind, data) for info, data in zip(infos, objects.read(oids), strict=True)}
    return read if all(object_id(kind, data) == oid for oid, (kind, data) in read.items()) else {}
