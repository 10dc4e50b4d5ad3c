"""What a report is over: of the exports in some directories those that are whole, and of several of one member one.

Nothing of an export is believed before each of its files is the one that its manifest names (APP-8).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from spark_export.columns import arrow_schema
from spark_export.errors import BadExport, NoExport
from spark_export.extras import needed
from spark_export.manifest import Manifest, read_manifests, sum_of
from spark_export.schema import COMMON, TABLES, Table, table_named
from vault.errors import DataError
from vault.profile import Member, read
from vault.records import parse_record

__all__ = ["Broken", "Inputs", "Placed", "exports_in"]

_ADOPT: Final = "lace-adopt"


class Placed(NamedTuple):
    """One export, and where it lies.

    Args:
        directory: below which its files are.
        manifest: what they are.
    """

    directory: Path
    manifest: Manifest


class Broken(NamedTuple):
    """An export that is not as it was written.

    Args:
        directory: where it lies.
        exporter: whose it is, as its manifest says; empty where that is broken itself.
        problem: what is wrong, as a sentence.
    """

    directory: Path
    exporter: str
    problem: str


class Inputs(NamedTuple):
    """What a report is over.

    Args:
        read: one export of each member, by exporter.
        left_out: older exports of the same members, or of the same vault under an older key, each as (that one, the one
            that is read).
        broken: exports of which a file is not as it was written; none of them is read.
        doubled: exports that are both read, of which the second has the audit trail of the first and no record of the
            first key says that it went on as the second.
    """

    read: tuple[Placed, ...]
    left_out: tuple[tuple[Placed, Placed], ...]
    broken: tuple[Broken, ...] = ()
    doubled: tuple[tuple[Placed, Placed], ...] = ()

    @property
    def size(self) -> int:
        """Bytes of all files that are read, as their manifests say."""
        return sum(size for _, manifest in self.read for _, size, _ in manifest.files.values())

    @property
    def doubts(self) -> tuple[str, ...]:
        """What is doubtful about them, each as a sentence or two."""
        return tuple(
            f"The exports of {older.manifest.exporter} and {newer.manifest.exporter} count as two vaults: the second"
            " has the whole audit trail of the first, but no record says under the first key that it went on as the"
            " second. If they are one vault whose first key was lost, take the first export away."
            for older, newer in self.doubled
        )

    def files(self, table: Table) -> list[Path]:
        """Return the files of a table, sorted; only those that a manifest names."""
        return sorted(
            directory / name
            for directory, manifest in self.read
            for name in manifest.files
            if name.split("/", 1)[0] == table.name
        )


def exports_in(directories: Sequence[Path]) -> Inputs:
    """Return the exports in some directories; of several of one vault the newest, and which are left out.

    Two of one member, as on a stick that was not brought up to date, tell all that the older has twice, and where the
    member's own counts went on since, of two entries with one number: nobody did wrong.

    Each file of what is read is as its export wrote it: one export that is broken is left out, and stops no other.

    Raises:
        NoExport: a directory holds none.
        BadExport: no export is whole.
        ExtraMissing: pyarrow is not installed.
    """
    of: dict[tuple[str, str], list[Placed]] = {}
    broken: list[tuple[Path, str, BadExport]] = []
    # Under two names, or named twice, it is one directory, and none of its exports is older than itself.
    places: dict[str, Path] = {}
    for directory in directories:
        places.setdefault(os.path.realpath(directory), directory)
    for directory in places.values():
        manifests, problems = read_manifests(directory)
        if not manifests and not problems:
            raise NoExport(f"There is no export in {directory}.")
        broken += [(directory, "", error) for error in problems.values()]
        for manifest in manifests:
            of.setdefault((manifest.group, manifest.exporter), []).append(Placed(directory, manifest))
    read: list[Placed] = []
    left_out = []
    for _, found in sorted(of.items()):
        whole = []
        for placed in found:  # all of them: which is the newest, say counts that were checked
            try:
                _check(placed)
            except BadExport as error:
                broken.append((placed.directory, placed.manifest.exporter, error))
            else:
                whole.append(placed)
        whole.sort(key=_newness, reverse=True)
        read += whole[:1]
        left_out += [(placed, whole[0]) for placed in whole[1:]]
    if not read and broken:
        raise broken[0][-1]
    older, doubled = _gone_on(read)
    read = [placed for placed in read if all(placed is not old for old, _ in older)]
    told = tuple(Broken(directory, exporter, error.message) for directory, exporter, error in broken)
    return Inputs(tuple(read), (*left_out, *older), told, tuple(doubled))


def _gone_on(read: Sequence[Placed]) -> tuple[list[tuple[Placed, Placed]], list[tuple[Placed, Placed]]]:
    """Return exports of vaults that went on under another key, each with the one that tells all of it again.

    That has the whole audit trail of the older, and an adoption after it. Both are its exporter's word, so the older
    key has to say it, too; those of which it does not come second.
    """
    alike: dict[tuple[str, str], list[Placed]] = {}
    for placed in read:
        for first, _ in _trail(placed):
            alike.setdefault((placed.manifest.group, first), []).append(placed)
            break
    gone_on: list[tuple[Placed, Placed]] = []
    doubled: list[tuple[Placed, Placed]] = []
    for several in alike.values():
        # Most begin like no other; only of these are whole trails held in memory.
        trails = sorted(((set(_trail(one)), one) for one in several if len(several) > 1), key=lambda told: len(told[0]))
        for at, (trail, older) in enumerate(trails):
            after = [
                newer
                for other, newer in trails[:at:-1]
                if trail < other and any(verb == _ADOPT for _, verb in other - trail)
            ]
            said = [newer for newer in after if _is_next(older.manifest.exporter, newer)]
            (gone_on if said else doubled).extend((older, newer) for newer in (said or after)[:1])
    return gone_on, doubled


def _is_next(older: str, newer: Placed) -> bool:
    """Tell whether records of an export say that a key's owner went on as its exporter, one key after another.

    Each is sealed by the key before, so that nobody can say it of somebody else.
    """
    keys = _next_keys(newer)
    found = [older]
    for key in found:
        found += keys.get(key, set()) - set(found)
    return newer.manifest.exporter in found


def _next_keys(placed: Placed) -> dict[str, set[str]]:
    """Return, of each key in an export's records, those that it admitted as of the same person."""
    compute = needed("pyarrow.compute", "A report")
    found: dict[str, set[str]] = {}
    for batch in _columns_of(placed, "records", "app", "bytes"):
        for stored in batch.filter(compute.equal(batch["app"], Member.APP))["bytes"].to_pylist():
            try:
                said = read(parse_record(bytes(stored or b"")))
            except DataError:  # `signatures` tells of it
                continue
            if isinstance(said, Member) and said.same_person and said.group == placed.manifest.group:
                found.setdefault(said.signer.text, set()).add(said.node.text)
    return found


def _trail(placed: Placed) -> Iterator[tuple[str, str]]:
    """Yield hash and verb of each entry of an audit trail, in order."""
    for batch in _columns_of(placed, "audit", "hash", "verb"):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _columns_of(placed: Placed, table: str, *names: str) -> Iterator[Any]:
    """Yield some columns of a table of an export that was checked, as Arrow record batches."""
    parquet = needed("pyarrow.parquet", "A report")
    for name in sorted(name for name in placed.manifest.files if name.startswith(f"{table}/")):
        with parquet.ParquetFile(placed.directory / name) as file:
            yield from file.iter_batches(columns=list(names))


def _check(placed: Placed) -> None:
    """Check each file that a manifest names.

    Raises:
        BadExport: one is missing, is not as it was written, or is no such table.
        ExtraMissing: pyarrow is not installed.
    """
    for name, (rows, size, digest) in sorted(placed.manifest.files.items()):
        path, table = placed.directory / name, table_named(name.split("/", 1)[0])
        if not path.is_file():
            raise BadExport(f"{path} is missing, and its export names it.")
        if not _is_whole(path, size, digest):
            raise BadExport(f"{path} is not as its export wrote it: copy it again, or export anew.")
        if table is None or not _is_table(path, table, rows, placed.manifest):
            what = f"of the table {name.split('/', 1)[0]} by its exporter, with as many rows as its export says"
            raise BadExport(f"{path} is no Parquet file {what}.")


def _is_whole(path: Path, size: int, digest: str) -> bool:
    """Tell whether a file is the one that a manifest names; one that was cut off or changed would be counted wrong."""
    try:
        return sum_of(path, size) == digest
    except OSError as error:
        raise BadExport(f"{path} cannot be read: {error.strerror}.") from error


def _is_table(path: Path, table: Table, rows: int, manifest: Manifest) -> bool:
    """Tell whether a file is a table as an export writes it, has so many rows, and each says whose export it is of.

    A manifest may name whatever its writer likes, and a row in the name of somebody else would accuse them.
    """
    pa, parquet = needed("pyarrow", "A report"), needed("pyarrow.parquet", "A report")
    compute = needed("pyarrow.compute", "A report")
    told = (manifest.group, manifest.exporter, manifest.export_id)
    names = [column.name for column in COMMON]
    try:
        with parquet.ParquetFile(path) as file:
            is_such = file.metadata.num_rows == rows and file.schema_arrow.equals(arrow_schema(table))
            return is_such and all(
                compute.all(compute.equal(column, value), skip_nulls=False).as_py()
                for batch in file.iter_batches(columns=names)
                for column, value in zip(batch.columns, told, strict=True)
            )
    except (OSError, ValueError, pa.ArrowException):  # of bytes that are no Parquet each may come
        return False


def _newness(placed: Placed) -> tuple[int, int, int, int, str]:
    """Return what the newest export of a member has most of, for no file has a time.

    Log entries and the audit trail only grow, whatever the scope. All else may shrink: `lace prune` takes content away.
    """
    rows = dict.fromkeys((table.name for table in TABLES), 0)
    for name, told in placed.manifest.files.items():
        rows[name.split("/", 1)[0]] += told[0]
    return rows["log"], rows["audit"], rows["revisions"], sum(rows.values()), placed.manifest.text()
