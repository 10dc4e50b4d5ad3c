"""`lace export`: a vault's tables as Parquet files that lie beside those of other members (APP-8).

    DIR/<table>/<node>/part-000001-<digest>.parquet     a log table: one file for each 65,536 positions
    DIR/<table>/<node>/state-<digest>.parquet           a state table, written whole
    DIR/exports/<node>.json                             what there is, with a digest of each file; written last

`<node>` is the start of the exporter's key in hex, so exports of a whole circle are put together by copying them into
one directory. Files hold no time of writing: the same records give the same bytes, whether exported at once or bit by
bit. A part whose records are as they were is not written again.

A file is called by the start of its own digest, so no other one is written over it: until the new manifest is there,
the old one still names whole files, and a cut off export takes nothing from anybody.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from blake3 import blake3

from spark_export import reader as vault_reader
from spark_export.columns import arrow_schema
from spark_export.errors import ExportForeign
from spark_export.extras import needed
from spark_export.manifest import MANIFESTS, Manifest, holds, node_of, read_manifests
from spark_export.reader import VaultReader
from spark_export.schema import TABLES, Table
from vault.files import (
    AtomicFile,
    NotWritable,
    make_directory,
    refuse_write,
    remove_leftovers,
    write_atomic,
)
from vault.lock import alone_in
from vault.outside import require_outside
from vault.records import RecordHash

__all__ = ["Exported", "export"]

_LEVEL: Final = 3
_ENTRIES: Final = frozenset({MANIFESTS, *(table.name for table in TABLES)})
_SUM_HEX: Final = 16  # of a file's digest, in its name
_NAMED: Final = re.compile(r"(.*/(?:part-[0-9]+|state))-[0-9a-f]{16}\.parquet")
_OWN: Final = re.compile(r"(part-[0-9]+|state)(-[0-9a-f]{16})?\.parquet(\.[0-9]{1,10}\.tmp)?")  # or what a crash left
_OPEN: Final = "0" * 64  # in place of the digest of a part that lacks something: it is written again the next time
_NOTES: Final = frozenset(
    {"Thumbs.db", "desktop.ini"}
)  # what file managers leave, and all whose name begins with a dot


@dataclass(slots=True)
class Exported:
    """What an export did.

    Args:
        tables: rows of each table, new and old.
        written: files written now.
        kept: files that were as they should be.
        bytes_written: bytes of the files written now.
        damaged: records of which the tables lack what they say, for they are damaged in the vault.
    """

    tables: dict[str, int] = field(default_factory=dict)
    written: list[str] = field(default_factory=list)
    kept: int = 0
    bytes_written: int = 0
    damaged: frozenset[RecordHash] = frozenset()


def export(
    reader: VaultReader,
    directory: Path,
    *,
    progress: Callable[[int, int, str], None] = lambda _done, _total, _what: None,
    cancelled: Callable[[], None] = lambda: None,
) -> Exported:
    """Write the tables of a vault below a directory, which is made when it is missing.

    Args:
        reader: the vault.
        directory: where; may hold exports of others of the same group.
        progress: called with (files done, files in all, table).
        cancelled: raises `Cancelled` when the person asked to stop; what is complete stays and is not made again.

    Raises:
        ExportForeign: the directory holds other things, exports of another group, or a link where this one goes.
        BadExport: this vault's own manifest in it is damaged, or of another schema version.
        InTheVault: it lies in the `.vault`.
        ExtraMissing: pyarrow is not installed.
        NotWritable, DiskFull: the directory cannot be written.
    """
    needed("pyarrow.parquet", "An export")
    node = node_of(reader.node)
    _before(directory, reader, node)  # refuses
    make_directory(directory)

    def pause(seconds: float) -> None:
        cancelled()
        progress(0, 0, "wait for another export into it")
        time.sleep(seconds)

    exported = Exported()
    with alone_in(directory, pause):
        _write(reader, directory, node, exported, progress, cancelled)
    return exported


def _write(
    reader: VaultReader,
    directory: Path,
    node: str,
    exported: Exported,
    progress: Callable[[int, int, str], None],
    cancelled: Callable[[], None],
) -> None:
    """Write what an export writes, with nobody else at it: two would sweep each other's files away."""
    before = _before(directory, reader, node)
    with reader.snapshot():
        last, step = reader.last_position(), vault_reader.PART_POSITIONS
        bounds = [(at, min(at + step - 1, last)) for at in range(1, last + 1, step)]
        parts = tuple(part.hex() for part in reader.fingerprints())
        writer = _Writer(reader, directory, before, exported, cancelled)
        plans = list(_plans(node, bounds, parts, before))
        for done, (table, stem, bound, is_old) in enumerate(plans):
            progress(done, len(plans), table.name)
            writer.file(table, stem, bound, keep=is_old)
        progress(len(plans), len(plans), "")
    lacking = {(position - 1) // step for position in reader.lacking}
    exported.damaged = frozenset(reader.lacking.values())
    parts = tuple(_OPEN if number in lacking else part for number, part in enumerate(parts))
    manifest = Manifest(reader.group, reader.node, reader.export_id, parts, writer.files)
    make_directory(directory / MANIFESTS)
    remove_leftovers(directory / MANIFESTS, f"{node}.json")  # of a run that was killed
    write_atomic(directory / MANIFESTS / f"{node}.json", manifest.text().encode())
    _sweep(directory, node, writer.files)


def _plans(
    node: str, bounds: list[tuple[int, int]], parts: tuple[str, ...], before: Manifest | None
) -> Iterator[tuple[Table, str, tuple[int, int], bool]]:
    old = before.parts if before else ()
    for table in TABLES:
        if not table.is_log:
            yield table, f"{table.name}/{node}/state", (1, 0), False
            continue
        for number, bound in enumerate(bounds):
            stem = f"{table.name}/{node}/part-{number:06}"
            yield table, stem, bound, number < len(old) and old[number] == parts[number]


class _Writer:
    """Writes the files of one export and remembers what they are."""

    def __init__(
        self,
        reader: VaultReader,
        directory: Path,
        before: Manifest | None,
        exported: Exported,
        cancelled: Callable[[], None],
    ) -> None:
        self._reader = reader
        self._directory = directory
        files = before.files if before else {}
        self._before = {found[1]: name for name in files if (found := _NAMED.fullmatch(name))}
        self._told = files
        self._exported = exported
        self._cancelled = cancelled
        self.files: dict[str, tuple[int, int, str]] = {}

    def file(self, table: Table, stem: str, bound: tuple[int, int], *, keep: bool) -> None:
        """Write one file, or keep it when it is as it should be; its name is the stem and the start of its digest."""
        self._cancelled()
        name = self._before.get(stem, "")
        old = self._told.get(name)
        if keep and old is not None and holds(self._directory / name, old[1], old[2]):
            told, is_same = old, True
        else:
            name, told, is_same = self._written(table, stem, bound)
        self.files[name] = told
        if is_same:
            self._exported.kept += 1
        else:
            self._exported.written.append(name)
            self._exported.bytes_written += told[1]
        counted = self._exported.tables
        counted[table.name] = counted.get(table.name, 0) + told[0]

    def _written(self, table: Table, stem: str, bound: tuple[int, int]) -> tuple[str, tuple[int, int, str], bool]:
        """Write one file; return its name, what the manifest tells of it, and whether it was there already."""
        path = self._directory / f"{stem}.parquet"
        make_directory(path.parent)
        with AtomicFile(path) as file:
            sink = _Hashed(file)
            rows = self._rows(table, bound, sink)
            digest = sink.digest.hexdigest()
            name = f"{stem}-{digest[:_SUM_HEX]}.parquet"
            file.path = self._directory / name  # only now is it known
            is_same = holds(file.path, sink.size, digest)
            if is_same:  # a state table is told anew each time, and says the same while nothing changes
                file.abandon()
        return name, (rows, sink.size, digest), is_same

    def _rows(self, table: Table, bound: tuple[int, int], sink: _Hashed) -> int:
        pa = needed("pyarrow", "An export")
        parquet = needed("pyarrow.parquet", "An export")
        schema = arrow_schema(table)
        with parquet.ParquetWriter(
            pa.PythonFile(sink, mode="w"), schema, compression="zstd", compression_level=_LEVEL, store_schema=True
        ) as writer:
            rows = 0
            for batch in self._reader.batches(table, first=bound[0], last=bound[1]):
                self._cancelled()
                writer.write_batch(batch)
                rows += batch.num_rows
        return rows


class _Hashed:
    """A file for Arrow that hashes what passes."""

    def __init__(self, file: AtomicFile) -> None:
        self._file = file
        self.size = 0
        self.digest = blake3()
        self.closed = False

    def write(self, data: Any) -> int:
        """Append bytes."""
        view = memoryview(data).cast("B")
        self.digest.update(view)
        self.size += len(view)
        return self._file.write(view)

    def tell(self) -> int:
        """Return how many bytes were written."""
        return self.size

    def flush(self) -> None:
        """Do nothing: the atomic file flushes when it is whole."""

    def close(self) -> None:
        """Note that Arrow is done."""
        self.closed = True


# What lies in the directory already


def _before(directory: Path, reader: VaultReader, node: str) -> Manifest | None:
    require_outside(reader.folder / ".vault", directory)
    try:
        paths = sorted(directory.iterdir()) if directory.is_dir() else []
        there = [path.name for path in paths if not (_is_note(path.name) and path.is_file())]
    except OSError as error:
        raise NotWritable(f"{directory} cannot be read: {error.strerror}.") from error
    if directory.exists() and not directory.is_dir():
        raise ExportForeign(f"{directory} is a file.")
    if strangers := [name for name in there if name not in _ENTRIES]:
        raise ExportForeign(f"{directory} holds {strangers[0]}, which is not part of an export.")
    _refuse_links(directory, node)
    mine = None
    manifests, broken = read_manifests(directory)
    if node in broken:
        raise broken[node]
    for manifest in manifests:
        if manifest.group != reader.group:
            raise ExportForeign(f"{directory} holds an export of the group {manifest.group}.")
        if manifest.exporter == reader.node:
            mine = manifest
    # Another schema version or scope has another id or other fingerprints; then all is written again.
    return mine if mine is not None and mine.export_id == reader.export_id else None


def _is_note(name: str) -> bool:
    return name.startswith(".") or name in _NOTES


def _refuse_links(directory: Path, node: str) -> None:
    """Refuse where a directory of this export is a link: others write here too, and it may lead to any files of ours.

    Raises:
        ExportForeign: one is, or is no directory.
        NotWritable: it cannot be looked at.
    """
    tables = [directory / table.name for table in TABLES]
    for place in (directory / MANIFESTS, *tables, *(table / node for table in tables)):
        try:
            is_plain = not place.is_symlink() and (place.is_dir() or not place.exists())
        except OSError as error:
            refuse_write(place, error)
        if not is_plain:
            raise ExportForeign(f"{place} is a link or a file, and an export has a directory there.")


def _sweep(directory: Path, node: str, files: dict[str, tuple[int, int, str]]) -> None:
    """Remove this exporter's files that the new manifest does not name, such as parts of records that are gone."""
    _refuse_links(directory, node)  # meanwhile somebody may have put one there
    for table in TABLES:
        place = directory / table.name / node
        try:
            for path in sorted(place.iterdir()) if place.is_dir() else []:
                is_named = f"{table.name}/{node}/{path.name}" in files
                if _OWN.fullmatch(path.name) and not is_named and path.is_file() and not path.is_symlink():
                    path.unlink(missing_ok=True)
        except OSError as error:
            refuse_write(place, error)
