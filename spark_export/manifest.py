"""What an export says of itself: its manifest (APP-8).

A manifest is written last and names each file with its digest, so an export that was copied in part is known as one,
and what was written since of an export that was cut off counts for nothing.
"""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path
from typing import Any, Final, NamedTuple

from blake3 import blake3

from spark_export.errors import BadExport
from spark_export.schema import SCHEMA_VERSION, table_named
from vault.errors import DataError
from vault.files import Unreadable, read_bounded
from vault.profile import check_group_id
from vault.records import Verifier

__all__ = ["MANIFESTS", "Manifest", "holds", "node_of", "read_manifests", "sum_of"]

MANIFESTS: Final = "exports"
_MANIFEST_BYTES: Final = 64 << 20
_READ: Final = 1 << 20  # bytes read at once to sum a file
_NODE_HEX: Final = 16
_MOST: Final = (1 << 63) - 1  # rows or bytes
_PART: Final = re.compile(r"part-[0-9]{6,9}(-[0-9a-f]{16})?\.parquet")  # an older lace wrote no digest in a name
_STATE: Final = re.compile(r"state(-[0-9a-f]{16})?\.parquet")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_EXPORT_ID: Final = re.compile(r"[0-9A-Z_a-z~]{1,64}")


class Manifest(NamedTuple):
    """What one exporter's files are.

    Args:
        group: group id.
        exporter: verifier text.
        export_id: of the vault's key and schema version.
        parts: fingerprint in hex of the records of each part, in order.
        files: path below the directory -> (rows, bytes, BLAKE3 of the file in hex).
    """

    group: str
    exporter: str
    export_id: str
    parts: tuple[str, ...]
    files: dict[str, tuple[int, int, str]]

    def text(self) -> str:
        """Return the manifest as it lies in a file."""
        value = {
            "schema": SCHEMA_VERSION,
            "group": self.group,
            "exporter": self.exporter,
            "export_id": self.export_id,
            "parts": self.parts,
            "files": {name: list(told) for name, told in sorted(self.files.items())},
        }
        return json.dumps(value, indent=1) + "\n"


def read_manifests(directory: Path) -> tuple[list[Manifest], dict[str, BadExport]]:
    """Return the manifests of a directory, sorted by exporter, and what is wrong with each other one, by its stem.

    Others write there, too: what is no manifest of this program stops nobody but who wrote it.
    """
    found, broken = [], {}
    place = directory / MANIFESTS
    for path in sorted(place.glob("[!.]*.json")) if place.is_dir() else []:  # not what a Mac keeps of each file
        try:
            found.append(_read_manifest(path))
        except BadExport as error:
            broken[path.stem] = error
    return sorted(found, key=lambda manifest: manifest.exporter), broken


def _read_manifest(path: Path) -> Manifest:
    """Return what a file says of an export.

    Raises:
        BadExport: it is no manifest of this program, or cannot be read.
    """
    try:
        value = json.loads(read_bounded(path, _MANIFEST_BYTES))
        version = _count(value["schema"])
        if version == SCHEMA_VERSION:
            return _manifest(value)
    except Unreadable as error:
        raise BadExport(error.message) from error
    except (DataError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadExport(f"{path} is not the manifest of an export.") from error
    raise BadExport(
        f"{path} is of schema version {version}; this lace reads {SCHEMA_VERSION}.",
        hint="Read it with the lace that wrote it, or export anew.",
    )


def _manifest(value: dict[str, Any]) -> Manifest:
    """Return what a manifest says, each part of it as this program writes it: names, paths and sums come from others.

    Raises:
        DataError, ValueError, KeyError, TypeError, AttributeError: it says something else.
    """
    group, exporter = check_group_id(str(value["group"])), str(value["exporter"])
    node, export_id = node_of(exporter), _text(value["export_id"], _EXPORT_ID)
    files = {}
    for name, (rows, size, digest) in value["files"].items():
        if not _is_file_of(name, node):
            raise ValueError("no file of this exporter")
        files[name] = (_count(rows), _count(size), _text(digest, _DIGEST))
    parts = tuple(_text(part, _DIGEST) for part in value["parts"])
    return Manifest(group, exporter, export_id, parts, files)


def node_of(exporter: str) -> str:
    """Return what an exporter's files lie under: the start of their key in hex.

    Raises:
        VerifierTextError, B64AError: it is no verifier.
    """
    return Verifier.parse(exporter).key.hex()[:_NODE_HEX]


def _is_file_of(name: str, node: str) -> bool:
    """Tell whether an export of a node has such a file."""
    said, _, rest = name.partition("/")
    table = table_named(said)
    pattern = _PART if table is not None and table.is_log else _STATE
    return table is not None and rest.startswith(f"{node}/") and pattern.fullmatch(rest, _NODE_HEX + 1) is not None


def _count(given: object) -> int:
    if type(given) is not int or not 0 <= given <= _MOST:  # JSON has true, fractions and Infinity, too
        raise ValueError("not a count")
    return given


def _text(given: object, pattern: re.Pattern[str]) -> str:
    if type(given) is not str or pattern.fullmatch(given) is None:
        raise ValueError("not such a text")
    return given


def holds(path: Path, size: int, digest: str) -> bool:
    """Tell whether a file itself, and no link, is there, can be read, and is the one that a manifest names."""
    try:
        return stat.S_ISREG(path.lstat().st_mode) and sum_of(path, size) == digest
    except OSError:
        return False


def sum_of(path: Path, size: int) -> str:
    """Return the BLAKE3 of a file in hex; none where it has another size.

    Raises:
        OSError: it cannot be read.
    """
    sums = blake3()
    if path.stat().st_size != size:
        return ""
    with path.open("rb") as file:
        while piece := file.read(_READ):
            sums.update(piece)
    return sums.hexdigest()
