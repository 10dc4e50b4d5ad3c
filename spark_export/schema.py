"""The tables of an export: names, columns, meanings. One place for Parquet, Spark, SQL and the documentation.

A *log table* is a projection of records in arrival order: a row never changes, rows are only added. A *state table*
says how things stand in the exporter's vault now and is written whole each time (APP-8).

Every table begins with `COMMON`, so that the exports of all members can lie in one directory: records join on `hash`,
logs on (`node`, `seq`).
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

# ruff: noqa: FBT003 - rows of a table, read as columns
__all__ = ["COMMON", "OWN_TABLES", "SCHEMA_VERSION", "TABLES", "Column", "Kind", "Table", "ddl", "table_named"]

SCHEMA_VERSION: Final = 1
OWN_TABLES: Final = frozenset({"audit", "syncs"})
"""Log tables of what is the exporter's alone and is never shared."""

Kind = Literal["string", "long", "int", "boolean", "binary", "timestamp"]


class Column(NamedTuple):
    """One column.

    Args:
        name: lower case with underscores.
        kind: Spark's word for its type.
        sentence: what it says, and when it is null.
    """

    name: str
    kind: Kind
    sentence: str


class Table(NamedTuple):
    """One table.

    Args:
        name: lower case plural.
        is_log: whether its rows are projections of records in arrival order.
        sentence: what one row is.
        columns: its own columns, after `COMMON`.
    """

    name: str
    is_log: bool
    sentence: str
    columns: tuple[Column, ...]

    @property
    def all_columns(self) -> tuple[Column, ...]:
        """The common columns and its own."""
        return (*COMMON, *self.columns)

    def takes_condition(self, name: str) -> bool:
        """Tell whether the store can compare a column by itself: a plain text or number of a queried table."""
        if self.name in {"paths", *OWN_TABLES}:
            return name == "position"
        made = {"time", "plex", *({"hash"} if self.name in _HASHED else ())}
        return any(column.name == name and column.kind in {"string", "long", "int"} for column in self.columns) and (
            name not in made
        )


def _columns(*lines: str) -> tuple[Column, ...]:
    found = []
    for line in lines:
        name, kind, sentence = line.split(" ", 2)
        found.append(Column(name, kind, sentence))  # type: ignore[arg-type]
    return tuple(found)


COMMON: Final = _columns(
    "group string group id of the circle",
    "exporter string verifier of the node whose vault this was exported from",
    "export_id string of one vault's key and schema version; another after lace adopt",
)

_WHEN = (
    "tai string TAI text as signed; for display, never for order",
    "time timestamp the same in UTC, to the microsecond",
)
_POSITION = "position long arrival position in the exporter's vault"

TABLES: Final = (
    Table(
        "records",
        True,
        "One record that is shared, or that was asked for.",
        _columns(
            _POSITION,
            "hash string hash text of the record",
            "plex string hash text of the sealed Plex; null when unsigned",
            "record_group string Group of the record",
            "app string App of the record",
            "name string Name of the record; null for content and trees, whose Name is a digest",
            "signer string verifier; null when unsigned",
            *_WHEN,
            "size long bytes of the embedded Blob",
            "bytes binary the stored record when sealed, so that its signature can be checked; else null",
        ),
    ),
    Table(
        "fields",
        True,
        "One extra header of a sealed record; links and the unique values (Seq, Lamport, digests) stand elsewhere.",
        _columns(
            _POSITION,
            "hash string the record",
            "name string header name",
            "idx int how many of this name stand before it",
            "value string header value",
        ),
    ),
    Table(
        "links",
        True,
        "One link header of a sealed record.",
        _columns(
            _POSITION,
            "hash string the record",
            "name string header name, ending in +Link",
            "idx int its place among the record's links",
            "data string the word before the hash, such as parent or entry",
            "target string hash text of the record it names",
        ),
    ),
    Table(
        "log",
        True,
        "One log entry: a step of a node's own log.",
        _columns(
            _POSITION,
            "hash string the entry",
            "plex string hash text of its Plex; two of one (node, seq) are a fork",
            "node string whose log",
            "seq long from 1 on",
            "lamport long the node's Lamport clock",
            "prev string hash of the entry before; null for the first",
            *_WHEN,
        ),
    ),
    Table(
        "commits",
        True,
        "One commit.",
        _columns(
            _POSITION,
            "hash string the commit",
            "desk string desk",
            "tree string hash text of the root tree",
            "node string who made it",
            *_WHEN,
            "message string what the person wrote",
        ),
    ),
    Table(
        "parents",
        True,
        "One parent of a commit.",
        _columns(_POSITION, "hash string the commit", "parent string the commit before it"),
    ),
    Table(
        "revisions",
        True,
        "One number of a node's line.",
        _columns(
            _POSITION,
            "hash string the revision",
            "node string whose line",
            "desk string desk",
            "number long from 1 on",
            "commit string the commit that has this number",
        ),
    ),
    Table(
        "paths",
        True,
        "One path that a released commit changed against the nearest commit before it whose files are shared.",
        _columns(
            "position long arrival position of the release",
            "commit string the commit",
            "desk string desk",
            "node string who made it",
            "path string relative to the desk",
            "change string added, changed or deleted",
            "kind string file, link or directory",
            "size long bytes after the change; null when deleted",
            "target string hash text of the content after it; null when deleted",
        ),
    ),
    Table(
        "releases",
        False,
        "One release.",
        _columns(
            _POSITION,
            "hash string the release",
            "node string who released",
            "desk string desk",
            "version string X.Y.Z",
            "commit string the released commit",
            "content_sha512 string the claimed digest of the content",
            *_WHEN,
            "seq long of the log entry that shares it; null where that is not in the export",
            "lamport long of that entry",
            "state string visible, waiting, after-cut or mismatch, in the exporter's vault",
            "message string what the person wrote",
        ),
    ),
    Table(
        "vectors",
        False,
        "One entry of a version vector the exporter knows.",
        _columns(
            "holder string whose vector: the exporter's own, or a peer's as last seen",
            "node string of whose log it speaks",
            "seq long highest contiguous Seq",
            "plex string hash text of that entry's Plex; null for 0",
            "forked boolean whether the log has two branches after it",
        ),
    ),
    Table(
        "holes",
        False,
        "One record that shared records reach and the exporter does not have.",
        _columns("hash string the missing record", "content boolean whether its content belongs to what is shared"),
    ),
    Table(
        "syncs",
        True,
        "One sync of the exporter, from its audit trail.",
        _columns(
            "number long of the audit entry",
            _POSITION,
            "verb string lazy-sync, lazy-push, lazy-pull, or lazy-serve for what a friend brought to a server",
            *_WHEN,
            "road string drop, git, http, live, bundle or vault; null where it was not noted",
            "received long records that came",
            "rejected long records that were refused",
            "sent long records put on the place; null where it was not noted",
            "problems string codes of what went wrong; null when nothing did",
        ),
    ),
    Table(
        "conflicts",
        False,
        "One version of a desk that was released with different contents.",
        _columns(
            "desk string desk",
            "version string X.Y.Z",
            "releases long how many releases contend",
            "contents long how many different contents they have",
            "state string open, proposed while the exporter has not taken a friend's decision in, or resolved",
        ),
    ),
    Table(
        "resolutions",
        False,
        "One person's decision of a version conflict.",
        _columns(
            _POSITION,
            "hash string the resolution",
            "node string who decided",
            "desk string desk",
            "version string X.Y.Z",
            "chosen string the release that holds; null after a merge",
            "release string the new release that holds; null when a side was chosen",
            "result string the merge commit",
            *_WHEN,
            "state string visible, waiting or after-cut",
        ),
    ),
    Table(
        "sides",
        False,
        "One release that a resolution decides about.",
        _columns("hash string the resolution", "release string the side"),
    ),
    Table(
        "members",
        False,
        "One node that belongs, or ever belonged.",
        _columns(
            "node string verifier",
            "name string its label",
            "depth long admissions between the founder and it",
            "admitted_by string verifier; null for the founder",
            "hash string the member record; null for the founder",
            *_WHEN,
            "last_seq long last entry of its log that counts; null for who belongs",
            "revoked_by string verifier of who said that it counts no further; null for who belongs",
        ),
    ),
    Table(
        "audit",
        True,
        "One entry of the exporter's audit trail, without its private details unless they were asked for.",
        _columns(
            "number long from 1 on",
            _POSITION,
            "hash string the entry",
            "plex string hash text of its Plex, over which the signature is",
            "parent string the entry before; null for the first",
            "signer string verifier",
            "signature binary 64 bytes",
            "verb string what was done",
            *_WHEN,
            "details string what it was done to, as an S-expression; null unless asked for",
        ),
    ),
)

_HASHED: Final = frozenset({"records", "fields", "links", "members"})  # whose hash is a digest in the store
_BY_NAME: Final = {table.name: table for table in TABLES}


def table_named(name: str) -> Table | None:
    """Return a table, or None when there is none of this name."""
    return _BY_NAME.get(name)


def ddl(table: Table, columns: tuple[str, ...] = ()) -> str:
    """Return the schema in Spark's DDL; `columns` keeps only these, in the table's order."""
    kept = [column for column in table.all_columns if not columns or column.name in columns]
    return ", ".join(f"`{column.name}` {column.kind.upper()}" for column in kept)
